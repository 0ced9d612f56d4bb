"""Rename a page, and rewrite the links of other texts that use its old name, in batches of one transaction each."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import NamedTuple
from uuid import UUID

from content.limits import EDIT_SUMMARY
from content.markdown.links import Target, can_be_linked, rename_links
from content.markdown.sections import Section
from content.names import NoSlug, is_slug, normalise, slugify
from content.sensitivity import is_stricter
from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.one_transaction import OneTransaction
from db.scope import Actor, ActorKind, Role, Scope
from db.sensitivity import unrestricted
from db.sql import inserting, statements
from db.tables import renamings
from lib.threads import offload

from .. import validation
from ..errors import BadInput, CairnError
from ..model import outline
from ..model.names import check_free
from ..model.outline import Outline
from ..model.pages import Page, Saved, find_page, find_pages
from ..proposals.operations import proposable
from ..search.index import index_together
from ..tenants.tenants import list_tenants
from ..transactions.transaction import check_version, writing, writing_page
from ..transactions.writer import Writer, record
from ..validation import UNSET, Given
from .claims.trajectory import keep_trajectory
from .update import save, save_all

TARGETS = statements("links/targets")
RENAMINGS = statements("pages/renamings")
INSERT = inserting(
    renamings, "tenant_id", "owner_id", "id", "page_id", "slug", "title", "reached_id", "remaining", "actor_kind",
    "actor_id", "created_at",
)  # fmt: skip
TEXTS_PER_BATCH = 100  # texts of one transaction, which locks the wiki for about a second
BEGINNING = UUID(int=0)


class RewrittenBatch(NamedTuple):
    """The result of a batch of rewritten texts."""

    versions: Mapping[UUID, int]
    """The new versions of the rewritten pages."""
    reached: UUID
    """The last page of the batch, in the order of ids."""
    left: int
    """How many texts remain."""


@dataclass(frozen=True, slots=True)
class NewName:
    """The old name of a page, and the page under its new name."""

    old_slug: str
    old_title: str
    new: Page
    slug_means_it: bool
    """Whether a link with the new slug, without a type, resolves to the page."""
    title_means_it: bool
    """Whether a link with the new title resolves to the page."""

    @property
    def old_alias(self) -> str:
        return normalise(self.old_title)

    def respell(self, link: Target, written: str) -> str | None:
        """Return the new name for a link to the page, or None to leave the link as it is.

        A link stays if it does not use the old name, if the new name would not resolve to the page, or if the link
        names the type of another page that was merged into this page.
        """
        if link.type not in (None, self.new.type):
            return None
        if link.type is not None or (link.slug == self.old_slug and (not written or is_slug(written.strip()))):
            changed = link.slug == self.old_slug and self.new.slug != self.old_slug
            return self.new.slug if changed and (link.type is not None or self.slug_means_it) else None
        if not written or link.alias != self.old_alias or self.new.title == self.old_title:
            return None
        return self.new.title if self.title_means_it and can_be_linked(self.new.title) else None


async def find_texts_naming(writer: Writer, page: Page) -> list[Row]:
    """Return the texts whose links use the page's name, if another page has or had its slug.

    Their links would resolve to the other page as soon as this page gives up its slug.
    """
    return await writer.all(TARGETS["find_texts_naming"], page_id=page.id, slug=page.slug, alias=normalise(page.title))


async def rewrite_texts_naming(writer: Writer, texts: Sequence[Row], old: Page, new: Page) -> dict[UUID, int]:
    """Rewrite the texts that were found before the rename. Return the new versions of their pages."""
    return await rewrite_texts(writer, texts, await new_name(writer, old.slug, old.title, new)) if texts else {}


async def rewrite_first_batch(writer: Writer, old: Page, new: Page) -> RewrittenBatch:
    """Rewrite the first batch of texts. If more remain, store the renaming for `rewrite_next`."""
    done = await rewrite_batch(writer, await new_name(writer, old.slug, old.title, new), BEGINNING)
    if done.left:
        actor = writer.scope.actor
        await writer.run(
            INSERT,
            id=new_id(),
            page_id=new.id,
            slug=old.slug,
            title=old.title,
            reached_id=done.reached,
            remaining=done.left,
            actor_kind=actor.kind.value,
            actor_id=actor.id,
            created_at=writer.now,
        )
    return done


async def rewrite_next(database: Database, scope: Scope, renaming_id: UUID) -> RewrittenBatch | None:
    """Rewrite the next batch of texts of a renaming in a transaction of its own. Return None if it is complete."""
    async with writing(database, scope) as writer:
        renaming = await writer.one(RENAMINGS["find_renaming"], id=renaming_id)
        if renaming is None:
            return None
        page = await find_page(writer, renaming["page_id"])
        assert page is not None, "the row of the renaming is deleted with its page"
        name = await new_name(writer, renaming["slug"], renaming["title"], page)
        done = await rewrite_batch(writer, name, renaming["reached_id"])
        if done.left:
            await writer.run(
                RENAMINGS["advance_renaming"], id=renaming_id, reached_id=done.reached, remaining=done.left
            )
        else:
            await writer.run(RENAMINGS["end_renaming"], id=renaming_id)
        return done


async def find_renamings(writer: Writer, page_id: UUID) -> dict[UUID, int]:
    """Return the unfinished renamings of a page, the oldest first, with the number of remaining texts."""
    rows = await writer.all(RENAMINGS["find_renamings"], page_id=page_id)
    return {row["id"]: row["remaining"] for row in rows}


async def rewrite_rest(database: Database) -> int:
    """Finish the oldest unfinished renamings of each tenant, up to 100. Return how many texts were rewritten.

    A wiki that cannot be written now is skipped; its renamings stay unfinished until the next call.
    """
    rewritten = 0
    for renaming in await find_unfinished(database):
        with suppress(CairnError):
            while done := await rewrite_next(database, scope_of(renaming), renaming["id"]):
                rewritten += len(done.versions)
    return rewritten


async def find_unfinished(database: Database) -> list[Row]:
    """Return up to 100 unfinished renamings of each tenant: one statement for each tenant, in one round trip."""
    wanted = [{"tenant_id": tenant.id} for tenant in await list_tenants(database)]
    async with database.connection() as connection:
        return await connection.all_of_each(RENAMINGS["find_unfinished"], wanted)


def scope_of(renaming: Row) -> Scope:
    """Return a scope with the actor who renamed the page."""
    actor = Actor(ActorKind(renaming["actor_kind"]), renaming["actor_id"])
    return Scope(renaming["tenant_id"], renaming["owner_id"], Role.SERVICE, actor, (renaming["owner_id"],)).upkeep()


async def new_name(writer: Writer, old_slug: str, old_title: str, page: Page) -> NewName:
    """Return the old and new name, after checking to which page links with the new slug and title resolve."""
    slugs = [page.slug]
    with suppress(NoSlug):
        slugs.append(slugify(page.title))
    aliases = [normalise(page.slug), normalise(page.title)]
    rows = await writer.all(TARGETS["resolve_untyped"], slugs=slugs, aliases=aliases[: len(slugs)])
    own_places = {row["place"] for row in rows if row["id"] == page.id}
    return NewName(old_slug, old_title, page, slug_means_it=1 in own_places, title_means_it=2 in own_places)


async def rewrite_batch(writer: Writer, name: NewName, reached: UUID) -> RewrittenBatch:
    """Rewrite the batch of texts that follows the page `reached`, in the order of page ids."""
    rows = await writer.all(
        TARGETS["find_linking"],
        page_id=name.new.id,
        slug=name.old_slug,
        alias=name.old_alias,
        reached_id=reached,
        limit=TEXTS_PER_BATCH,
    )
    versions = await rewrite_texts(writer, rows, name)
    if not rows:
        return RewrittenBatch({}, reached, 0)
    return RewrittenBatch(versions, rows[-1]["id"], rows[0]["total"] - len(rows))


async def rewrite_texts(writer: Writer, rows: Sequence[Row], name: NewName) -> dict[UUID, int]:
    """Rewrite the links in the texts of these rows, in a fixed number of statements. Return the new versions.

    Texts that more callers may read than the page are left as they are, so that they do not tell its new name.
    """
    found = await find_pages(writer, [row["id"] for row in rows])
    pages = {id: page for id, page in found.items() if not is_stricter(name.new.metadata, page.metadata)}
    targets = {row["id"]: frozenset(row["targets"]) for row in rows if row["id"] in pages}
    size = outline.size(*(page.sections for page in pages.values()))
    renamed = await offload(
        size, lambda: {id: rename_section_links(pages[id].sections, targets[id], name) for id in targets}
    )
    states = [(pages[id], replace(pages[id], sections=sections), ()) for id, sections in renamed.items()]
    different = [state for state in states if state[0].sections != state[1].sections]
    saved = await save_all(writer, different, edit_summary=f"Renamed link: {name.old_title} → {name.new.title}")
    return {page.page_id: page.version for page in saved}


def rename_section_links(sections: Outline, targets: frozenset[str], name: NewName) -> Outline:
    """Return the sections with renamed links, or unchanged sections if the new name makes them too long."""

    def respelling(link: Target, written: str) -> str | None:
        return name.respell(link, written) if link.target in targets else None

    def respelled(section: Section) -> Section:
        heading, body = rename_links(section.heading, respelling), rename_links(section.body, respelling)
        return replace(section, heading=heading, body=body)

    try:
        return outline.checked_outline(map(respelled, sections), "title")
    except BadInput:
        return sections


RENAME_TIMEOUT = 5.0
"""The seconds that a caller waits while the texts after the first batch are rewritten."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """The result of a rename: the pages whose links were rewritten, and how many texts the service still rewrites."""

    saved: Saved
    rewritten: tuple[UUID, ...] = ()
    left: int = 0


@proposable
async def rename_page(
    database: Database,
    scope: Scope,
    page_id: UUID,
    *,
    title: Given[str] = UNSET,
    slug: Given[str] = UNSET,
    expected_version: int | None = None,
    summary: str | None = None,
    time_limit: float | None = None,
) -> Renamed:
    """Change the title or slug of a page, or both, and rewrite the links of other texts that use the old name.

    The rename and the first batch of texts are one transaction. Further batches have their own transactions: here for
    up to `time_limit` seconds, then in `rewrite_rest`. Repeating the rename continues with the remaining texts.
    """
    title = title if title is UNSET else validation.title(title)
    slug = slug if slug is UNSET else validation.slug(slug)
    summary = validation.optional(summary, "summary", EDIT_SUMMARY.maximum)
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        after = replace(page, title=page.title if title is UNSET else title, slug=page.slug if slug is UNSET else slug)
        if after.slug != page.slug:
            await check_free(writer, page.type, after.slug, but=page)
        async with index_together(writer):
            done = await rename(writer, page, after, summary)
        waiting = await find_renamings(writer, page.id)
        scope = writer.scope.upkeep()
    if isinstance(unrestricted(database), OneTransaction):
        return replace(done, left=sum(waiting.values()))
    return await rewrite_in_time(database, scope, done, waiting, RENAME_TIMEOUT if time_limit is None else time_limit)


async def rename(writer: Writer, page: Page, after: Page, summary: str | None) -> Renamed:
    """Save the page under its new name, and rewrite the first batch of texts."""
    texts = await find_texts_naming(writer, page) if after.slug != page.slug else []
    saved = await save(writer, page, after, edit_summary=summary)
    if not saved.changed:
        return Renamed(saved)
    now = replace(after, version=saved.version)
    await keep_trajectory(writer, now, page.slug)
    at_once = await rewrite_texts_naming(writer, texts, page, now)
    first = await rewrite_first_batch(writer, page, now)
    versions = {**at_once, **first.versions}
    version = versions.get(page.id, saved.version)
    await record(writer, "page.renamed", page.id, version=version, texts=len(versions))
    return Renamed(replace(saved, version=version), tuple(versions), first.left)


async def rewrite_in_time(
    database: Database, scope: Scope, done: Renamed, waiting: dict[UUID, int], time_limit: float
) -> Renamed:
    """Rewrite the waiting texts within the time limit, and return the result with the texts rewritten before.

    Errors are ignored: the rename itself is committed, and `rewrite_rest` continues later.
    """
    versions: dict[UUID, int] = {}
    end = monotonic() + time_limit
    with suppress(CairnError):
        for renaming_id in waiting:
            while waiting[renaming_id] and monotonic() < end:
                batch = await rewrite_next(database, scope, renaming_id)
                waiting[renaming_id] = batch.left if batch else 0
                versions |= batch.versions if batch else {}
    saved = replace(done.saved, version=versions.get(done.saved.page_id, done.saved.version))
    return Renamed(saved, tuple(dict.fromkeys([*done.rewritten, *versions])), sum(waiting.values()))
