"""Pages that a page is said to be related to, whatever its text says."""

from collections.abc import Sequence
from uuid import UUID

from db.ids import new_id
from db.sql import statements
from db.tables import PAGE_TYPES

from .addresses import SharedSlug, find_slugs, meant
from .errors import BadInput
from .hubness import refresh_hubness
from .writer import Writer

LINKS = statements("links")
REASON = "related"


async def relate(writer: Writer, page_id: UUID, names: Sequence[str]) -> bool:
    """Link the page to those of these slugs; whether anything is new. Raises BadInput for one that is nobody's."""
    if not names:
        return False
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
    related = sorted(set(found))
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
