"""Notes are read from markdown files and from JSON records."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.notes.notes import (
    BadNote,
    CitationMark,
    ClaimMark,
    Note,
    check_size,
    from_fields,
    from_markdown,
    from_record,
)
from tests.content.strategies import JSON, TEXTS

PAGE = """---
name: Auth Middleware
description: Three-phase migration
slug: auth-middleware
category: project
created: 2026-02-15
tags: "#auth #jwt"
aliases:
  - Sessions
parent: "[[Platform|the platform]]"
sources:
  - uri: memory/2026-01-15.md
    kind: daily_note
    section: timeline
    lines: 3-9
    summary: First decision
  - uri: memory/2026-03-22.md
    lines: 5
related:
  - compliance-review
  - "[[jwt-rotation]]"
confidence: high
supersedes: []
archived: true
---

# Auth Middleware

It checks requests.
"""


def note(header: str, body: str = "") -> Note:
    return from_markdown("The stem", f"---\n{header}\n---\n{body}")


def test_a_page_with_all_fields_is_read() -> None:
    assert from_markdown("auth", PAGE) == Note(
        slug="auth-middleware",
        type="project",
        title="Auth Middleware",
        summary="Three-phase migration",
        body="It checks requests.\n",
        aliases=("Sessions",),
        tags=("auth", "jwt"),
        parent="Platform",
        status="archived",
        links=("compliance-review", "jwt-rotation"),
        sources=(
            CitationMark("memory/2026-01-15.md", "daily_note", "timeline", 3, 9, "First decision"),
            CitationMark("memory/2026-03-22.md", line_start=5, line_end=5),
        ),
        metadata={"confidence": "high", "supersedes": []},
        created=datetime(2026, 2, 15, tzinfo=UTC),
    )


def test_a_file_without_a_header_has_its_name_as_title() -> None:
    plain = from_markdown("Graph view", "# Other\n\nText.")
    assert (plain.title, plain.body, plain.status, plain.type, plain.slug) == (
        "Graph view", "# Other\n\nText.", "active", None, None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("tags: a, b b ,a", ("a", "b b")),
        ("tags: ['#x', y, 2026]", ("x", "y", "2026")),
        ("tags: '#a #b'", ("a", "b")),
        ("tags:", ()),
        ("tags: no", ("no",)),
    ],
)
def test_tags_are_read_from_lists_and_texts(header: str, tags: tuple[str, ...]) -> None:
    assert note(header).tags == tags


def test_an_alias_with_a_comma_is_one_alias() -> None:
    assert note("alias: Austin, Texas\naliases: ATX, Austin").aliases == ("ATX", "Austin", "Austin, Texas")


def test_an_unknown_type_becomes_the_category() -> None:
    found = note("type: Recipe")
    assert (found.type, found.metadata) == (None, {"category": "Recipe"})
    assert note("type: Decision").type == "decision"
    assert note("type: x\ncategory: y").metadata == {"type": "x", "category": "y"}
    assert note("type: topic\ncategory: y").metadata == {"category": "y"}


def test_an_unknown_status_stays_in_the_metadata() -> None:
    assert note("status: draft").metadata == {"status": "draft"}
    assert note("status: Archived").status == "archived"


def test_the_second_name_of_a_field_stays_in_the_metadata() -> None:
    found = note("title: A\nname: B\nsummary: ''\ndescription: D")
    assert (found.title, found.summary, found.metadata) == ("A", "D", {"name": "B"})


def test_unquoted_wiki_links_are_read() -> None:
    found = note("parent: [[Home]]\nrelated:\n  - [[Other]]")
    assert (found.parent, found.links) == ("Home", ("Other",))


def test_sources_may_be_texts() -> None:
    assert note("sources: [a.md, {ref: b.md}]\nsource_refs: [c.md, a.md]").sources == (
        CitationMark("a.md"), CitationMark("b.md"), CitationMark("c.md"),
    )  # fmt: skip


@pytest.mark.parametrize("sources", [[{"path": "raw/1.md"}], ["a.md", {"kind": "url"}], [3], {"a": "b"}])
def test_sources_of_unknown_form_stay_in_the_metadata(sources: Any) -> None:
    found = from_fields({"sources": sources, "source_refs": ["b.md"]}, "Text.", "A")
    assert found.sources == ()
    assert found.metadata == {"sources": sources, "source_refs": ["b.md"]}


FORMER = {"source": "memory/1.md", "fact": "Initial choice was Postgres", "supersededOn": "2026-01-30"}


def test_former_claims_are_superseded_by_what_the_page_says() -> None:
    """The metadata keep them, since their source may not be in the wiki."""
    found = from_fields(
        {"supersedes": [FORMER]}, "# Ledger\n\nMySQL. Chosen for *throughput*.\n\n## More\n\nText.", "Ledger"
    )
    at = datetime(2026, 1, 30, tzinfo=UTC)
    assert found.superseded == (
        ClaimMark("Initial choice was Postgres", "MySQL. Chosen for throughput.", at, stated_by=(None, "memory/1.md")),
    )
    assert found.metadata == {"supersedes": [FORMER]}


def test_a_former_claim_with_a_replacement_is_read_once() -> None:
    own = {"fact": FORMER["fact"], "replacement": "MySQL.", "superseded_on": "2026-02-01"}
    (claim,) = from_fields({"superseded": [own], "supersedes": [FORMER]}, "MySQL for now.", "Ledger").superseded
    assert claim.replacement == "MySQL."


@pytest.mark.parametrize(
    "supersedes", [["ledger", FORMER], [{**FORMER, "fact": " "}], [{**FORMER, "supersededOn": "soon"}], "ledger", [3]]
)
def test_other_values_of_supersedes_are_no_claims(supersedes: Any) -> None:
    found = from_fields({"supersedes": supersedes}, "MySQL.", "Ledger")
    assert (found.superseded, found.metadata) == ((), {"supersedes": supersedes})


def test_a_page_without_text_supersedes_no_claim() -> None:
    assert from_fields({"supersedes": [FORMER]}, "", "Ledger").superseded == ()


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("slug: Not A Slug", 'slug "Not A Slug"'),
        ("slug: index", "slug"),
        ("title: [a, b]", "title is not a single text"),
        ("tags: {a: b}", "tags"),
        ("sources: [{ref: a, lines: 9-3}]", "no range"),
        ("sources: [{ref: a, lines: 0}]", "no range"),
        ("a: [", "line 3"),
    ],
)
def test_the_error_for_a_bad_note_says_what_is_wrong(header: str, words: str) -> None:
    with pytest.raises(BadNote, match=words):
        note(header)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (f"title: {'x' * 501}", "title has 501 characters"),
        (f"summary: {'x' * 2_001}", "summary has 2,001 characters"),
        (f"tags: [{'x' * 101}]", "tag has 101"),
        (f"tags: {list(range(51))}", "51 tags"),
        (f"aliases: ['{'x' * 501}']", "alias has 501"),
        (f"aliases: {list(range(1_001))}", "1,001 names"),
    ],
)
def test_check_size_refuses_fields_above_their_limits(header: str, words: str) -> None:
    with pytest.raises(BadNote, match=words):
        check_size(note(header))


@pytest.mark.parametrize("text", ["a\0", "\udc80", "---\nx: y"])
def test_an_unreadable_file_raises_bad_note(text: str) -> None:
    with pytest.raises(BadNote):
        from_markdown("x", text)


def test_a_record_is_read_as_a_note() -> None:
    record = {
        "slug": "a-b", "type": "topic", "title": "A B", "summary": "S.", "body": "# A B\n\nText", "aliases": ["AB"],
        "tags": ["t"], "links": ["c"], "more": {"x": 1},
    }  # fmt: skip
    assert from_record(record) == Note(
        "a-b", "topic", "A B", "S.", "Text", ("AB",), ("t",), None, "active", ("c",), (), {"more": {"x": 1}}
    )


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"body": "x"}, "title"),
        ({"title": "x"}, "body"),
        ({"title": "x", "body": 3}, "body"),
        ({"title": "\ud800", "body": ""}, "surrogate"),
        ([], "object"),
    ],
)
def test_the_error_for_a_bad_record_says_what_is_wrong(record: Any, words: str) -> None:
    with pytest.raises(BadNote, match=words):
        from_record(record)


FIELDS = [
    "title",
    "slug",
    "type",
    "body",
    "tags",
    "aliases",
    "sources",
    "links",
    "parent",
    "status",
    "archived",
    "summary",
]


@given(st.dictionaries(st.sampled_from(FIELDS) | TEXTS, JSON))
def test_any_record_gives_a_note_or_raises_bad_note(record: dict[str, Any]) -> None:
    try:
        found = from_record({"title": "T", "body": "", **record})
    except BadNote:
        return
    unknown = set(record) - {*FIELDS, "name", "description", "category", "alias", "related", "source_refs"}
    assert unknown <= set(found.metadata)


@given(st.text(), st.text())
def test_any_text_gives_a_note_or_raises_bad_note(stem: str, text: str) -> None:
    with suppress(BadNote):
        assert from_markdown(stem, text).title
