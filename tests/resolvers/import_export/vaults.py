"""Writes folders of notes, imports them and reads the resulting pages."""

from collections.abc import Mapping
from pathlib import Path

from resolvers.import_export.importing import import_path
from resolvers.import_export.results import ImportResult
from tests.wiki import Wiki


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


async def run(wiki: Wiki, path: Path) -> ImportResult:
    return await import_path(wiki.database, wiki.scope, path)


async def imported(wiki: Wiki, folder: Path, files: Mapping[str, str | bytes]) -> ImportResult:
    return await run(wiki, write(folder, files))


async def by_path(wiki: Wiki) -> dict[str, dict]:
    return {page["metadata"]["imported_from"]: page for page in await wiki.rows("pages")}


async def backlinks(wiki: Wiki) -> dict[str, set[str]]:
    """Return for each file the files that link to it."""
    paths = {page["id"]: path for path, page in (await by_path(wiki)).items()}
    found: dict[str, set[str]] = {path: set() for path in paths.values()}
    for start, end in await wiki.references():
        found[paths[end]].add(paths[start])
    return found


def counts(result: ImportResult) -> tuple[int, int, int, int]:
    return result.created, result.changed, result.unchanged, result.failed
