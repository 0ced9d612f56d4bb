"""Names are normalised, so that all spellings of a name have one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.limits import NAME
from content.names import NON_WORD, normalise, separate_words
from content.normalization import fold, fold_letters


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("Café  Mocha!", "cafe mocha"),
        ("Chef João", "chef joao"),
        ("Austin, Texas", "austin texas"),
        ("ＡＴＸ №1", "atx no1"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Łódź Đà Nẵng Ærø", "lodz da nang aero"),
        ("İstanbul Işık", "istanbul isik"),
        ("Ὀδυσσεύς", "οδυσσευσ"),
        ("О’Генри", "о'генри"),
        ("Rock 'n' Roll - 'live'", "rock n roll live"),
        ("twenty-one", "twenty-one"),
        ("snake_case/path", "snake case path"),
        ("soft\u00adhyphen", "softhyphen"),
        ("🚀 !?", ""),
        ("", ""),
        ("\ud800", ""),
    ],
)
def test_names_are_normalised_to_one_form(name: str, normal: str) -> None:
    assert normalise(name) == normal


@pytest.mark.parametrize("word", ["йод", "їжак", "がくせい", "プログラム", "हिन्दी", "한국어", "ශ්රී"])
def test_normalising_keeps_marks_that_change_a_letter(word: str) -> None:
    assert normalise(word) == word


def test_thai_vowels_do_not_split_a_word() -> None:
    assert " " not in normalise("น้ำตก")
    assert normalise("น้ำตก") != normalise("นาตก")


def test_accents_in_cyrillic_are_folded() -> None:
    assert normalise("Ёлка") == normalise("елка")
    assert normalise("за\u0301мок") == normalise("замок")


def test_composed_and_decomposed_spellings_are_equal() -> None:
    assert normalise("й") == normalise("и\u0306")
    assert normalise("が") == normalise("か\u3099")
    assert normalise("한") == normalise("\u1112\u1161\u11ab")


def test_a_long_name_is_cut() -> None:
    assert len(normalise("long " * 1000)) <= NAME.maximum


@given(st.text())
def test_normalising_twice_changes_nothing(name: str) -> None:
    assert normalise(normalise(name)) == normalise(name)


@given(st.text())
def test_normalising_ignores_case_and_surrounding_space(name: str) -> None:
    assert normalise(f"  {name}\n") == normalise(name)
    assert normalise(name.casefold()) == normalise(name)


@given(st.text())
def test_a_normalised_name_has_only_words_and_single_spaces(name: str) -> None:
    normal = normalise(name)
    assert normal == " ".join(normal.split())
    assert all(any(map(str.isalnum, word)) and word[0] not in "'-" and word[-1] not in "'-" for word in normal.split())


# Letters of many scripts; marks, and all that is made of parts or becomes some.
LETTERS = st.text(
    st.one_of(st.characters(), st.sampled_from("éØßǅﬁΣςйёЇがｶﾞ゛각ᄀ\u1161\u11a8ไำ\u0e49\u0301\u0327\u05b0لا\u200dΩ㍿")),
    max_size=6,
)


@given(LETTERS)
def test_folding_by_cached_letters_equals_folding_the_whole_text(text: str) -> None:
    """The folded form of each letter is cached; a text whose letters can change each other is folded whole."""
    assert fold(text) == fold_letters(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_text_is_folded_and_split_like_any_other(text: str) -> None:
    """ASCII text is folded by a shorter path."""
    assert fold(text) == fold_letters(text)
    assert NON_WORD.sub(" ", fold(text)).split() == separate_words(fold(text)).split()
