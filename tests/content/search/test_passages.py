"""The text of a source is split into passages for search."""

from hypothesis import example, given
from hypothesis import strategies as st

from content.search.passages import PASSAGE_MAX, PASSAGES_MAX, Passage, passages

CONVERSATION = """\
Mara: The kiln broke
again last night.
Jon: Oh no.

[10:32] **Mara:** We ordered a new one.
"""


def texts(text: str) -> list[str]:
    return [text[passage.start : passage.end] for passage in passages(text)]


def test_a_turn_of_a_conversation_is_a_passage() -> None:
    found = passages(CONVERSATION)
    assert texts(CONVERSATION) == [
        "Mara: The kiln broke\nagain last night.",
        "Jon: Oh no.",
        "[10:32] **Mara:** We ordered a new one.",
    ]
    assert [(passage.speaker, passage.line_start, passage.line_end) for passage in found] == [
        ("Mara", 1, 2), ("Jon", 3, 3), ("Mara", 5, 5)
    ]  # fmt: skip


def test_paragraphs_and_list_items_are_passages_below_their_heading() -> None:
    text = "Intro.\n\n## Kiln #\nIt is old.\nAnd hot.\n- first\n  more\n2. second\n\n# Empty\n"
    assert [(text[passage.start : passage.end], passage.heading) for passage in passages(text)] == [
        ("Intro.", ""),
        ("It is old.\nAnd hot.", "Kiln"),
        ("- first\n  more", "Kiln"),
        ("2. second", "Kiln"),
        ("# Empty", "Empty"),
    ]


def test_code_is_one_passage_whatever_its_lines_look_like() -> None:
    text = "Run:\n\n```sh\n# not a heading\n\n- not an item\n```\nAfter.\n"
    assert texts(text) == ["Run:", "```sh\n# not a heading\n\n- not an item\n```\nAfter."]


def test_a_line_of_code_between_fences_opens_no_block() -> None:
    text = "```make install```\n\n# Kiln\n\nIt is old.\n\nMara: Hot, too.\n"
    assert [(text[one.start : one.end], one.heading, one.speaker) for one in passages(text)] == [
        ("```make install```", "", ""), ("It is old.", "Kiln", ""), ("Mara: Hot, too.", "Kiln", "Mara"),
    ]  # fmt: skip


def test_headings_are_the_same_whatever_the_line_ends() -> None:
    text = "# Kiln\r\n\r\nIt is old.\r\n\r\n## Glaze ##\r\n\r\nBlue.\r\n"
    assert [(text[one.start : one.end], one.heading) for one in passages(text)] == [
        ("It is old.", "Kiln"), ("Blue.", "Glaze"),
    ]  # fmt: skip


def test_addresses_and_times_are_no_speakers() -> None:
    assert [passage.speaker for passage in passages("https://example.org/x y\n\n10:30 lunch\n\nnote:nothing")] == [
        "",
        "",
        "",
    ]


def test_a_long_paragraph_is_cut_after_sentences() -> None:
    text = "The kiln is hot. " * 300
    found = texts(text)
    assert len(found) > 1
    assert all(passage.endswith("hot.") and len(passage) <= PASSAGE_MAX for passage in found)
    assert all(len(passage) == PASSAGE_MAX for passage in texts("x" * 3 * PASSAGE_MAX))


def test_a_source_has_a_bounded_number_of_passages() -> None:
    text = "- a\n" * 20_000
    found = passages(text)
    assert PASSAGES_MAX / 2 < len(found) <= PASSAGES_MAX
    assert (found[0].start, found[-1].end, found[-1].line_end) == (0, len(text) - 1, 20_000)


@given(st.text(st.sampled_from("ab #-:*`~\n\t.1。"), max_size=300) | st.text(max_size=200))
@example("a" * 1_990 + " \n\n\n" + "b" * 30)
@example("```\n\n" + "x " * 2_000)
def test_passages_are_ordered_and_cover_all_but_headings_and_whitespace(text: str) -> None:
    at = 0
    for passage in passages(text):
        assert text[at : passage.start].strip() == "" or text[at : passage.start].lstrip().startswith("#")
        assert text[passage.start : passage.end].strip() == text[passage.start : passage.end] != ""
        assert passage.end - passage.start <= PASSAGE_MAX
        assert passage.line_start == text.count("\n", 0, passage.start) + 1
        assert passage.line_end == text.count("\n", 0, passage.end) + 1
        at = passage.end
    assert text[at:].strip() == ""


def test_an_empty_text_has_no_passages() -> None:
    assert passages(" \n\n\t") == []
    assert passages("a") == [Passage(0, 1, 1, 1)]
    assert [passage.said_from for passage in passages("a\n\n**Mara**: Hello")] == [0, 13]
