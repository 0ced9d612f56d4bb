"""Attachments and originals whose bytes are in a folder: read, exported, moved, deleted and missing."""

import asyncio
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

import orjson
import pytest

from db.blob_folder import BlobFolder
from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Terms
from resolvers.archives.erasing import erase_owner, erase_tenant
from resolvers.idempotency import Attempt, run_once
from resolvers.import_export.export_files import export_folder, export_path
from resolvers.ingest.ingest import IngestDraft, ingest_source
from resolvers.pages.transferring import transfer_page
from resolvers.proposals.proposals import accept_proposal, propose_change
from resolvers.sources.attachments import AttachmentDraft, drop_attachment, keep_attachments, read_attachment
from resolvers.sources.blob_files import FileMissing, sweep_files
from resolvers.sources.blobs import OriginalDraft, read_original
from resolvers.sources.sources import SourceDraft, add_source, cite_source, forget_source
from tests.resolvers.import_export.vaults import import_files, pages_by_path, run_import
from tests.wiki import Wiki, check_derived_rows

FILE, OTHER = bytes(range(256)), b"\x89PNG other"
VAULT: dict[str, str | bytes] = {".obsidian/app.json": "{}", "Austin.md": "# Austin\n\n![[Map.png]]\n", "Map.png": FILE}


@pytest.fixture
def folder(wiki: Wiki, tmp_path: Path) -> BlobFolder:
    wiki.database.blob_folder = blob_folder = BlobFolder(tmp_path / "files")
    return blob_folder


def attachment(path: str, data: bytes) -> AttachmentDraft:
    return AttachmentDraft(path, sha256(data).digest(), data)


def files(folder: BlobFolder, wiki: Wiki) -> set[bytes]:
    return {
        folder.get(wiki.scope.tenant_id, wiki.scope.owner_id, hash) or b""
        for hash in folder.list_files(wiki.scope.tenant_id, wiki.scope.owner_id)
    }


async def original(wiki: Wiki, data: bytes = FILE) -> SourceDraft:
    return SourceDraft("document", "read", "As it was read.", original=OriginalDraft(data, "application/pdf", "a.pdf"))


async def test_files_in_the_folder_are_read_byte_for_byte(wiki: Wiki, folder: BlobFolder, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "vault", VAULT)
    source = (await add_source(wiki.database, wiki.scope, await original(wiki, OTHER))).source_id
    assert [(row["data"], row["is_in_folder"]) for row in await wiki.rows("blobs", "1")] == [(b"", True)] * 2
    assert files(folder, wiki) == {FILE, OTHER}
    assert (await read_attachment(wiki.database, wiki.scope, "Map.png")).data == FILE
    assert (await read_original(wiki.database, wiki.scope, source)).data == OTHER
    await export_folder(wiki.database, wiki.scope, tmp_path / "out")
    assert (tmp_path / "out/Map.png").read_bytes() == FILE
    exported = orjson.loads((tmp_path / "out/.cairn/sources.jsonl").read_bytes())
    assert b64decode(exported["original"]["data"]) == OTHER


async def test_a_missing_file_does_not_stop_an_export(wiki: Wiki, folder: BlobFolder, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "vault", {**VAULT, "Other.png": b"\x89PNG more"})
    await add_source(wiki.database, wiki.scope, await original(wiki, OTHER))
    for form in ("out", "out.zip", "out.jsonl"):
        assert (await export_path(wiki.database, wiki.scope, tmp_path / form)).failed == 0
    for data in (FILE, OTHER):
        folder.path(wiki.scope.tenant_id, wiki.scope.owner_id, sha256(data).digest()).unlink()
    for form in ("out", "out.zip", "out.jsonl"):
        export = await export_path(wiki.database, wiki.scope, tmp_path / form)
        assert (export.pages, export.sources, export.failed) == (1, 1, 2)
        assert {(error.path, error.code) for error in export.errors} == {
            ("Map.png", "FILE_MISSING"), (".cairn/sources.jsonl: document/read", "FILE_MISSING"),
        }  # fmt: skip
    assert (tmp_path / "out/Map.png").read_bytes() == FILE, "the file of the previous export stays"
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / "out.jsonl")).attachments == 1
    assert (await copy.row("sources"))["content"] == "As it was read."


async def test_files_stored_before_the_folder_was_set_are_still_read(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "vault", VAULT)
    wiki.database.blob_folder = BlobFolder(tmp_path / "files")
    assert (await read_attachment(wiki.database, wiki.scope, "Map.png")).data == FILE
    await keep_attachments(wiki.database, wiki.scope, [attachment("New.png", OTHER)])
    assert sorted(row["is_in_folder"] for row in await wiki.rows("blobs", "1")) == [False, True]


async def test_a_file_whose_row_has_its_bytes_is_swept_from_the_folder(wiki: Wiki, tmp_path: Path) -> None:
    """A move to Postgres that was killed leaves such a file."""
    await keep_attachments(wiki.database, wiki.scope, [attachment("Map.png", FILE)])
    wiki.database.blob_folder = folder = BlobFolder(tmp_path / "files")
    await keep_attachments(wiki.database, wiki.scope, [attachment("New.png", OTHER)])
    folder.put(wiki.scope.tenant_id, wiki.scope.owner_id, sha256(FILE).digest(), FILE)
    assert await sweep_files(wiki.database, wiki.scope.tenant_id) == 1
    assert files(folder, wiki) == {OTHER}
    assert (await read_attachment(wiki.database, wiki.scope, "Map.png")).data == FILE


async def test_a_missing_or_changed_file_is_an_error_until_it_is_stored_again(
    wiki: Wiki, folder: BlobFolder, tmp_path: Path
) -> None:
    await keep_attachments(wiki.database, wiki.scope, [attachment("Map.png", FILE)])
    path = folder.path(wiki.scope.tenant_id, wiki.scope.owner_id, sha256(FILE).digest())
    path.write_bytes(b"changed")
    with pytest.raises(FileMissing, match="cairn doctor"):
        await read_attachment(wiki.database, wiki.scope, "Map.png")
    path.unlink()
    with pytest.raises(FileMissing):
        await read_attachment(wiki.database, wiki.scope, "Map.png")
    wiki.database.blob_folder = None
    with pytest.raises(FileMissing):
        await read_attachment(wiki.database, wiki.scope, "Map.png")
    wiki.database.blob_folder = folder
    await keep_attachments(wiki.database, wiki.scope, [attachment("Copy.png", FILE)])
    assert (await read_attachment(wiki.database, wiki.scope, "Map.png")).data == FILE


async def test_replaced_deleted_and_forgotten_files_leave_the_folder(wiki: Wiki, folder: BlobFolder) -> None:
    here = (wiki.database, wiki.scope)
    await keep_attachments(*here, [attachment("Map.png", FILE), attachment("Same.png", FILE)])
    await keep_attachments(*here, [attachment("Map.png", OTHER)])
    assert files(folder, wiki) == {FILE, OTHER}
    assert await drop_attachment(*here, "Same.png", sha256(FILE).digest())
    assert files(folder, wiki) == {OTHER}
    source = (await add_source(*here, await original(wiki, OTHER))).source_id
    assert await drop_attachment(*here, "Map.png", sha256(OTHER).digest())
    assert files(folder, wiki) == {OTHER}
    await forget_source(wiki.database, wiki.scope, source)
    assert files(folder, wiki) == set()


async def test_files_of_a_rolled_back_transaction_are_swept(wiki: Wiki, folder: BlobFolder) -> None:
    await keep_attachments(wiki.database, wiki.scope, [attachment("Map.png", FILE)])
    async with OneTransaction(wiki.database) as whole:
        await keep_attachments(whole, wiki.scope, [attachment("Map.png", OTHER)])
    assert (await read_attachment(wiki.database, wiki.scope, "Map.png")).data == FILE
    assert files(folder, wiki) == {FILE, OTHER}
    assert await sweep_files(wiki.database, wiki.scope.tenant_id) == 1
    assert files(folder, wiki) == {FILE}
    assert await sweep_files(wiki.database, wiki.scope.tenant_id) == 0


async def test_a_file_ingested_with_an_idempotency_key_is_stored_in_the_folder(wiki: Wiki, folder: BlobFolder) -> None:
    """The transaction of the ingest is a part of that of the request."""
    note = b"# Kiln\n\nIt is hot.\n"

    async def work(database: Database) -> bytes:
        await ingest_source(database, wiki.scope, IngestDraft(note, "reference", "kiln.md"))
        return b"{}"

    await run_once(wiki.database, Attempt(wiki.scope, "key", None), work)
    assert files(folder, wiki) == {note}


async def test_a_sweep_keeps_the_files_of_concurrent_writers(wiki: Wiki, folder: BlobFolder) -> None:
    async def write(number: int) -> None:
        data = b"%d" % (number % 5)
        path = f"{number}.png"
        await keep_attachments(wiki.database, wiki.scope, [attachment(path, data)])
        if number % 2:
            await drop_attachment(wiki.database, wiki.scope, path, sha256(data).digest())

    async def sweep() -> None:
        for _ in range(10):
            await sweep_files(wiki.database, wiki.scope.tenant_id)

    await asyncio.gather(*(write(number) for number in range(30)), sweep())
    for number in range(0, 30, 2):
        file = await read_attachment(wiki.database, wiki.scope, f"{number}.png")
        assert file.data == b"%d" % (number % 5)
    assert len(files(folder, wiki)) == len(await wiki.rows("blobs", "1")) == 5


async def test_a_transferred_page_takes_its_files_to_the_other_wiki(
    wiki: Wiki, folder: BlobFolder, tmp_path: Path
) -> None:
    team = await wiki.neighbour()
    for each_wiki, slug in ((wiki, "mine"), (team, "team")):
        await wiki.connection.execute(
            "UPDATE owners SET slug = $2, kind = 'shared' WHERE id = $1", each_wiki.scope.owner_id, slug
        )
    await import_files(wiki, tmp_path / "vault", VAULT)
    page = (await pages_by_path(wiki))["Austin.md"]
    source = (await add_source(wiki.database, wiki.scope, await original(wiki, OTHER))).source_id
    sections = await wiki.rows("sections", "position", page_id=page["id"])
    given = {"page_id": page["id"], "section_slug": sections[0]["section_slug"], "source_id": source}
    await cite_source(wiki.database, wiki.scope, **given)
    await transfer_page(wiki.database, wiki.scope, page["id"], "team")
    assert files(folder, team) == {FILE, OTHER}
    (copy,) = await team.rows("sources")
    assert (await read_original(team.database, team.scope, copy["id"])).data == OTHER
    await check_derived_rows(team)


async def test_a_transfer_that_is_accepted_with_an_idempotency_key_takes_the_files_along(
    wiki: Wiki, folder: BlobFolder, tmp_path: Path
) -> None:
    team = await wiki.neighbour()
    for each_wiki, slug in ((wiki, "mine"), (team, "team")):
        await wiki.connection.execute(
            "UPDATE owners SET slug = $2, kind = 'shared' WHERE id = $1", each_wiki.scope.owner_id, slug
        )
    await import_files(wiki, tmp_path / "vault", VAULT)
    page_id = (await pages_by_path(wiki))["Austin.md"]["id"]
    held = await propose_change(
        wiki.database, wiki.scope, Terms("It is theirs."),
        lambda scope: transfer_page(wiki.database, scope, page_id, "team"),
    )  # fmt: skip

    async def work(database: Database) -> bytes:
        assert held.proposal_id is not None
        await accept_proposal(database, wiki.scope, held.proposal_id)
        return b"{}"

    await run_once(wiki.database, Attempt(wiki.scope, "key", None), work)
    assert files(folder, team) == {FILE}
    await check_derived_rows(team)


@pytest.mark.parametrize("whole", [True, False])
async def test_erasure_deletes_the_files_of_the_erased_owner_or_tenant(
    wiki: Wiki, folder: BlobFolder, dsn: str, whole: bool
) -> None:
    other = await wiki.neighbour()
    other.database.blob_folder = folder
    for each_wiki in (wiki, other):
        await keep_attachments(each_wiki.database, each_wiki.scope, [attachment("Map.png", FILE)])
    tenant, owner = str(wiki.scope.tenant_id), str(wiki.scope.owner_id)
    for dry_run in (True, False):
        assert files(folder, wiki) == {FILE}
        if whole:
            await erase_tenant(dsn, tenant, "operator:test", dry_run=dry_run, folder=folder)
        else:
            await erase_owner(dsn, tenant, owner, "operator:test", dry_run=dry_run, folder=folder)
    assert files(folder, wiki) == set()
    assert files(folder, other) == (set() if whole else {FILE})
