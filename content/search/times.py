"""Find the times that a question names, such as `in May 2023`, `last week` or `gestern`.

The library dateparser reads them in the languages of the wiki. What it takes for a date is dropped if a person would
not: `may` and `we` are words, and `8601` is no year. Every time is a range in UTC, from its first moment to the first
moment after it.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from ..languages import CODES

YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}")
EARLIEST, LATEST = 1900, 2100
YEARS_BACK = 10  # years, back from now, in which a month without a year may be
# The time that dateparser takes grows with the digits of a question and with the languages, so both are limited.
QUESTION_MAX = 200  # characters of a question that are searched for times
LANGUAGES_MAX = 2  # languages in which a question is read
READ_LANGUAGES: set[str] = set()  # languages whose calendars this process has read
SHORTEST_WORD = 5  # letters of a single word such as `today`
EXACT = 1.0  # weight of a day, week or month
ANY_YEAR = 0.8  # weight of a day or month whose year is not named
WHOLE_YEAR = 0.3  # weight of a year
SHORTEST_NAME = 3  # letters of a month, a day of the week or a unit
CALENDAR = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "year", "month", "week",
    "day",
)  # fmt: skip
WORDS = re.compile(r"[^\W\d_]+")


class NamedTime(NamedTuple):
    """A time that a question names, the text that names it, and its weight from 0 to 1, by how precise it is."""

    text: str
    since: datetime
    until: datetime
    weight: float


def languages_of_times(text: str, languages: Sequence[str]) -> list[str]:
    """Return the codes of the languages in which the text may name a time; most questions have none.

    A year or a date in digits may be of any of the languages. Otherwise the text must have a word of the language's
    calendar.
    """
    text = text[:QUESTION_MAX]
    found_words = {word.casefold() for word in WORDS.findall(text)}
    has_numbers = YEAR.search(text) or DATE.search(text)
    found = [code for code in codes(languages) if has_numbers or not found_words.isdisjoint(calendar_words(code))]
    return found[:LANGUAGES_MAX]


def names_no_time(text: str, languages: Sequence[str]) -> bool:
    """Return whether it is certain that the text names no time.

    Return False, too, if the calendar of a language has not been read yet.
    """
    return READ_LANGUAGES.issuperset(languages) and not languages_of_times(text, languages)


def find_times(text: str, languages: Sequence[str], now: datetime) -> list[NamedTime]:
    """Return the times that a question names, as seen from `now`.

    The first call of a process loads dateparser, and any may take a tenth of a second: call it in a thread.
    """
    text = text[:QUESTION_MAX]
    possible = languages_of_times(text, languages)
    READ_LANGUAGES.update(languages)
    if not possible:
        return []
    from dateparser.search import search_dates  # takes a second to import, and few questions name a time

    settings = {"RELATIVE_BASE": now.replace(tzinfo=None), "PREFER_DATES_FROM": "past", "RETURN_TIME_AS_PERIOD": False}
    found: list[NamedTime] = []
    for code in possible:
        for name, moment in search_dates(text, languages=[code], settings=settings) or ():
            found += times(name, moment, period_of(name, code, settings), now)
    return list(dict.fromkeys(found))


def period_of(name: str, code: str, settings: dict[str, Any]) -> str:
    from dateparser.date import DateDataParser

    return str(DateDataParser(languages=[code], settings=settings).get_date_data(name).period)


def times(name: str, moment: datetime, period: str, now: datetime) -> Iterator[NamedTime]:
    """Yield the ranges that a text may mean; nothing for a text that only looks like a date."""
    if not EARLIEST <= moment.year <= LATEST or not is_believed(name, period):
        return
    day = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if period == "year":
        yield NamedTime(name, day.replace(month=1, day=1), day.replace(year=day.year + 1, month=1, day=1), WHOLE_YEAR)
    elif period == "week":
        monday = day - timedelta(days=day.weekday())
        yield NamedTime(name, monday, monday + timedelta(days=7), EXACT)
    elif YEAR.search(name) or not names_a_month(name, period):
        yield NamedTime(name, *bounds(day, period), EXACT)
    else:
        for year in range(now.year, now.year - YEARS_BACK, -1):
            try:
                yield NamedTime(name, *bounds(day.replace(year=year), period), ANY_YEAR)
            except ValueError:  # 29 February
                continue


def bounds(day: datetime, period: str) -> tuple[datetime, datetime]:
    if period == "month":
        first = day.replace(day=1)
        return first, (first + timedelta(days=32)).replace(day=1)
    return day, day + timedelta(days=1)


def names_a_month(name: str, period: str) -> bool:
    """Return whether the text names a day or month that every year has: `May`, `9 June`, `9.6.`, but not
    `yesterday`."""
    return period == "month" or (period == "day" and any(character.isdigit() for character in name) and len(name) < 20)


def is_believed(name: str, period: str) -> bool:
    """Return whether a person would take these words for a time."""
    letters = WORDS.findall(name)
    if any(character.isdigit() for character in name):
        return bool(YEAR.search(name) or DATE.search(name) or max(map(len, letters), default=0) >= SHORTEST_NAME)
    if len(letters) == 1:
        return len(name) >= SHORTEST_WORD if period == "day" else name[:1].isupper()
    return max(map(len, letters), default=0) >= SHORTEST_NAME


def codes(languages: Sequence[str]) -> list[str]:
    """Return the ISO codes of those Postgres configurations whose language dateparser knows."""
    known = {name: code for code, name in reversed(CODES.items())}
    return [known[name] for name in languages if name in known and calendar_words(known[name])]


@cache
def calendar_words(code: str) -> frozenset[str]:
    """Return the words of a language for months, weekdays and spans of time; none if dateparser does not know it."""
    name = f"dateparser.data.date_translation_data.{code}"
    try:
        info = import_module(name).info
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return frozenset()
    lists = [info.get(name, ()) for name in CALENDAR] + list(info.get("relative-type", {}).values())
    return frozenset(
        word.casefold()
        for texts in lists
        for text in texts
        for word in WORDS.findall(text)
        if len(word) >= SHORTEST_NAME
    )
