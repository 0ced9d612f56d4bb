"""Rollup lines and first sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.rollups import first_sentence, rollup_line


def test_a_line_is_a_link_and_a_sentence() -> None:
    assert (
        rollup_line("Franklin Barbecue", "entity", "franklin-barbecue", "BBQ joint in Austin, TX. Long queues.")
        == "- [**Franklin Barbecue**](/wiki/entity/franklin-barbecue) — BBQ joint in Austin, TX."
    )


@pytest.mark.parametrize("summary", [None, "", " \n"])
def test_there_is_no_dash_without_a_summary(summary: str | None) -> None:
    assert rollup_line("A", "topic", "a", summary) == "- [**A**](/wiki/topic/a)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two.", "One."),
        ("No end", "No end"),
        ("Really?! Yes.", "Really?!"),
        ("He said “Go.” Then left.", "He said “Go.”"),
        ("Version 1.5 is out. Good.", "Version 1.5 is out."),
        ("Dr. João cooks, e.g. Fish. Well.", "Dr. João cooks, e.g. Fish."),
        ("J. Smith of the U.S. Senate. Done.", "J. Smith of the U.S. Senate."),
        ("dots... and more. End.", "dots... and more."),
        ("东京是首都。很大。", "东京是首都。"),
        ("「行け！」と言った。終わり。", "「行け！」"),
        ("यह एक वाक्य है। दूसरा।", "यह एक वाक्य है।"),
        ("two\n  lines. Next.", "two lines."),
        ("", ""),
    ],
)
def test_the_first_sentence_is_found(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_a_long_sentence_is_cut_between_words() -> None:
    cut = first_sentence("word " * 100)
    assert cut.endswith("word…")
    assert len(cut) <= 160
    assert first_sentence("字" * 300) == "字" * 159 + "…"


def test_a_sentence_of_just_the_limit_is_whole() -> None:
    assert first_sentence("x" * 159 + ". More.") == "x" * 159 + "."


@given(st.text(), st.integers(min_value=1, max_value=200))
def test_it_is_one_line_within_the_limit_and_begins_the_text(text: str, limit: int) -> None:
    sentence = first_sentence(text, limit)
    words = " ".join(text.split())
    assert len(sentence) <= limit
    assert words.startswith((sentence, sentence.removesuffix("…")))
    assert bool(sentence) == bool(words)
