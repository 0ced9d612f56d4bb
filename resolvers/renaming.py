"""A page under another name, and the texts that call it by the old one.

What is not rewritten goes on meaning the page: its old slug and its old title stay names of it.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from uuid import UUID

from content.limits import EDIT_SUMMARY
from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Scope

from . import checks
from .activity import record
from .errors import CairnError
from .page_slugs import check_free
from .records import Saved
from .renamed_links import find_calling, find_renamings, rewrite_calling, rewrite_first, rewrite_next
from .revisions import save
from .unset import UNSET, Given
from .writing import check_version, writing_page

PATIENCE = 5.0
"""Seconds for which a caller is kept waiting while the texts beyond the first ones are rewritten."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """`rewritten` pages have their links spelled anew; `left` texts are yet to be looked at, by the service."""

    saved: Saved
    rewritten: tuple[UUID, ...] = ()
    left: int = 0


async def rename_page(
    database: Database,
    scope: Scope,
    page_id: UUID,
    *,
    title: Given[str] = UNSET,
    slug: Given[str] = UNSET,
    expected_version: int | None = None,
    summary: str | None = None,
    patience: float | None = None,
) -> Renamed:
    """Another title, another slug, or both; and the new name in the links of texts that say the old one.

    The name and the first texts are one transaction. The others follow in transactions of their own: here, as long as
    `patience` (seconds) lasts, and then by `renamed_links.rewrite_rest`. The same rename again goes on with them.
    """
    title = title if title is UNSET else checks.title(title)
    slug = slug if slug is UNSET else checks.slug(slug)
    summary = checks.optional(summary, "summary", EDIT_SUMMARY.most)
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        after = replace(page, title=page.title if title is UNSET else title, slug=page.slug if slug is UNSET else slug)
        if after.slug != page.slug:
            await check_free(writer, page.type, after.slug, but=page)
        calling = await find_calling(writer, page) if after.slug != page.slug else []
        saved = await save(writer, page, after, edit_summary=summary)
        done = Renamed(saved)
        if saved.changed:
            now = replace(after, version=saved.version)
            at_once = await rewrite_calling(writer, calling, page, now)
            first = await rewrite_first(writer, page, now)
            versions = {**at_once, **first.versions}
            version = versions.get(page.id, saved.version)
            done = Renamed(replace(saved, version=version), tuple(versions), first.left)
            await record(writer, "page.renamed", page.id, version=version, texts=len(versions))
        waiting = await find_renamings(writer, page.id)
        scope = writer.scope
    if isinstance(database, OneTransaction):
        return replace(done, left=sum(waiting.values()))
    return await rewritten(database, scope, done, waiting, PATIENCE if patience is None else patience)


async def rewritten(
    database: Database, scope: Scope, done: Renamed, waiting: dict[UUID, int], patience: float
) -> Renamed:
    """What was done, and as much of what waits as there is time for. The name itself is written already."""
    versions: dict[UUID, int] = {}
    end = monotonic() + patience
    with suppress(CairnError):
        for renaming_id in waiting:
            while waiting[renaming_id] and monotonic() < end:
                some = await rewrite_next(database, scope, renaming_id)
                waiting[renaming_id] = some.left if some else 0
                versions |= some.versions if some else {}
    saved = replace(done.saved, version=versions.get(done.saved.page_id, done.saved.version))
    return Renamed(saved, tuple(dict.fromkeys([*done.rewritten, *versions])), sum(waiting.values()))
