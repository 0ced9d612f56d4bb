"""Many references at once, each with the reasons that assert it, and the hubness that follows from them."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from db.ids import new_id
from db.sql import statements

from ..transactions.writer import Writer

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


LINKS = statements("links")
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
