"""The date of a note is read from its header, its file name or its text."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.notes.dates import date_of


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "path", "text", "expected"),
    [
        ({"date": "2021-02-11T09:00:00Z"}, "post.md", "", "2021-02-11T09:00:00"),
        ({"date": "2021-02-11 09:00:00 +0100"}, "post.md", "", "2021-02-11T08:00:00"),
        ({"title": "x", "publishDate": "2021-02-11"}, "2019-01-01-x.md", "", "2021-02-11"),
        ({"datum": "6. 9. 2023"}, "protokoll.md", "", "2023-09-06"),
        ({"Date": "January 5, 2024"}, "a.md", "", "2024-01-05"),
        ({"created": "5th Jan 2024"}, "a.md", "", "2024-01-05"),
        ({"date": "2024年1月5日"}, "a.md", "", "2024-01-05"),
        ({"date": "soon"}, "20240105.md", "", "2024-01-05"),
        ({"date": 7}, "_posts/2020-05-14-hello.md", "", "2020-05-14"),
        ({}, "journals/2024_01_05.md", "", "2024-01-05"),
        ({}, "2023/11/05/rain.md", "", "2023-11-05"),
        ({}, "Chat 2023-09.txt", "", "2023-09-01"),
        ({}, "export-20240105T123000.md", "", "2024-01-05"),
        ({}, "adr-7.md", "# ADR 7\n\nStatus: Accepted\n**Date:** 2024-01-05\n", "2024-01-05"),
        ({}, "chat.txt", "3/9/26, 9:30 - Mara: Hi\n" * 2 + "3/14/26, 10:01 - Mara: Bye\n", "2026-03-14"),
        ({}, "1on1.wiki", "== 1:1 ==\n'''Date:''' 2024-01-05\n", "2024-01-05"),
    ],
)
def test_the_date_is_read_from_header_then_file_name_then_first_lines(
    values: dict[str, object], path: str, text: str, expected: str
) -> None:
    assert date_of(values, path, text) == day(expected)


@pytest.mark.parametrize(
    ("edited", "path", "expected"),
    [
        ("2023-01-04T02:49:32Z", "minutes/2010-07-27.md", "2010-07-27"),
        ("2023-01-04", "20100727.md", "2010-07-27"),
        ("2010-07-27T21:30:00-05:00", "2010-07-27.md", "2010-07-28T02:30:00"),
        ("2010-07-28T08:00:00", "2010-07-27.md", "2010-07-28T08:00:00"),
    ],
)
def test_a_file_named_by_its_day_alone_has_that_day_if_its_header_has_a_later_one(
    edited: str, path: str, expected: str
) -> None:
    assert date_of({"date": edited}, path) == day(expected)


@pytest.mark.parametrize(
    ("values", "path", "text"),
    [
        ({}, "notes.md", "We met on 2024-01-05."),
        ({}, "2024-13-45.md", ""),
        ({}, "v2.10.3-build-99123456.md", ""),
        ({"date": None, "created": ["x"]}, "a.md", ""),
        ({"date": "0001-01-01"}, "a.md", ""),
    ],
)
def test_dates_that_are_not_of_the_note_are_ignored(values: dict[str, object], path: str, text: str) -> None:
    assert date_of(values, path, text) is None


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)), st.sampled_from(("-", "_", ".", "/", "")))
def test_every_day_is_read_from_the_name_of_a_file(expected: date, mark: str) -> None:
    assert date_of({}, f"notes/{expected:%Y{mark}%m{mark}%d} something.md") == day(expected.isoformat())


@given(st.text(max_size=500), st.text(max_size=500))
def test_any_text_gives_a_date_in_utc_or_none(path: str, text: str) -> None:
    found = date_of({"date": text}, path, text)
    assert found is None or found.tzinfo is UTC


def test_the_date_of_a_ticket_is_when_it_was_opened() -> None:
    assert date_of({}, "T-7.txt", "Ticket: T-7\nStatus: open\nOpened: 2024-05-14 11:40") == datetime(
        2024, 5, 14, 11, 40, tzinfo=UTC
    )
