"""How much of a hub a page is: the inbound references and children that can be seen, and what its sections rest on."""

from collections.abc import Iterable
from uuid import UUID

from db.sql import statements

from .writer import Writer

PAGES = statements("pages")


def refresh_hubness(writer: Writer, page_ids: Iterable[UUID | None]) -> None:
    """Count again for these pages once all is written: see closing."""
    writer.counted.update(page_id for page_id in page_ids if page_id)


async def refresh_all_hubness(writer: Writer) -> None:
    """Count again for every page of the wiki."""
    refresh_hubness(writer, [row["id"] for row in await writer.all(PAGES["find_all"])])


async def dependants(writer: Writer, *page_ids: UUID) -> list[UUID]:
    """The pages whose hubness counts these."""
    return [row["id"] for row in await writer.all(PAGES["find_dependants"], page_ids=page_ids)]
