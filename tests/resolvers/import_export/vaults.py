"""Helpers that write folders of notes, import them and read the resulting pages."""

from collections.abc import Mapping
from pathlib import Path

from resolvers.import_export.importing import import_path
from resolvers.import_export.results import ImportResult
from tests.wiki import Wiki


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


async def run_import(wiki: Wiki, path: Path) -> ImportResult:
    return await import_path(wiki.database, wiki.scope, path)


async def import_files(wiki: Wiki, folder: Path, files: Mapping[str, str | bytes]) -> ImportResult:
    return await run_import(wiki, write_files(folder, files))


async def pages_by_path(wiki: Wiki) -> dict[str, dict]:
    return {page["metadata"]["imported_from"]: page for page in await wiki.rows("pages")}


async def backlinks(wiki: Wiki) -> dict[str, set[str]]:
    """Return for each file the files that link to it."""
    paths = {page["id"]: path for path, page in (await pages_by_path(wiki)).items()}
    found: dict[str, set[str]] = {path: set() for path in paths.values()}
    for start, end in await wiki.references():
        found[paths[end]].add(paths[start])
    return found


def import_counts(result: ImportResult) -> tuple[int, int, int, int]:
    """Return the numbers of created, changed, unchanged and failed notes."""
    return result.created, result.changed, result.unchanged, result.failed
