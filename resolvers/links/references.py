"""Write many references with their reasons at once, and the hubness scores that depend on them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from content.limits import SLUG
from content.markdown.citations import CitationMark
from content.names import compose
from db.ids import new_id
from db.sql import statements
from db.tables import PAGE_TYPES

from ..errors import BadInput
from ..model.lookup import SharedSlug, best_match, find_slugs
from ..model.page_fields import PAGE_REFERENCES
from ..transactions.writer import Writer

PAGES = statements("pages/pages")
CO_MENTION = "co_mention:"
"""The prefix of the reason of a link that follows from one source. The id of the source follows it."""
EVIDENCE = re.compile(rf"{CO_MENTION}(?:([a-z_]+)@(\d{{1,9}})/(.+)|([0-9a-f-]{{36}}))", re.DOTALL)


def evidence(reason: str) -> CitationMark | UUID | None:
    """Return the source that the reason of a link names: its id or, in an export, its citation mark."""
    found = EVIDENCE.fullmatch(reason)
    if found is None:
        return None
    kind, version, ref, id = found.groups()
    return UUID(id) if id else CitationMark(ref, kind, version=int(version))


def refresh_hubness(writer: Writer, page_ids: Iterable[UUID | None]) -> None:
    """Mark the pages, so that `finish` of the transaction computes their hubness scores again."""
    writer.stale_hubness.update(page_id for page_id in page_ids if page_id)


async def refresh_all_hubness(writer: Writer) -> None:
    """Mark all pages of the wiki as `refresh_hubness` does."""
    refresh_hubness(writer, [row["id"] for row in await writer.all(PAGES["find_all"])])


async def find_hubness_dependents(writer: Writer, *page_ids: UUID) -> list[UUID]:
    """Return the pages whose hubness scores count these pages: their parents and the targets of their links."""
    return [row["id"] for row in await writer.all(PAGES["find_dependants"], page_ids=page_ids)]


LINKS, TARGETS = statements("links/links"), statements("links/targets")
Reference = tuple[UUID, UUID, str]


async def assert_references(writer: Writer, asserted: Iterable[Reference]) -> Counter[str]:
    """Add reasons to references, given as (from, to, reason). Return to how many references each reason was added.

    Runs two statements for any number of references.
    """
    wanted: dict[tuple[UUID, UUID], dict[str, None]] = defaultdict(dict)
    for start, end, reason in asserted:
        wanted[start, end][reason] = None
    if not wanted:
        return Counter()
    rows = await writer.all(
        LINKS["find_existing"], from_page_ids=[start for start, _ in wanted], to_page_ids=[end for _, end in wanted]
    )
    existing = {(row["from_page_id"], row["to_page_id"]): frozenset(row["reasons"]) for row in rows}
    added: dict[tuple[UUID, UUID], list[str]] = {}
    for pair, reasons in wanted.items():
        if new := [reason for reason in reasons if reason not in existing.get(pair, ())]:
            added[pair] = new
    if added:
        links: list[dict[str, Any]] = [
            {"id": str(new_id()), "from_page_id": str(start), "to_page_id": str(end), "reasons": reasons}
            for (start, end), reasons in added.items()
        ]
        await writer.run(LINKS["write_references"], links=links)
        refresh_hubness(writer, [pair[1] for pair in added if pair not in existing])
    return Counter(reason for reasons in added.values() for reason in reasons)


REASON = "related"


async def link_related(writer: Writer, page_id: UUID, names: Sequence[str]) -> bool:
    """Link the page to the pages with these names. Return whether a link is new. Raises BadInput for unknown names."""
    if not names:
        return False
    return await write_related_links(writer, page_id, await find_named_pages(writer, page_id, names))


async def replace_related(writer: Writer, page_id: UUID, names: Sequence[str]) -> bool:
    """Make exactly these pages the related pages of a page. Return whether anything changed.

    Links that the page's text makes stay. Raises BadInput for unknown names.
    """
    wanted = set(await find_named_pages(writer, page_id, names) if names else ())
    existing = {row["to_page_id"] for row in await writer.all(LINKS["find_related"], page_id=page_id)}
    if gone := sorted(existing - wanted):
        await writer.run(LINKS["delete_related"], page_id=page_id, to_page_ids=gone)
        await writer.run(LINKS["leave_to_text"], page_id=page_id, to_page_ids=gone)
        await drop_related(writer, page_id, gone)
        writer.touched.add(page_id)
        refresh_hubness(writer, gone)
    is_linked = bool(wanted - existing) and await write_related_links(writer, page_id, sorted(wanted - existing))
    return is_linked or bool(gone)


async def drop_related(writer: Writer, page_id: UUID, to_page_ids: Sequence[UUID]) -> None:
    """Delete the relations to other pages that a page's file names, because a caller has removed the links."""
    await writer.run(TARGETS["drop_related"], from_page_id=page_id, to_page_ids=to_page_ids)


async def check_page_names(writer: Writer, page_id: UUID, fields: Mapping[str, Any]) -> None:
    """Check that the pages named in the fields of a page exist in the wiki. Raises BadInput."""
    for field in PAGE_REFERENCES:
        if fields.get(field):
            await find_named_pages(writer, page_id, fields[field], field)


async def find_named_pages(writer: Writer, page_id: UUID, names: Sequence[str], field: str = REASON) -> list[UUID]:
    """Return the ids of the pages with these names (SLUG or TYPE/SLUG).

    Raises BadInput for a name of no page, of several pages, or of the page itself.
    """
    parted = [split_name(name) for name in names]
    rows = await find_slugs(writer, writer.scope, [slug for _, slug in parted])
    found: list[UUID] = []
    for n, (type, slug) in enumerate(parted):
        try:
            other = best_match(rows, slug, type)
        except SharedSlug as error:
            raise BadInput(f"{error.message} Write it as TYPE/SLUG here.", f"{field}.{n}") from None
        if other is None or other.page_id == page_id:
            raise BadInput(f'This wiki has no other page "{names[n][:100]}".', f"{field}.{n}")
        found.append(other.page_id)
    return found


async def write_related_links(writer: Writer, page_id: UUID, page_ids: Sequence[UUID]) -> bool:
    """Write the links to related pages. Return whether any of them is new."""
    related = sorted(set(page_ids))
    written = await writer.run(
        LINKS["write_links"],
        ids=[new_id() for _ in related],
        from_page_ids=[page_id] * len(related),
        to_page_ids=related,
        kinds=["reference"] * len(related),
        reason=REASON,
    )
    if written:
        writer.touched.add(page_id)
        refresh_hubness(writer, related)
    return bool(written)


def split_name(name: str) -> tuple[str | None, str]:
    """Return the type and slug of a name such as `entity/austin`; for a slug alone the type is None."""
    type, slash, slug = name.partition("/")
    return (type, compose(slug, SLUG)) if slash and type in PAGE_TYPES else (None, compose(name, SLUG))
