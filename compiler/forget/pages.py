"""Pages that cited a forgotten source: they are rewritten without it, or deleted if no text is left."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from content.names import normalise
from content.search.words import words
from db.sql import statements
from resolvers.links.references import refresh_hubness
from resolvers.links.targets import resolve
from resolvers.model.names import Names, rewrite_names
from resolvers.model.pages import Page, find_page
from resolvers.pages.claims.trajectory import find_trajectories, keep_trajectory
from resolvers.pages.lifecycle import remove_page
from resolvers.pages.update import save
from resolvers.search.index import SearchEntry, index_pages
from resolvers.transactions.writer import Writer, record

from ..link.evidence import parents
from ..metrics import Metrics
from ..rebuild.pages import RebuiltPage
from .history import erase_states
from .request import CLAIMED, ForgetRequest

ALIASES, FORGETTING = statements("pages/aliases"), statements("sources/forgetting")
EDIT_SUMMARY = "Written anew: a source was forgotten"


async def find_citing(reader: Writer, request: ForgetRequest, max_pages: int) -> list[UUID]:
    """Return the first pages that cite a forgotten source."""
    rows = await reader.all(FORGETTING["find_citing"], source_ids=request.source_ids, size=max_pages)
    return [row["page_id"] for row in rows]


def is_left(page: Page, with_children: Collection[UUID]) -> bool:
    """Return whether the page stays: it has text, or there are pages below it."""
    return page.id in with_children or any(section.body.strip() for section in page.sections)


async def store(writer: Writer, rebuilt: RebuiltPage, request: ForgetRequest, done: Metrics) -> None:
    """Store the rewritten page with its remaining names, and erase its revisions since the source was added.

    A stop word is no reason to take a text for a trace of the source.
    """
    lost = await drop_names(writer, rebuilt)
    after = replace(rebuilt.after, last_compiled_at=writer.now)
    saved = await save(writer, rebuilt.before, after, edit_summary=EDIT_SUMMARY)
    if lost != Names():
        names = await rewrite_names(writer, after)
        await index_pages(writer, SearchEntry(after, names))
        await resolve(writer, names | lost)
    lost_words = rebuilt.lost_words - request.forgotten.stop_words
    await drop_claims_saying(writer, after.id, lost_words)
    await renew_trajectory(writer, after, rebuilt.before.slug)
    await record(writer, "page.rewritten", after.id, version=saved.version)
    done.add("pages_rewritten")
    if await is_still_called(writer, after, lost_words):
        done.add_repeating(after.id)
    await erase_states(writer, replace(after, version=saved.version), request.since, done)


async def renew_trajectory(writer: Writer, page: Page, former_slug: str | None = None) -> None:
    """Delete the trajectory pages of this page, and create them again from its remaining claims."""
    for row in await find_trajectories(writer, page, former_slug):
        if row["is_own"] and (known := await find_page(writer, row["id"])):
            await remove_page(writer, known)
    await keep_trajectory(writer, page)


async def drop_claims_saying(writer: Writer, page_id: UUID, lost_words: Collection[str]) -> None:
    """Delete recorded claims of the page that contain a lost word."""
    for noun, columns in CLAIMED.items():
        rows = await writer.all(FORGETTING[f"find_{noun}_of_page"], page_id=page_id)
        said = {row["id"]: words("\n".join(row[column] or "" for column in columns)) for row in rows}
        ids = [id for id, text in said.items() if not set(text).isdisjoint(lost_words)]
        if ids:
            await writer.run(FORGETTING[f"drop_{noun}"], ids=ids)


async def drop_names(writer: Writer, rebuilt: RebuiltPage) -> Names:
    """Delete and return the names and former slugs that contain a lost word.

    The name of the title and names that people added stay.
    """
    page, lost = rebuilt.after, rebuilt.lost_words
    aliases = [
        row["alias"]
        for row in await writer.all(FORGETTING["find_page_aliases"], page_ids=[page.id])
        if row["alias"] != normalise(page.title) and not lost.isdisjoint(words(row["alias"]))
    ]
    slugs = [
        row["slug"]
        for row in await writer.all(FORGETTING["find_old_slugs"], page_ids=[page.id])
        if not lost.isdisjoint(words(row["slug"].replace("-", " ")))
    ]
    if aliases:
        await writer.run(ALIASES["delete_aliases"], page_id=page.id, aliases=aliases)
    if slugs:
        await writer.run(FORGETTING["drop_old_slugs"], page_id=page.id, slugs=slugs)
    return Names(frozenset(slugs), frozenset(aliases))


async def is_still_called(writer: Writer, page: Page, lost: frozenset[str]) -> bool:
    """Return whether the page's title, names or metadata contain a lost word."""
    rows = await writer.all(FORGETTING["find_names_of_page"], page_id=page.id)
    said = [page.title, *(row["name"] for row in rows), str(page.metadata or "")]
    return any(not lost.isdisjoint(words(text)) for text in said)


async def remove(writer: Writer, page: Page, done: Metrics) -> None:
    await remove_page(writer, page)
    await renew_trajectory(writer, page)
    await record(writer, "page.deleted", page.id)
    done.add("pages_deleted")


async def drop_evidence(writer: Writer, page_ids: Sequence[UUID], request: ForgetRequest) -> None:
    """Delete these pages' citations of forgotten sources, and the links to places that only those sources name."""
    ids = {"page_ids": list(page_ids)}
    await writer.run(FORGETTING["drop_citations"], **ids, source_ids=list(request.forgotten.ids))
    await writer.run(FORGETTING["restate_evidence"], **ids)
    founded = [(*pair, reason) for reason, pairs in (await parents(writer, page_ids)).items() for pair in pairs]
    touched = await writer.all(
        FORGETTING["drop_places"],
        **ids,
        starts=[start for start, _, _ in founded],
        ends=[end for _, end, _ in founded],
        founded=[reason for *_, reason in founded],
    )
    await writer.run(FORGETTING["drop_unfounded"])
    refresh_hubness(writer, [row["to_page_id"] for row in touched])
