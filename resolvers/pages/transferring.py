"""Transfer a page to another wiki of its tenant with its history and evidence, in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from content.markdown.attachments import folder_of
from content.markdown.html import attachments_in
from content.markdown.links import Target, readdress_links
from content.markdown.sections import Section
from content.names import normalise
from content.sensitivity import is_stricter
from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from ..errors import BadInput, Conflict, LimitExceeded, NotFound, SlugTaken
from ..links.references import refresh_hubness
from ..links.targets import resolve
from ..model import outline
from ..model.names import Names, former_address
from ..model.outline import Outline
from ..model.pages import Page, Saved, find_page, find_pages
from ..permissions import check_sees
from ..proposals.operations import proposable
from ..search.passages import write_passages
from ..search.spaces import find_spaces
from ..sources.attachments import find_paths
from ..sources.blob_files import copy_files
from ..sources.grounding import ground
from ..sources.sources import SourceForgotten, keep_rows
from ..subscriptions.changes import ChangeKind
from ..transactions.transaction import NO_PAGE, TwoWikis, check_version, read_connection, writing_two
from ..transactions.writer import Writer, record
from .claims.trajectory import is_trajectory, keep_trajectory
from .insert import PageToInsert, create, read_sections
from .lifecycle import drop_trajectory, end_proposals, remove_page
from .update import StateChange, save_all

TRANSFERS = statements("import_export/transferring")
FORGETTING = statements("sources/forgetting")
TEXTS_MAX = 500  # pages whose texts link to the page: they are rewritten in its transaction
SOURCES_MAX = 1000  # sources that the page cites
TRANSFERRED = "The page was transferred to another wiki."
SOURCES_PER_BATCH = 50  # sources whose contents are read by one statement


class AliasTaken(BadInput):
    """A page of the other wiki has a name of the page already, so links with the name would be ambiguous."""

    code = "ALIAS_TAKEN"


class SourceTaken(BadInput):
    """The other wiki has a different text as the same version of a source."""

    code = "SOURCE_TAKEN"


class AttachmentTaken(BadInput):
    """The other wiki has a different file at the path of an attachment that the page uses."""

    code = "ATTACHMENT_TAKEN"


class PageNames(NamedTuple):
    """The aliases and former slugs of a page, and the slugs of both wikis."""

    aliases: Sequence[str]
    old_slugs: Sequence[str]
    space: str
    """The slug of the owner whose wiki the page leaves."""
    to_space: str
    """The slug of the owner whose wiki the page goes to."""


@proposable
async def transfer_page(
    database: Database, scope: Scope, page_id: UUID, to_owner: str, *, expected_version: int | None = None
) -> Saved:
    """Transfer a page to another wiki of the tenant, given by its slug or id. The page gets a new id and version.

    Its children stay behind without a parent. Links to the page, and its links to pages that stay, name the other wiki
    afterwards.
    """
    async with read_connection(database) as connection:
        (space,) = await find_spaces(connection, scope, [to_owner])
    async with writing_two(database, scope, page_id, space.id) as wikis:
        page = await find_page(wikis.here, page_id)
        if page is None:
            raise NotFound(NO_PAGE)
        await check_sees(wikis.here, wikis.here.scope, [page_id], NO_PAGE)
        check_version(page, expected_version)
        names = await check_transferable(wikis, page)
        return await transfer(database, wikis, page, names)


async def check_transferable(wikis: TwoWikis, page: Page) -> PageNames:
    """Return the page's names and the slugs of both wikis. Raises BadInput or Conflict if it cannot be transferred."""
    if is_trajectory(page):
        raise BadInput(
            "A trajectory moves with its page and cannot be transferred alone. Transfer that page.", "pageId"
        )
    if await wikis.here.value(FORGETTING["is_forgetting"]):
        raise Conflict("A source of this wiki is being forgotten. Transfer the page once that is done.")
    row = await wikis.here.one(
        TRANSFERS["find_names"], page_id=page.id, type=page.type, to_owner_id=wikis.there.scope.owner_id
    )
    assert row is not None, "the statement always returns a row"
    names = PageNames(**row)
    taken = await wikis.there.one(
        TRANSFERS["find_taken"],
        slugs=[page.slug, *(former_address(page, slug)[1] for slug in names.old_slugs)],
        aliases=[normalise(name) for name in (page.title, *names.aliases)],
    )
    if taken:
        error, noun = (SlugTaken, "slug") if taken["is_slug"] else (AliasTaken, "name")
        is_taken = f'The {noun} "{taken["name"]}" is taken in the other wiki.'
        await check_sees(wikis.there, wikis.there.scope, [taken["id"]], is_taken)
        raise error(
            f'The {noun} "{taken["name"]}" belongs to the {taken["type"]} "{taken["title"]}" of the other wiki. '
            "Rename one of the pages, or merge them there.",
            "toOwner",
        )
    return names


async def transfer(database: Database, wikis: TwoWikis, page: Page, names: PageNames) -> Saved:
    here, there = wikis
    await drop_trajectory(here, page)  # it is written again in the other wiki
    sections = await readdress_page(here, page, names)
    sources = await copy_sources(database, wikis, page)
    await copy_attachments(database, wikis, page)
    texts = await readdress_texts(here, page, names)
    await end_proposals(here, page, TRANSFERRED)  # from now on the reviewers of the other wiki decide about the page
    await here.flush()
    moved = await create_at_target(wikis, page, replace(page, id=new_id(), sections=sections, parent_id=None), names)
    await copy_history(wikis, page, moved, sources)
    await delete_transferred(here, page)
    await update_target(there, moved)
    places = {"fromOwner": names.space, "toOwner": names.to_space}
    await record(here, "page.transferred", page.id, **places, toPageId=moved.id, version=page.version, texts=texts)
    here.changes.add(ChangeKind.DELETED, page.id)
    await record(there, "page.transferred", moved.id, **places, fromPageId=page.id, version=moved.version)
    return Saved(moved.id, moved.version)


# -- the wiki that the page leaves


async def readdress_texts(here: Writer, page: Page, names: PageNames) -> int:
    """Rewrite the texts that link to the page, so that their links name the other wiki. Return how many there are.

    Texts that more callers may read than the page keep the name by which they link to it, and their histories do not
    name it. Raises LimitExceeded for more than TEXTS_MAX.
    """
    rows = await here.all(TRANSFERS["find_linking"], page_id=page.id, limit=TEXTS_MAX + 1)
    if len(rows) > TEXTS_MAX:
        raise LimitExceeded(f"The texts of more than {TEXTS_MAX} pages link to this one. It cannot be transferred.")
    space, pages = names.to_space, await find_pages(here, [row["id"] for row in rows])
    named: list[StateChange] = []
    unnamed: list[StateChange] = []
    for row in rows:
        text = pages[row["id"]]
        tells = not is_stricter(page.metadata, text.metadata)
        addresses = {name: f"{space}:{page.slug if tells else name.rpartition('/')[2]}" for name in row["targets"]}
        after = replace(text, sections=await readdress_sections(text.sections, addresses))
        (named if tells else unnamed).append((text, after, ()))
    await save_all(here, named, edit_summary=f"Transferred link: {page.title} → {space}:{page.slug}")
    await save_all(here, unnamed, edit_summary=f"Transferred link → {space}")
    return len(rows)


async def readdress_page(here: Writer, page: Page, names: PageNames) -> Outline:
    """Return the sections of the page with links that name the wiki of the pages that stay behind."""
    rows = await here.all(TRANSFERS["find_linked"], page_id=page.id)
    return await readdress_sections(page.sections, {row["target"]: f"{names.space}:{row['slug']}" for row in rows})


async def readdress_sections(sections: Outline, addresses: Mapping[str, str]) -> Outline:
    """Return the sections with the targets of their links replaced. Raises BadInput if they become too long."""

    def address_of(link: Target) -> str | None:
        return addresses.get(link.target)

    def rewrite(section: Section) -> Section:
        heading, body = (readdress_links(text, address_of) for text in (section.heading, section.body))
        return replace(section, heading=heading, body=body)

    if not addresses:
        return sections
    size = outline.size(sections)
    return await offload(size, lambda: outline.checked_outline(map(rewrite, sections), "toOwner"))


async def delete_transferred(here: Writer, page: Page) -> None:
    """Delete the page from its former wiki."""
    await remove_page(here, page)
    here.note_state(page, page)  # tells the write policy the page's type, which the database does not have any more
    await here.flush()


# -- the page in the other wiki


async def create_at_target(wikis: TwoWikis, page: Page, after: Page, names: PageNames) -> Page:
    """Create the page in the other wiki, with the next version after its current version."""
    version = page.version + 1
    new = PageToInsert(
        after,
        await read_sections(after.sections),
        names.aliases,
        former_slugs=names.old_slugs,
        edit_summary=f"Transferred from {names.space}",
        version=version,
    )
    await create(wikis.there, new)
    await wikis.there.flush()
    return replace(after, version=version)


async def copy_history(wikis: TwoWikis, page: Page, moved: Page, sources: Mapping[UUID, UUID]) -> None:
    """Move the revisions, proposals, citations, claims and contradictions of the page to the other wiki."""
    ids: dict[str, Any] = {
        "page_id": page.id,
        "into_id": moved.id,
        "to_owner_id": wikis.there.scope.owner_id,
    }
    copies: dict[str, Any] = {"ids": list(sources), "copy_ids": list(sources.values())}
    for name in ("page", "sections", "aliases"):
        await wikis.here.later(TRANSFERS[f"carry_{name}"], **ids)
    for name in ("revisions", "original", "relations", "proposals"):
        await wikis.here.later(TRANSFERS[f"move_{name}"], **ids)
    for name in ("citations", "claims", "contradictions"):
        await wikis.here.later(TRANSFERS[f"move_{name}"], **ids, **copies)
    await wikis.here.flush()


async def update_target(there: Writer, moved: Page) -> None:
    """Update the links, grounding, trajectory and hubness score of the page in its new wiki."""
    await resolve(there, Names(), [moved.id])
    await ground(there, [moved.id], recheck=True)
    await keep_trajectory(there, moved)
    refresh_hubness(there, [moved.id])


# -- attachments and sources


async def copy_attachments(database: Database, wikis: TwoWikis, page: Page) -> None:
    """Copy the attachments that the page uses to the same paths of the other wiki, so that its text stays valid.

    The attachments also stay in the former wiki, because other pages may use them. Raises AttachmentTaken.
    """
    names = await offload(len(page.body), attachments_in, page.body)
    paths = await find_paths(wikis.here, folder_of((page.metadata or {}).get("imported_from")), names)
    if not paths:
        return
    given: dict[str, Any] = {"paths": sorted(paths), "to_owner_id": wikis.there.scope.owner_id}
    if taken := await wikis.here.value(TRANSFERS["find_taken_files"], **given):
        raise AttachmentTaken(
            f"The other wiki has another file at {taken}, which the page shows. Nothing was written.", "toOwner"
        )
    await copy_blobs(database, wikis, "copy_attached_blobs", given)
    await wikis.here.run(TRANSFERS["copy_attachments"], **given)


async def copy_blobs(database: Database, wikis: TwoWikis, name: str, given: Mapping[str, Any]) -> None:
    """Copy the blobs that the statement returns, including the files of blobs that are stored in a folder."""
    rows = await wikis.here.all(TRANSFERS[name], **given)
    files = [bytes(row["hash"]) for row in rows if row["is_in_folder"]]
    await copy_files(database, wikis.here.scope, wikis.there.scope.owner_id, files)


async def copy_sources(database: Database, wikis: TwoWikis, page: Page) -> dict[UUID, UUID]:
    """Return the sources of the other wiki by the ids of the sources that the page cites. Missing ones are copied.

    Raises LimitExceeded for more than SOURCES_MAX, SourceTaken and SourceForgotten.
    """
    cited = await wikis.here.all(TRANSFERS["find_evidence"], page_id=page.id, limit=SOURCES_MAX + 1)
    if len(cited) > SOURCES_MAX:
        raise LimitExceeded(f"The page cites more than {SOURCES_MAX:,} sources. It cannot be transferred.")
    if not cited:
        return {}
    named = sorted({(row["kind"], row["ref"]) for row in cited})
    refs: dict[str, Any] = {"kinds": [kind for kind, _ in named], "refs": [ref for _, ref in named]}
    known = await wikis.there.all(TRANSFERS["find_versions"], **refs)
    found = {row["id"]: find_equivalent(row, known) for row in cited}
    copies = {id: new_id() for id, there_id in found.items() if there_id is None}
    ids = list(copies)
    for start in range(0, len(ids), SOURCES_PER_BATCH):
        await copy_batch(database, wikis, ids[start : start + SOURCES_PER_BATCH], copies)
    if copies:
        rechained = await wikis.there.all(TRANSFERS["rechain_sources"], **refs)
        await write_passages(wikis.there, [], sorted({row["supersedes_id"] for row in rechained} - {None}))
    return {id: there_id or copies[id] for id, there_id in found.items()}


def find_equivalent(source: Row, known: Sequence[Row]) -> UUID | None:
    """Return the source of the other wiki with the same content, or None if the source has to be copied.

    Raises SourceForgotten if the other wiki has forgotten the content, and SourceTaken if it has another content as the
    same version.
    """
    versions = [row for row in known if (row["kind"], row["ref"]) == (source["kind"], source["ref"])]
    same = [row for row in versions if row["checksum"] == source["checksum"]]
    if any(row["is_forgotten"] for row in same):
        raise SourceForgotten()
    if same:
        first: UUID = min(same, key=lambda row: (row["version"] != source["version"], row["version"]))["id"]
        return first
    if any(row["version"] == source["version"] for row in versions):
        raise SourceTaken(
            f"The other wiki has another text as version {source['version']} of the source "
            f"{source['kind']}/{source['ref']}, which the page cites. Nothing was written.",
            "toOwner",
        )
    return None


async def copy_batch(database: Database, wikis: TwoWikis, ids: Sequence[UUID], copies: Mapping[UUID, UUID]) -> None:
    """Copy a batch of sources, with the original files that they were read from."""
    rows = await wikis.here.all(TRANSFERS["find_contents"], ids=ids)
    await keep_rows(wikis.there, [{**row, "id": copies[row["id"]], "supersedes_id": None} for row in rows])
    for row in rows:
        added = {"sourceId": copies[row["id"]], "version": row["version"]}
        await record(wikis.there, "source.added", None, **added, copiedFrom=str(row["id"]))
    await wikis.there.flush()
    given: dict[str, Any] = {"ids": ids, "to_owner_id": wikis.there.scope.owner_id}
    await copy_blobs(database, wikis, "copy_blobs", given)
    await wikis.here.run(TRANSFERS["copy_originals"], **given, copy_ids=[copies[id] for id in ids])
