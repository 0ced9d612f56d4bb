"""Texts are split into sentences."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.sentences import first_sentence, sentence_ends
from tests.growth import assert_linear_time


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


@pytest.mark.parametrize("letter", ["ที่", "e\u0301\u0323", "👩\u200d🔬", "👍🏽"])
def test_a_long_sentence_without_spaces_is_cut_between_letters(letter: str) -> None:
    for limit in range(20, 20 + len(letter)):
        assert re.fullmatch(f"(?:{letter})+…", first_sentence(letter * 200, limit))


def test_a_sentence_as_long_as_the_limit_is_not_cut() -> None:
    assert first_sentence("x" * 159 + ". More.") == "x" * 159 + "."


@given(st.text(), st.integers(min_value=1, max_value=200))
def test_the_first_sentence_is_one_line_within_its_limit(text: str, limit: int) -> None:
    sentence = first_sentence(text, limit)
    words = " ".join(text.split())
    assert len(sentence) <= limit
    assert words.startswith((sentence, sentence.removesuffix("…")))
    assert bool(sentence) == bool(words)


def sentences(text: str) -> list[str]:
    starts = [0, *sentence_ends(text)]
    return [text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


@pytest.mark.parametrize(
    "text",
    [
        "Anwesend: Gisela Ruhland (1. Vors.), Jochen Bartels (Kasse)",
        "Jochen berichtet, rd. 3.000 Euro mehr im Jahr",
        "Gesperrt bis voraussichtl. Ende Mai",
        "Termin mit Hr. Stadler und Pfr. Kolb",
        "Wohnt in der Hauptstr. 12 und arbeitet am So. 3 Stunden",
        "Chez Mme. Perrin, env. 12 élèves",
        "See fig. 3 and No. 5",
        "Opens Sat. 11 May",
        "Owen is relieved, Hattie is sulking (I am not. I am cold.) but well",
        "Sylvain conseille de changer les manchons (dernier changement ??? 2020)",
        "出席（田中。佐藤）の二人",
    ],
)
def test_a_full_stop_inside_of_a_sentence_does_not_end_it(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is it ready? No. We wait.", ["Is it ready?", "No.", "We wait."]),
        ("See you on Sun. It rains.", ["See you on Sun.", "It rains."]),
        ("It rained (all day). We left.", ["It rained (all day).", "We left."]),
        ("It rained. (We left.) Then it stopped.", ["It rained.", "(We left.)", "Then it stopped."]),
        ("Fern leaves :( Sad. Very. :)", ["Fern leaves :( Sad.", "Very.", ":)"]),
        ("It rained (all day. We left.", ["It rained (all day.", "We left."]),
    ],
)
def test_other_full_stops_end_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(st.sampled_from("Ab .!()（）。\n1"), max_size=60))
def test_sentence_ends_ascend_within_the_text(text: str) -> None:
    ends = list(sentence_ends(text))
    assert ends == sorted(set(ends))
    assert all(0 < end <= len(text) for end in ends)


@pytest.mark.parametrize("piece", ["(", "(A. ", "A. ) ", "( A. ) ", "No. ", "A.", "str. 1 "])
def test_the_time_to_find_sentence_ends_grows_no_faster_than_the_text(piece: str) -> None:
    assert_linear_time(lambda size: piece * (size // len(piece)), lambda text: list(sentence_ends(text)), 200_000)
