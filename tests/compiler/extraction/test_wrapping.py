"""Lines that a program has wrapped are read as one; lines that their writer ended are not joined."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.extraction.readings import Reading
from compiler.extraction.texts.wrapping import WIDTH_MAX, WIDTH_MIN, unwrapped
from tests.compiler.extraction.stories import compiled, note, notes, titles

WORD = st.sampled_from(
    ("a", "we", "the", "kiln", "harbour,", "office.", "é", "größer", "und", "circumstances", "sold-out")
)
PARAGRAPH = st.lists(WORD, min_size=60, max_size=80).map(" ".join)
FERRY = (
    "This morning I went with Priya Raman to the ferry office on Harbour Street, where nobody knew when the boats "
    "would sail again. We decided to sell the second boat because the engine of the Kestrel needs new parts before "
    "the season begins in May, and Priya Raman has found somebody who would buy it."
)


@given(st.lists(PARAGRAPH, min_size=1, max_size=4), st.integers(WIDTH_MIN + 20, WIDTH_MAX))
def test_wrapping_a_text_does_not_change_its_lines(paragraphs: list[str], width: int) -> None:
    wrapped = "\n\n".join(textwrap.fill(paragraph, width, break_on_hyphens=False) for paragraph in paragraphs)
    assert unwrapped(wrapped.split("\n")) == "\n\n".join(paragraphs).split("\n")


@pytest.mark.parametrize("width", [60, 72, 80, 100])
@pytest.mark.parametrize(
    "before",
    [
        "",
        "---\ntitle: The ferry\n---\n\n",
        "# The ferry\n\n",
        "From: ana@example.org\nTo: bo@example.org\nSubject: The ferry\n\n",
    ],
)
def test_a_wrapped_note_has_the_sentences_of_the_same_note_on_one_line(width: int, before: str) -> None:
    whole, wrapped = (Reading(note(0, before + text)) for text in (FERRY, textwrap.fill(FERRY, width)))
    assert [sentence.text for sentence in wrapped.sentences] == [sentence.text for sentence in whole.sentences]


def test_an_item_of_a_list_is_joined_with_its_lines() -> None:
    item = textwrap.fill(FERRY, 72, initial_indent="- ", subsequent_indent="  ")
    lines = unwrapped([*item.split("\n"), "- Paint the hull", "- Call the yard"])
    assert lines == [f"- {FERRY}", "- Paint the hull", "- Call the yard"]


@pytest.mark.parametrize(
    "lines",
    [
        ["Met Ana at the pottery", "Called the bank", "The kiln is broken again, which is a pity for us all"],
        ["The kiln has been repaired, and so have both of the sinks.", "Bo pays for the clay until the year ends."],
        [FERRY, "Called the bank."],
        ["| The kiln has been repaired | by somebody who knows |", "| The sink has not | and will not be this year |"],
        ["```", "the_kiln_has_been_repaired = find_kiln(by_name='kiln')", "and_so_have_the_sinks = sinks()", "```"],
        ["Ana: The kiln has been repaired by somebody who knows.", "Bo: And so have both of the sinks, thank you all."],
        ["> The kiln has been repaired, and so have both of the two", "> sinks in the hall."],
        ["The kiln has been repaired, and so have both of the two  ", "sinks in the hall."],
        ["窯の修理が終わった。流し台も二つとも直してもらったので、来週から教室を再開できる。月謝は", "上がる。"],
    ],
)  # fmt: skip
def test_lines_that_their_writer_ended_stay_apart(lines: list[str]) -> None:
    assert unwrapped(lines) == lines


def test_a_decision_over_two_wrapped_lines_is_found() -> None:
    wiki = compiled(notes(textwrap.fill(FERRY, 72)))
    assert titles(wiki, "decision") == ["Sell the second boat"]
