"""Retaining sources in batches: each is stored once, and a compile is queued with the batch."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from resolvers.errors import BadInput
from resolvers.import_export.notes import ImportProblem
from resolvers.import_export.source_files import source_files
from resolvers.sources.retain import BATCH_MAX, retain_sources
from resolvers.sources.sources import SourceDraft, add_source
from resolvers.tenants.tenants import set_compiling
from tests.wiki import Wiki


def notes(*texts: str) -> list[SourceDraft]:
    return [SourceDraft("daily_note", f"day-{n}", text) for n, text in enumerate(texts)]


async def test_a_repeated_batch_is_stored_once_and_queues_one_compile(wiki: Wiki) -> None:
    first = await retain_sources(wiki.database, wiki.scope, notes("One.", "Two."))
    again = await retain_sources(wiki.database, wiki.scope, notes("One.", "Two."))
    assert [item.saved and item.saved.created for item in first.items] == [True, True]
    assert [item.saved and item.saved.created for item in again.items] == [False, False]
    assert [item.saved and item.saved.source_id for item in again.items] == [
        item.saved and item.saved.source_id for item in first.items
    ]
    assert again.job_id is None
    job = await wiki.row("compile_jobs")
    assert (job["id"], job["trigger"], job["status"]) == (first.job_id, "retain", "pending")
    assert await wiki.actions() == ["source.retained"]


async def test_a_source_that_cannot_be_stored_does_not_stop_the_others(wiki: Wiki) -> None:
    drafts = [
        *notes("One."),
        SourceDraft("gossip", "g", "x"),
        SourceDraft("url", "u", "  "),
        *notes("One.", "Two.")[1:],
    ]
    done = await retain_sources(wiki.database, wiki.scope, drafts)
    assert [item.saved is not None for item in done.items] == [True, False, False, True]
    assert [item.error.field for item in done.items if isinstance(item.error, BadInput)] == ["kind", "content"]
    assert len(await wiki.rows("sources")) == 2


async def test_a_batch_without_valid_sources_writes_nothing(wiki: Wiki) -> None:
    done = await retain_sources(wiki.database, wiki.scope, [SourceDraft("url", "u", " ")])
    assert done.job_id is None
    assert await wiki.rows("compile_jobs") == await wiki.rows("activity") == []
    with pytest.raises(BadInput):
        await retain_sources(wiki.database, wiki.scope, notes("x") * (BATCH_MAX + 1))


async def test_versions_within_one_batch_supersede_each_other(wiki: Wiki) -> None:
    drafts = [SourceDraft("url", "u", text) for text in ("a", "b", "b", "a")]
    done = await retain_sources(wiki.database, wiki.scope, drafts)
    assert [item.saved and (item.saved.version, item.saved.created) for item in done.items] == [
        (1, True), (2, True), (2, False), (3, True),
    ]  # fmt: skip
    rows = await wiki.rows("sources", "version")
    assert [row["supersedes_id"] for row in rows] == [None, rows[0]["id"], rows[1]["id"]]


async def test_a_new_version_of_a_source_keeps_its_sensitivity_unless_it_sets_one(wiki: Wiki) -> None:
    given: list[dict[str, Any] | None] = [{"sensitivity": "secret"}, None, {"place": "x"}, {"sensitivity": "internal"}]
    drafts = [SourceDraft("url", "u", f"Text {n}.", metadata=metadata) for n, metadata in enumerate(given)]
    await retain_sources(wiki.database, wiki.scope, drafts[:2])
    await retain_sources(wiki.database, wiki.scope, drafts[2:3])
    for draft in drafts:
        await add_source(wiki.database, wiki.scope, replace(draft, ref="v"))
    await retain_sources(wiki.database, wiki.scope, drafts[3:])
    await add_source(wiki.database, wiki.scope, replace(drafts[0], ref="w"))
    await add_source(wiki.database, wiki.scope, replace(drafts[1], ref="w", restored=True))
    levels = [(row["ref"], row["metadata"].get("sensitivity")) for row in await wiki.rows("sources", "ref, version")]
    assert levels == [
        *((ref, level) for ref in "uv" for level in ("secret", "secret", "secret", "internal")),
        ("w", "secret"), ("w", None),  # as it was exported
    ]  # fmt: skip


async def test_sources_are_ordered_by_arrival_even_if_the_clock_goes_back(wiki: Wiki) -> None:
    await wiki.add_source(ref="first")
    await wiki.connection.execute("UPDATE sources SET created_at = created_at + interval '1 hour'")
    await retain_sources(wiki.database, wiki.scope, notes("One.", "Two."))
    await add_source(wiki.database, wiki.scope, SourceDraft("url", "u", "Last."))
    rows = await wiki.rows("sources", "created_at")
    assert [row["ref"] for row in rows] == ["first", "day-0", "day-1", "u"]
    assert len({row["created_at"] for row in rows}) == 4


async def test_retaining_queues_no_compile_when_the_tenant_disabled_it(wiki: Wiki) -> None:
    await set_compiling(wiki.database, wiki.scope.tenant_id, False)
    assert (await retain_sources(wiki.database, wiki.scope, notes("One."))).job_id is None
    await set_compiling(wiki.database, wiki.scope.tenant_id, True)
    assert (await retain_sources(wiki.database, wiki.scope, notes("Other."))).job_id is not None


def test_frontmatter_or_path_identifies_the_source_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\nkind: daily_note\nref: day-1\ncaptured_at: 2026-02-15\ncity: Austin\n---\nHot.\n"
    )
    (tmp_path / "b.md").write_text("Just a text.\n")
    (tmp_path / "c.md").write_text("---\nno end")
    (tmp_path / "d.md").write_bytes(b"\xff")
    first, second, *broken = source_files(tmp_path)
    assert isinstance(first, SourceDraft)
    assert isinstance(second, SourceDraft)
    assert (first.kind, first.ref, first.content, first.metadata) == (
        "daily_note",
        "day-1",
        "Hot.\n",
        {"city": "Austin"},
    )
    assert (second.kind, second.ref) == ("document", "b.md")
    assert [type(item) for item in broken] == [ImportProblem, ImportProblem]


def test_dates_of_files_are_read_from_headers_names_and_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text('+++\ntitle = "Left"\ndate = 2021-02-11\ntags = ["queues"]\n+++\n\nText.\n')
    (tmp_path / "b.mdx").write_text("---\npubDate: 2022-04-01\n---\nText.\n")
    (tmp_path / "Chat 2023-09-03.txt").write_text("Priya: Hello!\n")
    (tmp_path / "d.wiki").write_text("'''Date:''' 2024-01-10\n\nText.\n")
    (tmp_path / "e.md").write_text("+++\nno toml\n+++\n")
    (tmp_path / "f.csv").write_text("no text")
    found = list(source_files(tmp_path))
    dated = {item.ref: item.captured_at for item in found if isinstance(item, SourceDraft)}
    assert {ref: at.date().isoformat() for ref, at in dated.items() if at} == {
        "Chat 2023-09-03.txt": "2023-09-03",
        "a.md": "2021-02-11",
        "b.mdx": "2022-04-01",
        "d.wiki": "2024-01-10",
    }
    first = next(item for item in found if isinstance(item, SourceDraft) and item.ref == "a.md")
    assert (first.title, first.content) == ("Left", "Text.\n")
    assert first.metadata == {"date": "2021-02-11", "tags": ["queues"]}
    assert [item.path for item in found if isinstance(item, ImportProblem)] == ["e.md"]


@pytest.mark.parametrize(
    ("modified", "captured"),
    [
        (datetime(2024, 5, 17, 8, 30, tzinfo=UTC), datetime(2024, 5, 17, 8, 30, tzinfo=UTC)),
        (datetime(1980, 1, 1, tzinfo=UTC), None),
        (datetime(1970, 1, 1, tzinfo=UTC), None),
        (datetime(2200, 1, 1, tzinfo=UTC), None),
    ],
)
def test_an_undated_file_has_its_modification_time(
    tmp_path: Path, modified: datetime, captured: datetime | None
) -> None:
    for name in ("roof.md", "2026-02-15.md"):
        (tmp_path / name).write_text("Just a text.\n")
        os.utime(tmp_path / name, (modified.timestamp(), modified.timestamp()))
    found = {item.ref: item.captured_at for item in source_files(tmp_path) if isinstance(item, SourceDraft)}
    assert found == {"roof.md": captured, "2026-02-15.md": datetime(2026, 2, 15, tzinfo=UTC)}


async def test_a_touched_file_is_the_same_source(wiki: Wiki, tmp_path: Path) -> None:
    path = tmp_path / "roof.md"
    path.write_text("Just a text.\n")
    for second in (1_700_000_000, 1_750_000_000):
        os.utime(path, (second, second))
        drafts = [item for item in source_files(tmp_path) if isinstance(item, SourceDraft)]
        await retain_sources(wiki.database, wiki.scope, drafts)
    assert [row["captured_at"].timestamp() for row in await wiki.rows("sources")] == [1_700_000_000]


def test_a_jsonl_line_has_the_date_in_its_ref(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    lines = [{"kind": "daily_note", "ref": ref, "content": "x"} for ref in ("2026-02-15", "y")]
    path.write_text("\n".join(map(json.dumps, lines)))
    first, second = source_files(path)
    assert isinstance(first, SourceDraft)
    assert isinstance(second, SourceDraft)
    assert first.captured_at == datetime(2026, 2, 15, tzinfo=UTC)
    assert second.captured_at is None


def test_jsonl_lines_are_sources(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text('{"kind": "url", "ref": "u", "content": "x"}\n\nno json\n{"source": {"kind": "url", "ref": "v"}}\n')
    first, *broken = source_files(path)
    assert isinstance(first, SourceDraft)
    assert [item.path for item in broken if isinstance(item, ImportProblem)] == ["all.jsonl:3", "all.jsonl:4"]
    with pytest.raises(BadInput):
        source_files(tmp_path / "none")
