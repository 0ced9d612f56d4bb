"""Find the date of a note in its header, in the path of its file, in its first lines or in its turns."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

from ..values import parse_time

# The names that site generators and note apps give the date of writing, the most reliable first.
FIELDS = (
    "captured_at", "date", "created", "created_at", "published", "publishdate", "published_at", "pubdate", "pub_date",
    "datepublished", "date_created", "datum", "fecha", "data", "日期", "日付", "创建时间", "發布日期", "发布日期",
)  # fmt: skip
TEXT_MAX = 60  # characters of a value or a line that are searched for a date
PATH_MAX = 400  # characters at the end of a path that are searched
LINES_MAX = 8  # lines at the top of a text that are searched
STAMPS_MIN = 3  # turns with a date and a time that make a text a conversation
STAMP = re.compile(
    r"[ \t\u200e\ufeff]{0,8}\[?(?P<first>\d{1,4})(?P<mark>[./-])(?P<second>\d\d?)(?P=mark)(?P<third>\d{2,4})"
    r",?[ \t\u202f]{1,3}\d{1,2}[:.]\d\d"
)
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
DAY_FILE = re.compile(r"(?:^|/)(?:19|20)\d\d([-_.]?)\d\d\1\d\d\.\w{1,10}$")  # `2026-03-02.md`
NEAR = timedelta(days=2)  # between the same day in different time zones, at most
DATE_LINE = re.compile(
    r"[\s>*_'#-]{0,8}(?:date|datum|fecha|data|日期|日付|opened|created|reported|eröffnet|erstellt|gemeldet|ouvert|créé|abierto|creado|aberto|criado)[*_']{0,3}\s?[:：][*_']{0,3}\s*(?P<said>.+)",
    re.IGNORECASE,
)


def date_of(values: Mapping[str, Any], path: str, text: str = "") -> datetime | None:
    """Return when a note was written, from the values of its header, its path or its text; None if none of them
    tells.

    The day that is the whole name of its file goes before another day in the header, which may be that of an edit.
    """
    fields = {str(name).lower().replace("-", "_"): value for name, value in values.items()}
    dates = (in_text(fields[name].strip()) for name in FIELDS if isinstance(fields.get(name), str))
    in_header = next(filter(None, dates), None)
    named = in_path(path) if DAY_FILE.search(path) else None
    if named and (in_header is None or abs(in_header.replace(tzinfo=in_header.tzinfo or UTC) - named) >= NEAR):
        return named
    return next(filter(None, (in_header, in_path(path), in_lines(text), in_turns(text))), None)


def in_text(text: str) -> datetime | None:
    """Return the moment, or else the first day, in a short text; None if it has none."""
    return parse_time(text) or next(days(text[:TEXT_MAX]), None)


def in_path(path: str) -> datetime | None:
    """Return the last day in a path, else the first day of the last month in it; None if it has neither."""
    short = path[-PATH_MAX:]
    alone = (first_moment(int(found["year"]), int(found["month"]), 1) for found in MONTH_ALONE.finditer(short))
    found = [*alone, *days(short)]
    return found[-1] if found else None


def in_lines(text: str) -> datetime | None:
    """Return the day of a line like `Date: 2026-02-15` at the top of a text."""
    for line in text[: 2 * PATH_MAX].split("\n")[:LINES_MAX]:
        if (found := DATE_LINE.match(line)) and (day := in_text(found["said"].strip(" *_'"))):
            return day
    return None


def in_turns(text: str) -> datetime | None:
    """Return the day of the last turn of a conversation whose turns begin with a date and a time."""
    stamps = list(filter(None, map(STAMP.match, text.splitlines())))
    found = turn_day(stamps[-1].string, is_month_first=is_month_first(stamps)) if len(stamps) >= STAMPS_MIN else None
    return first_moment(found.year, found.month, found.day) if found else None


def is_month_first(stamps: Sequence[re.Match[str]]) -> bool:
    """Return whether the dates of turns have the month first, as `3/14/26` does.

    If no number is above 12, the reading that puts fewer turns out of order is taken.
    """
    pairs = [(int(stamp["first"]), int(stamp["second"])) for stamp in stamps]
    if any(first > 12 for first, _ in pairs):
        return False
    years = [int(stamp["third"]) for stamp in stamps]
    by_month = list(zip(years, (first for first, _ in pairs), (second for _, second in pairs), strict=True))
    by_day = list(zip(years, (second for _, second in pairs), (first for first, _ in pairs), strict=True))
    backwards = [sum(later < earlier for earlier, later in pairwise(dates)) for dates in (by_month, by_day)]
    return any(second > 12 for _, second in pairs) or backwards[0] < backwards[1]


def turn_day(line: str, *, is_month_first: bool = False) -> date | None:
    """Return the day at the beginning of a turn such as `[03/09/2023, 18:04:11] Mara: …`; None if it has none."""
    found = STAMP.match(line)
    if found is None:
        return None
    first, second, third = int(found["first"]), int(found["second"]), int(found["third"])
    if first > 31:
        year, month, day = first, second, third
    else:
        month, day = (first, second) if is_month_first else (second, first)
        year = third if third > 99 else 2000 + third
    moment = first_moment(year, month, day)
    return moment.date() if moment else None


def heading_day(heading: str) -> date | None:
    """Return the day in a heading such as `## Monday, 9 March 2026`; None if it has none."""
    found = next(days(heading[:TEXT_MAX]), None)
    return found.date() if found else None


def days(text: str) -> Iterator[datetime]:
    """Yield the days in a text, those of each pattern of DAYS in turn."""
    for pattern in DAYS:
        for found in pattern.finditer(text):
            groups = found.groupdict()
            month = MONTHS.index(groups["name"].lower()) + 1 if "name" in groups else int(groups["month"])
            if day := first_moment(int(groups["year"]), month, int(groups["day"])):
                yield day


def first_moment(year: int, month: int, day: int) -> datetime | None:
    """Return the first moment of a day in UTC; None if there is no such day."""
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return datetime(found.year, found.month, found.day, tzinfo=UTC)
