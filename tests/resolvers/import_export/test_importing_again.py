"""Importing sources that the wiki already has: they are recognised in batches, and only new ones are stored."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import orjson
import pytest

from db.scope import Role
from resolvers.errors import Forbidden
from resolvers.import_export.importing import PIECES_PER_BATCH, import_path
from resolvers.import_export.results import ImportResult
from resolvers.sources.retain import find_stored
from resolvers.sources.sources import SourceDraft, forget_source
from tests.recording_database import recording_database
from tests.resolvers.import_export.vaults import run_import
from tests.wiki import Wiki


def note(content: str, ref: str = "a.md", **more: Any) -> dict[str, Any]:
    return {"kind": "document", "ref": ref, "content": content, **more}


def file(data: bytes, media_type: str = "text/html") -> dict[str, str]:
    return {"media_type": media_type, "address": "https://example.org/a", "data": b64encode(data).decode()}


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_bytes(b"".join(orjson.dumps({"source": record}) + b"\n" for record in records))
    return path


async def contents(wiki: Wiki) -> list[str]:
    return [row["content"] for row in await wiki.rows("sources", "kind, ref, version")]


def errors(result: ImportResult) -> list[tuple[str, str]]:
    return [(error.path, error.code) for error in result.errors]


async def test_stored_sources_cost_one_statement_for_each_batch(wiki: Wiki, tmp_path: Path, dsn: str) -> None:
    counts = []
    async with recording_database(dsn) as database:
        for total in (1, PIECES_PER_BATCH, 3 * PIECES_PER_BATCH):
            path = lines(tmp_path / f"{total}.jsonl", *(note(f"Note {n}.", f"{n}.md") for n in range(total)))
            await run_import(wiki, path)
            (await database.sent_statements()).clear()
            result = await import_path(database, wiki.scope, path)
            assert (result.sources, result.errors) == (0, ())
            counts.append(len(await database.sent_statements()))
    for_one, for_batch, for_three_batches = counts
    assert (for_batch, for_three_batches) == (for_one, for_one + 2)


async def test_only_new_sources_are_stored(wiki: Wiki, tmp_path: Path) -> None:
    await run_import(wiki, lines(tmp_path / "first.jsonl", note("One."), note("Two.", "b.md")))
    more = lines(tmp_path / "more.jsonl", note("One."), note("Two, again.", "b.md"), note("Three.", "c.md"))
    assert (await run_import(wiki, more)).sources == 2
    assert await contents(wiki) == ["One.", "Two.", "Two, again.", "Three."]
    assert (await run_import(wiki, more)).sources == 0


async def test_a_version_followed_by_later_ones_is_recognised(wiki: Wiki, tmp_path: Path) -> None:
    versions = [note(f"Version {n}.", version=n) for n in (1, 2)]
    path = lines(tmp_path / "wiki.jsonl", *versions)
    assert (await run_import(wiki, path)).sources == 2
    await wiki.add_source(ref="a.md", content="Version 3.")
    assert (await run_import(wiki, path)).sources == 0
    assert (await run_import(wiki, lines(path, note("Version 1.")))).sources == 1, "without a number it is the newest"


async def test_repeated_names_in_one_file_become_successive_versions(wiki: Wiki, tmp_path: Path) -> None:
    path = lines(tmp_path / "wiki.jsonl", note("Open."), note("Closed.", " a.md"), note("Open."))
    assert (await run_import(wiki, path)).sources == 3
    assert (await run_import(wiki, path)).sources == 2, "the first is the newest version"
    assert await contents(wiki) == ["Open.", "Closed.", "Open.", "Closed.", "Open."]


async def test_importing_a_forgotten_source_is_refused(wiki: Wiki, tmp_path: Path) -> None:
    path = lines(tmp_path / "wiki.jsonl", note("Secret."), note("Known.", "b.md"))
    await run_import(wiki, path)
    await forget_source(wiki.database, wiki.scope, (await wiki.row("sources", ref="a.md"))["id"])
    result = await run_import(wiki, path)
    assert (result.sources, errors(result)) == (0, [("wiki.jsonl:1", "SOURCE_FORGOTTEN")])


async def test_a_source_with_equal_text_and_other_bytes_is_a_new_version(wiki: Wiki, tmp_path: Path) -> None:
    path = tmp_path / "wiki.jsonl"
    assert (await run_import(wiki, lines(path, note("One.", original=file(b"<p>One."))))).sources == 1
    assert (await run_import(wiki, path)).sources == 0
    assert (await run_import(wiki, lines(path, note("One.")))).sources == 0, "words alone are those of any file"
    assert (await run_import(wiki, lines(path, note("One.", original=file(b"<b>One."))))).sources == 1
    assert (await run_import(wiki, path)).sources == 0


async def test_a_source_that_cannot_be_stored_is_reported_even_if_its_text_exists(wiki: Wiki, tmp_path: Path) -> None:
    path = tmp_path / "wiki.jsonl"
    await run_import(wiki, lines(path, note("One.", original=file(b"<p>One."))))
    bad = lines(path, note("One.", title="a" * 100_000), note("One.", original=file(b"<p>One.", "text/none")))
    assert errors(await run_import(wiki, bad)) == [
        ("wiki.jsonl:1", "BAD_USER_INPUT"),
        ("wiki.jsonl:2", "BAD_USER_INPUT"),
    ]


async def test_a_caller_who_may_not_write_does_not_learn_which_sources_exist(wiki: Wiki) -> None:
    await wiki.add_source(ref="a.md", content="One.")
    with pytest.raises(Forbidden):
        await find_stored(
            wiki.database, wiki.with_role(Role.READER).scope, {0: SourceDraft("document", "a.md", "One.")}
        )
