"""Merge a page into another: everything that belongs to it moves to the other page, and its names resolve there."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from content.claims.claims import digest
from content.claims.correction_forms import RENAMED
from content.limits import SLUG, TAGS
from content.markdown.sections import Section
from content.sensitivity import find_levels, is_stricter, stricter
from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from .. import validation
from ..errors import BadInput, NotFound
from ..links.references import find_hubness_dependents, refresh_hubness
from ..links.targets import resolve
from ..model import outline
from ..model.names import check_alias_count, find_names, free_slug, join_names, write_names
from ..model.outline import Outline
from ..model.pages import Page, Saved, find_page
from ..permissions import check_sees
from ..proposals.operations import proposable
from ..search.index import SearchEntry, index_pages, index_together
from ..sources.grounding import ground
from ..transactions.transaction import NO_PAGE, check_same_wiki, check_version, writing_page
from ..transactions.writer import Writer, record
from .claims.claims import write_claims
from .claims.trajectory import keep_trajectory
from .hierarchy import place
from .insert import read_sections
from .renaming import find_texts_naming, rewrite_texts_naming
from .update import save


@dataclass(frozen=True, slots=True)
class Joined:
    """The joined sections of two pages."""

    sections: Outline
    places: dict[str, str]
    """For each section slug of the merged page, the slug of the joined section that has its text now."""


def join_sections(sections: Outline, others: Outline) -> Joined:
    """Join two outlines: sections with the same heading or slug are joined, the other sections are appended.

    Sections of different sensitivity are not joined, because a section has one mark for its whole text.
    """
    found = {section.slug: section for section in sections}
    by_heading = {section.heading: section.slug for section in reversed(sections)}
    places: dict[str, str] = {}
    added: list[Section] = []
    for other in others:
        slug = by_heading.get(other.heading) or (other.slug if other.slug in found and other.heading else None)
        if slug and [*find_levels(found[slug].heading)] == [*find_levels(other.heading)]:
            places[other.slug] = slug
            found[slug] = replace(found[slug], body=both(found[slug].body, other.body))
        else:
            added.append(other)
    return arrange_sections([*found.values()], added, places, sections)


def arrange_sections(sections: list[Section], added: list[Section], places: dict[str, str], current: Outline) -> Joined:
    """Add sections to an outline: a section without a heading comes first, and taken slugs get a number."""
    taken = {section.slug for section in sections}
    for other in added:
        slug = outline.next_free_slug(other.slug, taken)
        taken.add(slug)
        places[other.slug] = slug
        own = replace(other, slug=slug)
        sections = [own, *sections] if not own.heading else [*sections, own]
    return Joined(outline.checked_outline(sections, "fromPageId", current), places)


def both(text: str, other: str) -> str:
    """Return the text followed by the other one, unless it contains the other one as whole lines already."""
    if f"\n{other.strip()}\n" in f"\n{text}\n":
        return text
    return f"{text}\n\n{other}" if text.strip() else other


LINKS = statements("links/links")
CLAIMS = statements("review/claims")
CONTRADICTIONS = statements("review/contradictions")
MERGING = statements("pages/merging")
PAGES = statements("pages/pages")
SECTIONS = statements("pages/sections")
SUFFIX = "-merged"
MAX_MERGED = 20  # pages of one merge, which locks the wiki for about a second


@proposable
async def merge_pages(
    database: Database,
    scope: Scope,
    from_id: UUID,
    into_id: UUID,
    *,
    expected_version: int | None = None,
    from_expected_version: int | None = None,
) -> Saved:
    """Merge a page into another page, which keeps its type. The merged page is archived with its history and text.

    `expected_version` is the version of the page that stays.
    """
    if from_id == into_id:
        raise BadInput("A page cannot be merged into itself.", "fromPageId")
    async with writing_page(database, scope, into_id) as (writer, into):
        gone = await find_source(writer, from_id, "fromPageId")
        if await is_merged(writer, gone, into):
            return Saved(into.id, into.version, changed=False)
        check_version(into, expected_version)
        check_version(gone, from_expected_version)
        return await merge(writer, gone, into)


@proposable
async def merge_many(
    database: Database, scope: Scope, from_ids: Sequence[UUID], into_id: UUID, *, expected_version: int | None = None
) -> Saved:
    """Merge several pages into another page in the given order: all of them, or none."""
    named = [
        (page_id, f"fromPageIds.{place}")
        for place, page_id in enumerate(validation.check_count(from_ids, MAX_MERGED, "fromPageIds"))
    ]
    if not named:
        raise BadInput("Name the pages that are to be merged into the other.", "fromPageIds")
    async with writing_page(database, scope, into_id) as (writer, into):
        waiting: dict[UUID, str] = {}
        for page_id, field in named:
            if page_id == into_id:
                raise BadInput("A page cannot be merged into itself.", field)
            if not await is_merged(writer, await find_source(writer, page_id, field), into):
                waiting.setdefault(page_id, field)
        saved = Saved(into.id, into.version, changed=False)
        if waiting:
            check_version(into, expected_version)
        for page_id, field in waiting.items():
            current = await find_page(writer, into_id)
            assert current is not None, "nobody else writes the wiki"
            saved = await merge(writer, await find_source(writer, page_id, field), current)
        return saved


async def find_source(writer: Writer, page_id: UUID, field: str) -> Page:
    """Return the page that is to be merged. Raises NotFound, or BadInput for a page of another wiki."""
    page = await find_page(writer, page_id)
    if page is None:
        await check_same_wiki(writer, page_id, field)
        raise NotFound(NO_PAGE)
    await check_sees(writer, writer.scope, [page_id], NO_PAGE)
    return page


async def is_merged(writer: Writer, gone: Page, into: Page) -> bool:
    """Return whether `gone` was merged into `into` before and has not been unarchived since."""
    found = await writer.value(MERGING["find_merged"], page_id=gone.id)
    return gone.status == "archived" and found == into.id


async def merge(writer: Writer, gone: Page, into: Page) -> Saved:
    if into.status != "active":
        raise BadInput(f"The page that stays, {into.name}, is archived. Unarchive it first.", "intoPageId")
    size = outline.size(gone.sections, into.sections)
    joined = await offload(size, join_sections, into.sections, gone.sections)
    return await join_pages(writer, gone, into, joined)


async def join_pages(writer: Writer, gone: Page, into: Page, joined: Joined) -> Saved:
    """Merge a page into another whose sections are joined already, and archive the merged page."""
    counting = await find_hubness_dependents(writer, gone.id, into.id)
    texts = await find_texts_naming(writer, gone)
    renamed_by = await find_renaming(writer, gone, into)
    async with index_together(writer):
        gone_after = await archive_merged(writer, gone, into)
        into_after = await enrich(writer, gone, into, joined)
        touched = await move_belongings(writer, gone, into, joined)
        await ground(writer, [into.id], recheck=True)
        if renamed_by:
            await record_renaming(writer, gone, into_after, renamed_by)
        await keep_trajectory(writer, into_after)
        await rewrite_names_of_both(writer, gone_after, into_after)
        version = (await rewrite_texts_naming(writer, texts, gone, into_after)).get(into.id, into_after.version)
    refresh_hubness(writer, [*counting, *touched, gone.id, into.id])
    await record(writer, "page.merged", into.id, fromPageId=gone.id, version=version)
    return Saved(into.id, version)


async def find_renaming(writer: Writer, gone: Page, into: Page) -> Row | None:
    """Return the source that says that the entity of one page has been renamed to the name of the other, if any."""
    if gone.type != "entity":
        return None
    pages: dict[str, Any] = {"from_id": gone.id, "into_id": into.id}
    return await writer.one(MERGING["find_renaming"], **pages, forms=list(RENAMED))


async def record_renaming(writer: Writer, gone: Page, into: Page, source: Row) -> None:
    """Record the former name as a claim of the page that stays, superseded by the source of the renaming."""
    claim = {
        "id": new_id(),
        "page_id": into.id,
        "section_slug": None,
        "heading": None,
        "fact": gone.title,
        "replacement": into.title,
        "stated_by_id": None,
        "overridden_by_id": source["id"],
        "superseded_on": source["captured_at"],
        "digest": digest(gone.title, source["kind"], source["ref"]),
    }
    if await write_claims(writer, [claim]):
        await record(writer, "claim.superseded", into.id, version=into.version, claimId=claim["id"])


async def archive_merged(writer: Writer, gone: Page, into: Page) -> Page:
    """Archive the merged page under a new slug, so that its own slug becomes a former slug of the other page."""
    slug = await free_slug(writer, gone.type, gone.slug[: SLUG.maximum - len(SUFFIX)].rstrip("-") + SUFFIX)
    after = replace(gone, slug=slug, status="archived")
    name = "another page" if is_stricter(into.metadata, gone.metadata) else into.title
    saved = await save(writer, gone, after, edit_summary=f"Merged into {name}")
    await writer.later(MERGING["move_slugs"], from_id=gone.id, into_id=into.id)
    await writer.later(MERGING["move_merged"], from_id=gone.id, into_id=into.id)
    await writer.later(MERGING["write_merged"], page_id=gone.id, into_id=into.id)
    return replace(after, version=saved.version)


async def enrich(writer: Writer, gone: Page, into: Page, joined: Joined) -> Page:
    """Save the page that stays with the joined text, tags and metadata of both pages and the names of the other."""
    names = [row["name"] for row in await writer.all(MERGING["find_aliases"], page_id=gone.id)]
    after = replace(
        into,
        sections=joined.sections,
        summary=into.summary or gone.summary,
        tags=tuple(dict.fromkeys([*into.tags, *gone.tags]))[: max(TAGS.maximum, len(into.tags))],
        metadata=validation.metadata(
            stricter({**(gone.metadata or {}), **(into.metadata or {})}, gone.metadata), restored=True
        ),
    )
    text = await read_sections(after.sections)
    saved = await save(writer, into, after, text=text, edit_summary=f"Merged with {gone.title}", aliases=names)
    return replace(after, version=saved.version)


async def move_belongings(writer: Writer, gone: Page, into: Page, joined: Joined) -> list[UUID]:
    """Move evidence, children, references, promotions and mentions; return the pages whose hubness may change."""
    await copy_citations(writer, gone, into, joined)
    if await writer.value(PAGES["find_ancestor"], page_id=into.id, ancestor_id=gone.id):
        await place(writer, into, gone.parent_id)
    await move_children(writer, gone, into)
    touched = await move_references(writer, gone, into)
    pages: dict[str, Any] = {"from_id": gone.id, "into_id": into.id}
    places: dict[str, Any] = {"from_slugs": list(joined.places), "into_slugs": list(joined.places.values())}
    for statement in ("move_lists", "move_listed"):
        await writer.later(MERGING[statement], **pages, **places)
    await writer.later(CLAIMS["move_claims"], **pages, **places)
    await writer.later(CONTRADICTIONS["move_contradictions"], **pages, **places)
    for statement in ("move_promotions", "copy_placements"):
        await writer.later(MERGING[statement], **pages)
    await writer.later(MERGING["move_listings"], from_text=str(gone.id), into_text=str(into.id))
    await writer.later(MERGING["move_mentions"], **pages)
    return touched


async def copy_citations(writer: Writer, gone: Page, into: Page, joined: Joined) -> None:
    cited = await writer.all(MERGING["find_citations"], page_id=gone.id)
    if not cited:
        return
    sections = {row["section_slug"]: row["id"] for row in await writer.all(SECTIONS["find_sections"], page_id=into.id)}
    kept = [row for row in cited if joined.places.get(row["section_slug"]) in sections]
    await writer.later(
        MERGING["copy_citations"],
        into_id=into.id,
        ids=[new_id() for _ in kept],
        section_ids=[sections[joined.places[row["section_slug"]]] for row in kept],
        cited_ids=[row["id"] for row in kept],
    )
    await writer.later(MERGING["advance_sections"], page_id=into.id)


async def move_children(writer: Writer, gone: Page, into: Page) -> None:
    children = [row["id"] for row in await writer.all(MERGING["find_children"], page_id=gone.id)]
    if not children:
        return
    await writer.later(MERGING["move_children"], from_id=gone.id, into_id=into.id)
    await writer.later(MERGING["delete_mirrors"], page_id=gone.id)
    above, below = [into.id for _ in children], ["parent_of" for _ in children]
    await writer.later(
        LINKS["write_links"],
        ids=[new_id() for _ in range(2 * len(children))],
        from_page_ids=[*above, *children],
        to_page_ids=[*children, *above],
        kinds=[*below, *("child_of" for _ in children)],
        reason="hierarchy",
    )


async def move_references(writer: Writer, gone: Page, into: Page) -> list[UUID]:
    """Move the asserted references of the merged page, and return the pages at both ends.

    References that texts make are not moved: they follow from the texts.
    """
    pairs: dict[str, list[tuple[UUID, UUID]]] = defaultdict(list)
    for row in await writer.all(MERGING["find_asserted"], page_id=gone.id):
        pair = tuple(into.id if end == gone.id else end for end in (row["from_page_id"], row["to_page_id"]))
        if pair[0] != pair[1]:
            for reason in row["reasons"]:
                pairs[reason].append((pair[0], pair[1]))
    for reason, found in pairs.items():
        await writer.later(
            LINKS["write_links"],
            ids=[new_id() for _ in found],
            from_page_ids=[pair[0] for pair in found],
            to_page_ids=[pair[1] for pair in found],
            kinds=["reference" for _ in found],
            reason=reason,
        )
    for statement in ("drop_links", "loosen_links"):
        await writer.later(MERGING[statement], page_id=gone.id)
    return [end for found in pairs.values() for pair in found for end in pair]


async def rewrite_names_of_both(writer: Writer, gone: Page, into: Page) -> None:
    """Rewrite the searchable names of both pages, and resolve all links that use one of these names again."""
    names = await find_names(writer, into, gone)
    check_alias_count(names[into.id], "fromPageId")
    renamed = [(page, names[page.id]) for page in (into, gone)]
    await write_names(writer, renamed)
    await index_pages(writer, *(SearchEntry(page, found) for page, found in renamed))
    await resolve(writer, join_names(names.values()))
