"""The language of a page is read from its metadata, and rare words of a language are recognised."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.languages import CODES, LANGUAGES, common_words, find_configuration, is_rare, is_unlisted, language_of
from tests.content.strategies import JSON


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("de", "german"),
        ("de-AT", "german"),
        ("de_at", "german"),
        (" DE ", "german"),
        ("German", "german"),
        ("english", "english"),
        ("simple", "simple"),
        ("nb-NO", "norwegian"),
        ("zh", "simple"),
        ("ja-JP", "simple"),
        ("klingon", None),
        ("deu", None),
        ("d1", None),
        ("", None),
        ("-", None),
        ("\ud800", None),
        ("\0", None),
    ],
)
def test_languages_are_found_by_code_or_name(text: str, language: str | None) -> None:
    assert find_configuration(text) == language


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_language_names_are_found_in_any_case(name: str) -> None:
    assert find_configuration(name) == find_configuration(name.upper()) == name


@pytest.mark.parametrize("code", sorted(CODES))
def test_language_codes_are_found_with_any_region(code: str) -> None:
    assert (
        find_configuration(code)
        == find_configuration(f"{code}-XX")
        == find_configuration(f"{code}_Latn_XX")
        == CODES[code]
    )


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"lang": "de"}, "german"),
        ({"language": "French"}, "french"),
        ({"language": "fr", "lang": "de"}, "french"),
        ({"language": "klingon", "lang": "de"}, "german"),
        ({"language": ["fr"], "lang": 7}, "dutch"),
        ({"lang": None}, "dutch"),
        ({}, "dutch"),
        (None, "dutch"),
    ],
)
def test_the_language_is_that_of_the_metadata_or_the_default(metadata: dict[str, Any] | None, language: str) -> None:
    assert language_of(metadata, "dutch") == language


@given(st.dictionaries(st.sampled_from(["lang", "language", "title"]), JSON | st.text(st.characters())))
def test_any_metadata_give_a_known_language(metadata: dict[str, Any]) -> None:
    assert language_of(metadata, "dutch") in LANGUAGES


@pytest.mark.parametrize(
    ("language", "word"), [("english", "money"), ("german", "moglich"), ("russian", "дверь"), ("spanish", "dinero")]
)
def test_common_words_are_stored_as_search_folds_them(language: str, word: str) -> None:
    assert word in common_words(language)


def test_rare_words_are_not_common_and_some_languages_have_no_list() -> None:
    assert not {"espresso", "pergola", "zucchini"} & common_words("english")
    assert common_words("simple") == common_words("tamil") == frozenset()


@pytest.mark.parametrize(
    ("word", "language"),
    [("varroa", "en"), ("Kestrel’s", "english"), ("Marlow", "en"), ("Tanguy", "fr"), ("Giulia-Rossetti", "it")],
)
def test_words_seldom_used_in_a_language_are_rare(word: str, language: str) -> None:
    assert is_rare(word, language)


@pytest.mark.parametrize(
    ("word", "language"),
    [("Knife", "en"), ("mother's", "en"), ("half-open", "english"), ("Marché", "fr"), ("Cena", "it"), ("1984", "en")],
)
def test_usual_words_are_not_rare(word: str, language: str) -> None:
    assert not is_rare(word, language)


@pytest.mark.parametrize(
    "word",
    ["harbour", "Favourite", "organised", "analysing", "centre", "centres", "catalogue", "programmes", "travelled",
     "anaesthetic", "mouldy", "defence", "aluminium"],
)  # fmt: skip
def test_british_spellings_are_words_of_english(word: str) -> None:
    assert not is_unlisted(word, "en")


@pytest.mark.parametrize("language", ["de", "es", "tamil", "simple", "xx"])
def test_no_word_is_rare_in_a_language_without_a_list_of_all_its_forms(language: str) -> None:
    assert not is_rare("Xyzzyx", language)


@pytest.mark.parametrize(
    ("word", "unlisted"), [("Kestrel", False), ("optionally", False), ("Zyliss", True), ("k3s", True)]
)
def test_a_rare_word_may_be_listed_for_its_language(word: str, unlisted: bool) -> None:
    assert is_rare(word, "en")
    assert is_unlisted(word, "en") == unlisted
    assert not is_unlisted(word, "de"), "a list without all forms tells nothing"
