"""A note that is written and read again is the same note."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from content.markdown.citations import CitationMark
from content.notes.note_texts import to_markdown, to_record
from content.notes.notes import Note, from_markdown, from_record
from content.values import format_moment, jsonable, parse_time
from tests.content.strategies import JSON, TEXTS

FIELDS = st.sampled_from(
    [
        "title", "name", "type", "category", "slug", "status", "archived", "summary", "description", "aliases", "alias",
        "tags", "parent", "related", "links", "former_slugs", "sources", "source_refs", "created", "created_at",
        "updated", "updated_at", "redirectTo", "redirect_to", "cairn", "body", "metadata", "confidence",
    ]
)  # fmt: skip
LINES = TEXTS.map(lambda text: " ".join(text.split())).filter(bool)
WORDS = LINES | st.sampled_from(["#tag", "a, b", "[[Page|text]]", "no", "1.5", "- x", "yes: no", "draft"])
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=st.just(UTC))
SLUGS = st.sampled_from(["a", "austin-texas", "2026", "北京"])
CITATIONS = st.builds(
    CitationMark,
    ref=LINES,
    kind=st.none() | st.just("document"),
    section=st.none() | LINES,
    line_start=st.none(),
    line_end=st.none(),
    summary=st.none() | LINES,
    version=st.none() | st.integers(1, 9),
) | st.builds(CitationMark, ref=LINES, line_start=st.just(3), line_end=st.integers(3, 9))
TITLED = st.sampled_from(["# Title\n\nText.", "#  Title #\nText.", "## Notes\n\nText.", "", "---\na: b\n---\nText."])
NOTES = st.builds(
    Note,
    slug=SLUGS,
    type=st.sampled_from(["entity", "topic"]),
    title=WORDS | st.just("Title"),
    summary=st.none() | WORDS | st.just("two\nlines"),
    body=TITLED,
    aliases=st.lists(WORDS, max_size=3, unique=True).map(tuple),
    tags=st.lists(WORDS, max_size=3, unique=True).map(tuple),
    parent=st.none() | st.just("/wiki/topic/austin"),
    status=st.sampled_from(["active", "archived"]),
    links=st.lists(st.sampled_from(["/wiki/entity/a", "b"]), unique=True).map(tuple),
    sources=st.lists(CITATIONS, max_size=2, unique=True).map(tuple),
    metadata=st.dictionaries(FIELDS | TEXTS, JSON, max_size=4).map(jsonable),
    created=st.none() | MOMENTS,
    updated=st.none() | MOMENTS | st.just(datetime(2026, 2, 15, tzinfo=UTC)),
    former_slugs=st.lists(SLUGS, max_size=2, unique=True).map(tuple),
    section_slugs=st.lists(st.just("notes_2"), max_size=1).map(tuple),
)


@given(NOTES)
def test_reading_a_written_file_returns_the_note(note: Note) -> None:
    text = to_markdown(note)
    found = from_markdown("stem", text)
    assert found.body.removesuffix("\n") == note.body
    assert fields_without_body(found) == fields_without_body(note)
    assert to_markdown(with_body_of(found, note)) == text


@given(NOTES)
def test_reading_a_written_record_returns_the_note(note: Note) -> None:
    record = orjson.loads(orjson.dumps(to_record(note)))
    assert from_record(record) == note


@given(MOMENTS)
def test_parsing_a_written_time_returns_the_time(when: datetime) -> None:
    assert parse_time(format_moment(when)) == when


def test_parse_time_reads_iso_dates_and_times_only() -> None:
    day = datetime(2026, 2, 15, tzinfo=UTC)
    for text in ("2026-02-15", "2026-02-15T00:00Z", "2026-02-15 02:00:00+02:00", " 2026-02-15t00:00:00.0z "):
        assert parse_time(text) == day, text
    for text in ("", "2026", "20260215", "last spring", "2026-02-30", "2026-W07-7", "0001-01-01T00:00+23:00"):
        assert parse_time(text) is None, text


def test_a_note_is_written_as_markdown_with_frontmatter() -> None:
    note = Note(
        slug="austin-texas",
        type="entity",
        title="Austin, Texas",
        summary="A city.",
        body="Hot.\n\n## Notes\n\nVery.",
        aliases=("ATX",),
        tags=("city",),
        parent="/wiki/topic/travel",
        status="archived",
        links=(),
        sources=(CitationMark("memory/1.md", "daily_note", "notes", 3, 9),),
        metadata={"confidence": "high", "category": "place", "status": "draft"},
        created=datetime(2026, 2, 15, tzinfo=UTC),
        former_slugs=("austin",),
    )
    assert (
        to_markdown(note)
        == """---
title: Austin, Texas
type: entity
slug: austin-texas
archived: true
summary: A city.
aliases:
  - ATX
tags:
  - city
parent: /wiki/topic/travel
former_slugs:
  - austin
sources:
  - ref: memory/1.md
    kind: daily_note
    section: notes
    lines: 3-9
created: 2026-02-15
category: place
confidence: high
status: draft
---

Hot.

## Notes

Very.
"""
    )


def fields_without_body(note: Note) -> dict[str, Any]:
    return {name: getattr(note, name) for name in Note.__slots__ if name != "body"}


def with_body_of(found: Note, note: Note) -> Note:
    return replace(found, body=note.body)
