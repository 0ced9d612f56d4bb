"""Migration of files with memories and insights to pages: each file is stored as a source, which its page cites."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from content.limits import CONTENT
from content.notes.memories import Memory, insight_of, memory_of
from content.sensitivity import FIELD
from content.templates import TEMPLATES
from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Scope
from lib.threads import offload

from ..errors import BadInput, CairnError
from ..model.drafts import PageDraft, SectionDraft
from ..pages.stubs import write_cited
from ..proposals.gate import ReviewRequired
from ..sources.sources import SourceDraft, add_source
from ..transactions.transaction import check_may_write

FILES_MAX = 10_000
TRIGGER = "migrate"


@dataclass(frozen=True, slots=True)
class Migrated:
    """The result of a migration.

    `pages` and `unchanged` are addresses of pages, `proposed` ids of proposals, `left_out` names of files that are not
    memories, and `refused` names of refused files with the reasons.
    """

    pages: Sequence[str]
    unchanged: Sequence[str]
    proposed: Sequence[str]
    left_out: Sequence[str]
    refused: Sequence[tuple[str, str]]


async def migrate_typed_memories(database: Database, scope: Scope, folder: Path) -> Migrated:
    """Make pages of files such as `feedback_small-batches.md`. Repeating a migration changes nothing."""
    return await migrate(database, scope, folder, memory_of)


async def migrate_insights(database: Database, scope: Scope, folder: Path) -> Migrated:
    """Make a page of the type theme from each markdown file of a folder of insights. Repeating it changes nothing."""
    return await migrate(database, scope, folder, insight_of)


async def migrate(
    database: Database, scope: Scope, folder: Path, read: Callable[[str, str], Memory | None]
) -> Migrated:
    """Make a page of each file, in a transaction of its own, so that a refused file does not stop the others."""
    await check_may_write(database, scope)
    paths = await offload(FILES_MAX, files, folder)
    pages: list[str] = []
    unchanged: list[str] = []
    proposed: list[str] = []
    left_out: list[str] = []
    refused: list[tuple[str, str]] = []
    for path in paths:
        try:
            text = await offload(CONTENT.maximum, text_of, path)
            found = await offload(len(text), read, path.name, text)
            if found is None:
                left_out.append(path.name)
            elif await write(database, scope, path.name, text, found):
                pages.append(f"{found.type}/{found.slug}")
            else:
                unchanged.append(f"{found.type}/{found.slug}")
        except ReviewRequired as held:
            proposed.append(str(held.proposal_id))
        except CairnError as error:
            refused.append((path.name, error.message))
    return Migrated(pages, unchanged, proposed, left_out, refused)


def files(folder: Path) -> list[Path]:
    """Return the markdown files directly in a folder that are not hidden, by name.

    Raises BadInput for no folder or too many files.
    """
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}.", "path")
    visible = (path for path in folder.iterdir() if not path.name.startswith("."))
    found = sorted(path for path in visible if path.suffix.lower() == ".md" and path.is_file())
    if len(found) > FILES_MAX:
        raise BadInput(f"There are {len(found):,} files; {FILES_MAX:,} are taken at once.", "path")
    return found


def text_of(path: Path) -> str:
    """Return the text of a file. Raises BadInput if it cannot be read or is not UTF-8."""
    try:
        data = path.read_bytes()
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"It cannot be read: {error}.", "path") from None


async def write(database: Database, scope: Scope, name: str, text: str, found: Memory) -> bool:
    """Store the file as a source and write its page in one transaction; return False if the source is stored already.

    If the page has to be reviewed, the source is stored with the proposal and ReviewRequired is raised.
    """
    texts = {section.slug: SectionDraft(section.body, section.slug, section.heading) for section in found.sections}
    empty = {slug: SectionDraft("", slug, heading) for slug, heading in TEMPLATES[found.type]}
    sections = list((empty | texts).values())
    async with OneTransaction(database) as whole:
        level = {FIELD: found.fields[FIELD]} if FIELD in found.fields else None
        kept = SourceDraft("document", f"memory/{name}", text, found.title, found.captured_at, level)
        source = await add_source(whole, scope, kept, trigger=TRIGGER)
        if not source.created:
            return False
        draft = PageDraft(
            found.type,
            found.title,
            found.slug,
            summary=found.summary,
            sections=sections,
            metadata={**found.fields, "migrated_from": f"memory/{name}"},
            edit_summary=f"Migrated from {name}",
        )
        cited = [(section.slug, source.source_id) for section in found.sections]
        try:
            await write_cited(whole, scope, draft, cited)
        except ReviewRequired:
            await whole.commit()
            raise
        await whole.commit()
    return True
