"""The day that a note is from, as its header, the name of its file or a line at its top says."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

from ..values import moment

# What generators and note apps call the day of writing, the surest first.
FIELDS = (
    "captured_at", "date", "created", "created_at", "published", "publishdate", "published_at", "pubdate", "pub_date",
    "datepublished", "date_created", "datum", "fecha", "data", "日期", "日付", "创建时间", "發布日期", "发布日期",
)  # fmt: skip
TEXT_MAX = 60  # characters of a value or a line that is looked at for a date
PATH_MAX = 400
LINES_MAX = 8  # at the top of a text
YEAR = r"(?<!\d)(?P<year>(?:19|20)\d\d)"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = rf"(?P<name>{'|'.join(MONTHS)})[a-z]{{0,6}}\.?"
DAYS = (
    re.compile(rf"{YEAR}(?P<mark>[-_./ ])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)(?!\d)"),
    re.compile(rf"{YEAR}(?P<month>\d\d)(?P<day>\d\d)(?:[T_-]?\d{{4}}(?:\d\d)?)?(?!\d)"),
    re.compile(rf"{YEAR}\s?年\s?(?P<month>\d\d?)\s?月\s?(?P<day>\d\d?)\s?日"),
    re.compile(r"(?<!\d)(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.\s?(?P<year>(?:19|20)\d\d)(?!\d)"),
    re.compile(rf"(?<![a-z]){MONTH}\s(?P<day>\d\d?)(?:st|nd|rd|th)?,?\s(?P<year>(?:19|20)\d\d)(?!\d)", re.IGNORECASE),
    re.compile(rf"(?<!\d)(?P<day>\d\d?)(?:st|nd|rd|th)?\s{MONTH}\s(?P<year>(?:19|20)\d\d)(?!\d)", re.IGNORECASE),
)
MONTH_ALONE = re.compile(rf"{YEAR}[-_./](?P<month>0[1-9]|1[0-2])(?![\d])(?![-_./]\d)")
DATE_LINE = re.compile(
    r"[\s>*_'#-]{0,8}(?:date|datum|fecha|data|日期|日付)[*_']{0,3}\s?[:：][*_']{0,3}\s*(?P<said>.+)", re.IGNORECASE
)


def date_of(values: Mapping[str, Any], path: str, text: str = "") -> datetime | None:
    """Return when a note was written; None where nothing says it. `values` are those of its header."""
    given = {str(name).lower().replace("-", "_"): value for name, value in values.items()}
    said = (in_text(given[name].strip()) for name in FIELDS if isinstance(given.get(name), str))
    return next(filter(None, (*said, in_path(path), in_lines(text))), None)


def in_text(text: str) -> datetime | None:
    """Return the moment or the day that a short text says."""
    return moment(text) or next(days(text[:TEXT_MAX]), None)


def in_path(path: str) -> datetime | None:
    """Return the day, else the month, in the name of a file or of its folders; the last one where there are several."""
    short = path[-PATH_MAX:]
    alone = (at(int(found["year"]), int(found["month"]), 1) for found in MONTH_ALONE.finditer(short))
    found = [*alone, *days(short)]
    return found[-1] if found else None


def in_lines(text: str) -> datetime | None:
    """Return the day of a line like `Date: 2026-02-15` at the top of a text."""
    for line in text[: 2 * PATH_MAX].split("\n")[:LINES_MAX]:
        if (found := DATE_LINE.match(line)) and (day := in_text(found["said"].strip(" *_'"))):
            return day
    return None


def days(text: str) -> Iterator[datetime]:
    """Yield the days that a text says, by the ways of writing them, in order."""
    for pattern in DAYS:
        for found in pattern.finditer(text):
            groups = found.groupdict()
            month = MONTHS.index(groups["name"].lower()) + 1 if "name" in groups else int(groups["month"])
            if day := at(int(groups["year"]), month, int(groups["day"])):
                yield day


def at(year: int, month: int, day: int) -> datetime | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return datetime(found.year, found.month, found.day, tzinfo=UTC)
