"""The times that a question names are found as ranges of dates."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.search.times import (
    LANGUAGES_MAX,
    QUESTION_MAX,
    READ_LANGUAGES,
    find_times,
    languages_of_times,
    names_no_time,
)

NOW = datetime(2026, 11, 23, 15, tzinfo=UTC)
LANGUAGES = ["english", "german", "simple"]


def ranges(text: str) -> list[tuple[str, str]]:
    return [(f"{found.since:%Y-%m-%d}", f"{found.until:%Y-%m-%d}") for found in find_times(text, LANGUAGES, NOW)]


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What did we decide in May 2023?", "2023-05-01", "2023-06-01"),
        ("What happened on 7 May 2023?", "2023-05-07", "2023-05-08"),
        ("What did Mara do last week?", "2026-11-16", "2026-11-23"),
        ("Who was there yesterday evening?", "2026-11-22", "2026-11-23"),
        ("Was hat Mara gestern gesagt?", "2026-11-22", "2026-11-23"),
        ("What changed in 2022?", "2022-01-01", "2023-01-01"),
        ("on 2023-05-07", "2023-05-07", "2023-05-08"),
    ],
)
def test_a_named_time_is_found_as_a_range(text: str, since: str, until: str) -> None:
    assert languages_of_times(text, LANGUAGES)
    assert (since, until) in ranges(text)


def test_a_month_without_a_year_is_that_of_any_recent_year() -> None:
    assert ("2026-03-01", "2026-04-01") in ranges("the fair in March")
    assert ("2021-03-01", "2021-04-01") in ranges("the fair in March")


@pytest.mark.parametrize("text", ["Who may march to the second shop?", "room 301", "ISO 8601", "5mg of iron", "we do"])
def test_texts_that_only_look_like_dates_name_no_time(text: str) -> None:
    assert ranges(text) == []


def test_only_languages_with_words_of_time_are_read() -> None:
    assert languages_of_times("How hot is the kiln?", LANGUAGES) == []
    assert languages_of_times("in May 2", ["simple"]) == []
    assert languages_of_times("gestern", LANGUAGES) == ["de"]


def test_names_no_time_is_true_only_after_the_languages_were_read() -> None:
    READ_LANGUAGES.clear()
    assert not names_no_time("How hot is the kiln?", LANGUAGES)
    assert find_times("How hot is the kiln?", LANGUAGES, NOW) == []
    assert names_no_time("How hot is the kiln?", LANGUAGES)
    assert not names_no_time("gestern", LANGUAGES)


def test_the_length_and_the_languages_of_a_question_are_bounded() -> None:
    assert ranges("x" * QUESTION_MAX + " in May 2023") == []
    assert len(languages_of_times("1/2/2023", ["english", "german", "french", "spanish"])) == LANGUAGES_MAX


@given(st.text(max_size=80) | st.text(st.sampled_from("0123456789-./: may2023"), max_size=40))
def test_any_text_gives_valid_ranges_and_weights(text: str) -> None:
    for found in find_times(text, LANGUAGES, NOW):
        assert found.since < found.until
        assert 0 < found.weight <= 1
