"""Transferring a page to another wiki copies the attachments that the page shows."""

from pathlib import Path

import pytest

from content.markdown.html import attachments_in
from db.scope import Role
from resolvers.errors import NotFound
from resolvers.import_export.export_files import export_folder
from resolvers.pages.transferring import AttachmentTaken, transfer_page
from resolvers.sources.attachments import find_attachments, read_attachment
from tests.resolvers.import_export.vaults import import_files, pages_by_path
from tests.wiki import Wiki, check_derived_rows

VAULT: dict[str, str | bytes] = {
    ".obsidian/app.json": "{}",
    "Trips/Austin.md": "# Austin\n\n![[Map.png]], [the plan](../Files/plan%20one.pdf) and `![[Code.png]]`.\n",
    "Trips/Map.png": b"\x89PNG near",
    "Map.png": b"\x89PNG far",
    "Code.png": b"\x89PNG code",
    "Files/plan one.pdf": b"%PDF-1.7\n\0\xff",
}
SHOWN = ("Trips/Map.png", "Files/plan one.pdf")


def test_attachments_named_in_a_text_are_found() -> None:
    text = (
        "![[a.png|300]] [[b.pdf|B]] ![x](../c%20d.png) [[Page]] [e](https://x.example/e.png) `![[f.png]]` \\![[g.png]]"
    )
    assert attachments_in(text) == {"a.png", "b.pdf", "../c d.png", "g.png"}
    assert attachments_in("[![x](a.png)](b.pdf)\n\n> ![[c.png]]\n\n| d |\n|---|\n| ![](d.png) |") == {
        "a.png", "b.pdf", "c.png", "d.png"
    }  # fmt: skip


@pytest.fixture
async def team(wiki: Wiki) -> Wiki:
    other = await wiki.neighbour()
    for space, slug in ((wiki, "mine"), (other, "team")):
        await wiki.connection.execute(
            "UPDATE owners SET slug = $2, kind = 'shared' WHERE id = $1", space.scope.owner_id, slug
        )
    return other


async def test_a_transfer_copies_only_the_attachments_that_the_page_shows(
    wiki: Wiki, team: Wiki, tmp_path: Path
) -> None:
    await import_files(wiki, tmp_path / "vault", VAULT)
    page = (await pages_by_path(wiki))["Trips/Austin.md"]
    await transfer_page(wiki.database, wiki.scope, page["id"], "team")
    assert [row["path"] for row in await team.rows("attachments", "path")] == sorted(SHOWN)
    for path in SHOWN:
        assert (await read_attachment(team.database, team.scope, path)).data == VAULT[path]
    attachments = await find_attachments(team.database, team.scope, "Trips", ["Map.png"])
    assert attachments["Map.png"].path == "Trips/Map.png"
    await export_folder(team.database, team.scope, tmp_path / "out")
    assert {path: (tmp_path / "out" / path).read_bytes() for path in SHOWN} == {path: VAULT[path] for path in SHOWN}
    assert len(await wiki.rows("attachments", "path")) == 4
    with pytest.raises(NotFound):
        await read_attachment(team.database, team.with_role(Role.MEMBER).scope, "Map.png")
    for space in (wiki, team):
        await check_derived_rows(space)


async def test_a_transfer_is_refused_when_another_file_has_the_attachment_path(
    wiki: Wiki, team: Wiki, tmp_path: Path
) -> None:
    await import_files(wiki, tmp_path / "vault", VAULT)
    await import_files(
        team, tmp_path / "other", {".obsidian/app.json": "{}", "A.md": "# A", "Trips/Map.png": b"theirs"}
    )
    page = (await pages_by_path(wiki))["Trips/Austin.md"]
    with pytest.raises(AttachmentTaken, match=r"Trips/Map\.png"):
        await transfer_page(wiki.database, wiki.scope, page["id"], "team")
    assert (await wiki.page(page["id"]))["title"] == "Austin"
    assert (await read_attachment(team.database, team.scope, "Trips/Map.png")).data == b"theirs"
    await import_files(team, tmp_path / "other", {"Trips/Map.png": VAULT["Trips/Map.png"]})
    await transfer_page(wiki.database, wiki.scope, page["id"], "team")
    assert len(await team.rows("attachments", "path")) == 2
