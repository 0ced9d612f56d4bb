"""Many references at once, each with the reasons that assert it, and the hubness that follows from them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from content.markdown.citations import CitationMark
from db.ids import new_id
from db.sql import statements
from db.tables import PAGE_TYPES

from ..errors import BadInput
from ..model.lookup import SharedSlug, best_match, find_slugs
from ..model.page_fields import OF_PAGES
from ..transactions.writer import Writer

PAGES = statements("pages/pages")
CO_MENTION = "co_mention:"
"""How the reason of a link begins that follows from one source, whose id comes behind."""
EVIDENCE = re.compile(rf"{CO_MENTION}(?:([a-z_]+)@(\d{{1,9}})/(.+)|([0-9a-f-]{{36}}))", re.DOTALL)


def evidence(reason: str) -> CitationMark | UUID | None:
    """Return the source that a reason of a link names: as an export has it by ref, as a wiki has it by id."""
    found = EVIDENCE.fullmatch(reason)
    if found is None:
        return None
    kind, version, ref, id = found.groups()
    return UUID(id) if id else CitationMark(ref, kind, version=int(version))


def refresh_hubness(writer: Writer, page_ids: Iterable[UUID | None]) -> None:
    """Count again for these pages once all is written: see closing."""
    writer.counted.update(page_id for page_id in page_ids if page_id)


async def refresh_all_hubness(writer: Writer) -> None:
    """Count again for every page of the wiki."""
    refresh_hubness(writer, [row["id"] for row in await writer.all(PAGES["find_all"])])


async def dependants(writer: Writer, *page_ids: UUID) -> list[UUID]:
    """The pages whose hubness counts these."""
    return [row["id"] for row in await writer.all(PAGES["find_dependants"], page_ids=page_ids)]


LINKS = statements("links/links")
Reference = tuple[UUID, UUID, str]


async def assert_references(writer: Writer, asserted: Iterable[Reference]) -> Counter[str]:
    """(from, to, reason) of each, in three statements; how many references got a reason that they did not have."""
    wanted: dict[tuple[UUID, UUID], dict[str, None]] = defaultdict(dict)
    for start, end, reason in asserted:
        wanted[start, end][reason] = None
    if not wanted:
        return Counter()
    rows = await writer.all(
        LINKS["find_standing"], from_page_ids=[start for start, _ in wanted], to_page_ids=[end for _, end in wanted]
    )
    standing = {(row["from_page_id"], row["to_page_id"]): frozenset(row["reasons"]) for row in rows}
    fresh: dict[tuple[UUID, UUID], list[str]] = {}
    for pair, reasons in wanted.items():
        if new := [reason for reason in reasons if reason not in standing.get(pair, ())]:
            fresh[pair] = new
    if fresh:
        links: list[dict[str, Any]] = [
            {"id": str(new_id()), "from_page_id": str(start), "to_page_id": str(end), "reasons": reasons}
            for (start, end), reasons in fresh.items()
        ]
        await writer.run(LINKS["write_references"], links=links)
        refresh_hubness(writer, [pair[1] for pair in fresh if pair not in standing])
    return Counter(reason for reasons in fresh.values() for reason in reasons)


REASON = "related"


async def relate(writer: Writer, page_id: UUID, names: Sequence[str]) -> bool:
    """Link the page to those of these slugs; whether anything is new. Raises BadInput for one that is nobody's."""
    if not names:
        return False
    return await link(writer, page_id, await find_each(writer, page_id, names))


async def replace_related(writer: Writer, page_id: UUID, names: Sequence[str]) -> bool:
    """Relate the page to exactly these; whether that changes anything. What its text says stays linked."""
    wanted = set(await find_each(writer, page_id, names) if names else ())
    standing = {row["to_page_id"] for row in await writer.all(LINKS["find_related"], page_id=page_id)}
    if gone := sorted(standing - wanted):
        await writer.run(LINKS["delete_related"], page_id=page_id, to_page_ids=gone)
        await writer.run(LINKS["leave_to_text"], page_id=page_id, to_page_ids=gone)
        writer.touched.add(page_id)
        refresh_hubness(writer, gone)
    is_linked = bool(wanted - standing) and await link(writer, page_id, sorted(wanted - standing))
    return is_linked or bool(gone)


async def check_named(writer: Writer, page_id: UUID, fields: Mapping[str, Any]) -> None:
    """Refuse fields of a page that name pages which the wiki does not have. Raises BadInput."""
    for field in OF_PAGES:
        if fields.get(field):
            await find_each(writer, page_id, fields[field], field)


async def find_each(writer: Writer, page_id: UUID, names: Sequence[str], field: str = REASON) -> list[UUID]:
    """The pages of these slugs. Raises BadInput for one that is nobody's, or the page's own."""
    parted = [parts(name) for name in names]
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


async def link(writer: Writer, page_id: UUID, page_ids: Sequence[UUID]) -> bool:
    """Write the links to related pages; whether any of them is new."""
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


def parts(name: str) -> tuple[str | None, str]:
    """Type and slug of `entity/austin`; of any type without the first."""
    type, slash, slug = name.partition("/")
    return (type, slug) if slash and type in PAGE_TYPES else (None, name)
