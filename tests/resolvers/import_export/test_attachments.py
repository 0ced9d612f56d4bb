"""Attachments in a folder of notes: stored with its pages, limited in size and type, and exported byte for byte."""

import os
import struct
from pathlib import Path
from zipfile import ZipFile

import orjson
import pytest

from content.limits import ATTACHMENT
from content.normalization import normalize
from db.scope import Role
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.errors import NotFound
from resolvers.import_export.export_files import export_folder, export_path
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole
from resolvers.sources.attachments import find_attachments, read_attachment
from resolvers.sync.syncing import sync_folder
from tests.resolvers.import_export.vaults import import_files, run_import, write_files
from tests.wiki import Wiki

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + bytes(range(256))
VAULT: dict[str, str | bytes] = {
    ".obsidian/app.json": "{}",
    "Trips/Austin.md": "# Austin\n\n![[Map.png|300]] and ![the plan](../Files/plan%20one.pdf).\n",
    "Trips/Map.png": PNG,
    "Files/plan one.pdf": b"%PDF-1.7\n\0\xff",
    "Map.png": PNG + b"another",
    "Files/run.exe": b"MZ",
}
ATTACHMENTS = {path: data for path, data in VAULT.items() if path.endswith((".png", ".pdf"))}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_attachments_are_imported_and_exported_byte_for_byte(wiki: Wiki, tmp_path: Path) -> None:
    result = await import_files(wiki, tmp_path / "vault", VAULT)
    assert (result.attachments, result.left_out, result.errors, result.warnings) == (3, {".exe": 1}, (), ())
    await export_folder(wiki.database, wiki.scope, tmp_path / "out")
    out = files(tmp_path / "out")
    assert {path: out[path] for path in ATTACHMENTS} == ATTACHMENTS
    assert out["Trips/Austin.md"].decode() == VAULT["Trips/Austin.md"]
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / "out")).attachments == 3
    await export_folder(copy.database, copy.scope, tmp_path / "again")
    assert files(tmp_path / "again") == out


@pytest.mark.parametrize("ending", ["zip", "jsonl"])
async def test_attachments_are_imported_from_zips_and_json_lines(wiki: Wiki, tmp_path: Path, ending: str) -> None:
    with ZipFile(tmp_path / "vault.zip", "w") as zip:
        for name, data in VAULT.items():
            zip.writestr(name, data)
    assert (await run_import(wiki, tmp_path / "vault.zip")).attachments == 3
    await export_path(wiki.database, wiki.scope, tmp_path / f"out.{ending}")
    copy = await wiki.neighbour()
    result = await run_import(copy, tmp_path / f"out.{ending}")
    assert (result.attachments, result.errors) == (3, ())
    for path, data in ATTACHMENTS.items():
        assert (await read_attachment(copy.database, copy.scope, path)).data == data


async def test_importing_attachments_again_writes_only_changed_files(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "vault", VAULT)
    before = await wiki.rows("attachments", "path")
    assert (await run_import(wiki, tmp_path / "vault")).attachments == 0
    assert await wiki.rows("attachments", "path") == before
    assert len(await wiki.rows("blobs", "1")) == 3
    (tmp_path / "vault/Map.png").write_bytes(PNG)
    assert (await run_import(wiki, tmp_path / "vault")).attachments == 1
    assert (await read_attachment(wiki.database, wiki.scope, "Map.png")).data == PNG
    assert len(await wiki.rows("blobs", "1")) == 2


async def test_an_attachment_in_the_folder_of_the_note_is_preferred(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "vault", VAULT)

    async def resolve(folder: str, name: str) -> str | None:
        found = await find_attachments(wiki.database, wiki.scope, folder, [name])
        return found[name].path if name in found else None

    assert await resolve("Trips", "Map.png") == "Trips/Map.png"
    assert await resolve("", "map.PNG") == "Map.png"
    assert await resolve("Elsewhere", "Trips/map.png") == "Trips/Map.png"
    assert await resolve("Trips", "../Files/plan one.pdf") == "Files/plan one.pdf"
    assert await resolve("Trips", "Nothing.png") is None
    place = (await find_attachments(wiki.database, wiki.scope, "", ["Map.png"]))["Map.png"]
    assert (place.media_type, place.width, place.height) == ("image/png", 640, 480)


async def test_attachments_are_found_whether_letters_are_composed_or_not(wiki: Wiki, tmp_path: Path) -> None:
    apart = normalize("NFD", "Räume/Küche.png")
    await import_files(wiki, tmp_path / "vault", {"A.md": "# A", apart: PNG})
    for path in ("Räume/Küche.png", apart):  # an earlier release stored the path as macOS writes it
        values = path, path.rpartition("/")[2].casefold()
        await wiki.connection.execute("UPDATE attachments SET path = $1, name = $2", *values)
        for folder, name in (("", "Küche.png"), ("Räume", normalize("NFD", "küche.png")), ("Flur", "Räume/Küche.png")):
            found = await find_attachments(wiki.database, wiki.scope, folder, [name])
            assert [place.path for place in found.values()] == [path]


async def test_a_sync_after_an_import_adds_no_attachment_with_decomposed_letters(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "vault", {"A.md": "# A", normalize("NFD", "Küche.png"): PNG})
    result = await sync_folder(wiki.database, wiki.scope, tmp_path / "vault", quiet=0.01)
    assert (result.events, [row["path"] for row in await wiki.rows("attachments", "path")]) == ([], ["Küche.png"])


async def test_files_that_are_too_large_empty_or_links_are_left_out_and_reported(wiki: Wiki, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(PNG)
    given: dict[str, str | bytes] = {"A.md": "# A", "big.png": b"a" * (ATTACHMENT.maximum + 1), "empty.png": b""}
    folder = write_files(tmp_path / "vault", given)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    os.mkfifo(folder / "pipe.png")
    result = await run_import(wiki, folder)
    assert (result.attachments, result.left_out, result.created) == (0, {".png": 4}, 1)
    assert {warning.path for warning in result.warnings} == {"big.png", "empty.png", "link.png", "pipe.png"}
    assert await wiki.rows("blobs", "1") == []


@pytest.mark.parametrize(
    "path", ["../a.png", "/a.png", "C:\\a.png", "a/../b.png", ".git/a.png", "a.md/b.png", "a.html"]
)
async def test_an_unsafe_attachment_path_is_refused(wiki: Wiki, tmp_path: Path, path: str) -> None:
    lines = tmp_path / "wiki.jsonl"
    lines.write_bytes(orjson.dumps({"attachment": {"path": path, "data": "YQ=="}}) + b'\n{"title": "A", "body": "b"}\n')
    result = await run_import(wiki, lines)
    assert ([error.path for error in result.errors], result.attachments) == ([path], 0)


async def test_attachments_are_refused_where_writes_are_reviewed(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "vault", VAULT)
    rules = [PolicyRule(WriterRole.MEMBER, Policy.REVIEW)]
    await update_wiki_settings(wiki.database, wiki.with_role(Role.ADMIN).scope, WikiSettings(write_policy=rules))
    (tmp_path / "vault/Map.png").write_bytes(PNG)
    result = await run_import(wiki.with_role(Role.MEMBER), tmp_path / "vault")
    assert (result.attachments, [(warning.path, warning.code) for warning in result.warnings]) == (
        0,
        [("Map.png", "FORBIDDEN")],
    )
    assert (await read_attachment(wiki.database, wiki.scope, "Map.png")).data == VAULT["Map.png"]


async def test_other_wikis_do_not_see_attachments(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "vault", VAULT)
    stranger = await wiki.neighbour()
    there = stranger.with_role(Role.MEMBER).scope.in_owner(wiki.scope.owner_id)
    with pytest.raises(NotFound):
        await read_attachment(wiki.database, there, "Map.png")
    with pytest.raises(NotFound):
        await find_attachments(wiki.database, there, "", ["Map.png"])
    with pytest.raises(NotFound):
        await read_attachment(wiki.database, stranger.scope, "Map.png")
