"""Pages that a page is said to be related to, whatever its text says."""

from collections.abc import Sequence
from uuid import UUID

from db.ids import new_id
from db.sql import statements
from db.tables import PAGE_TYPES

from ..errors import BadInput
from ..model.lookup import SharedSlug, find_slugs, meant
from ..transactions.writer import Writer
from .references import refresh_hubness

LINKS = statements("links")
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


async def find_each(writer: Writer, page_id: UUID, names: Sequence[str]) -> list[UUID]:
    """The pages of these slugs. Raises BadInput for one that is nobody's, or the page's own."""
    parted = [parts(name) for name in names]
    rows = await find_slugs(writer, writer.scope, [slug for _, slug in parted])
    found: list[UUID] = []
    for n, (type, slug) in enumerate(parted):
        try:
            other = meant(rows, slug, type)
        except SharedSlug as error:
            raise BadInput(f"{error.message} Write it as TYPE/SLUG here.", f"related.{n}") from None
        if other is None or other.page_id == page_id:
            raise BadInput(f'This wiki has no other page "{names[n][:100]}" to be related to.', f"related.{n}")
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
