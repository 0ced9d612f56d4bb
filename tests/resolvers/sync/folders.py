"""Helpers that sync a folder with a wiki, write notes and read what a sync did."""

from pathlib import Path
from typing import Any
from uuid import UUID

from resolvers.sync.planning import SyncResult
from resolvers.sync.syncing import sync_folder
from tests.wiki import Wiki

QUIET = 0.05


async def sync(wiki: Wiki, root: Path, **given: Any) -> SyncResult:
    return await sync_folder(wiki.database, wiki.scope, root, quiet=QUIET, **given)


async def check_nothing_to_do(wiki: Wiki, root: Path) -> None:
    """Check that a second sync has nothing to do."""
    again = await sync(wiki, root)
    assert (again.events, again.left) == ([], [])


def write_note(root: Path, path: str, text: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def note_texts(root: Path) -> dict[str, str]:
    """Return the notes of a folder and their texts."""
    found = (path for path in root.rglob("*.md") if ".cairn" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found}


def sync_actions(result: SyncResult) -> list[tuple[str, str]]:
    return [(event.action.value, event.path) for event in result.events]


async def page_named(wiki: Wiki, title: str) -> dict[str, Any]:
    return await wiki.row("pages", title=title)


async def revision_texts(wiki: Wiki, page_id: UUID) -> list[str]:
    """Return the body of each revision of a page, the oldest first."""
    from resolvers.pages.revision_store import find_states

    version = (await wiki.page(page_id))["version"]
    async with wiki.database.connection() as connection:
        states = await find_states(connection, wiki.scope, page_id, range(1, version + 1))
    return [state.body for state in states]
