"""The number of round trips of a write: statements that do not depend on a result are sent together."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NamedTuple
from uuid import UUID

import pytest

from db.database import Database
from db.scope import Scope
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.aliases import add_alias
from resolvers.pages.edits import append_to_page, edit_page
from resolvers.pages.lifecycle import archive_page, create_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.renaming import rename_page
from resolvers.pages.sections import patch_section
from resolvers.pages.upsert import upsert_page
from tests.postgres_proxy import Proxy
from tests.wiki import Wiki, check_derived_rows

STATEMENTS_MAX = 12
STATEMENTS_WITH_OTHERS_MAX = 36
"""The limit for a write that also rewrites other pages: at 250 ms for a round trip it takes less than 10 seconds."""
Work = Callable[[Database, Scope, UUID], Awaitable[object]]


class Trips(NamedTuple):
    """A database behind a proxy that counts round trips; `page_id` is a page that was not changed yet."""

    database: Database
    scope: Scope
    proxy: Proxy
    page_id: UUID
    linked_id: UUID
    """A page to which every other page links."""


def draft(title: str) -> PageDraft:
    sections = [
        SectionDraft("See [[Kilns]] and [[Nothing]].", heading="Firing"),
        SectionDraft("See [[Clay]].", heading="Clay"),
    ]
    return PageDraft("topic", title, aliases=[f"{title} too", "Pots"], tags=["pottery", "craft"], sections=sections)


@pytest.fixture
async def trips(wiki: Wiki) -> AsyncIterator[Trips]:
    pages = await fill(wiki)
    async with Proxy(wiki.database.dsn).open() as proxy:
        database = Database(proxy.dsn, size=1)
        await database.open()
        yield Trips(database, wiki.scope, proxy, *pages)
        await database.close()


WRITES: dict[str, Work] = {
    "create": lambda database, scope, _: create_page(database, scope, draft("Glazes")),
    "create with a slug": lambda database, scope, _: create_page(
        database, scope, PageDraft("topic", "Glazes", slug="glaze", body="See [[Kilns]].")
    ),
    "create by upsert": lambda database, scope, _: upsert_page(database, scope, draft("Glazes")),
    "upsert": lambda database, scope, _: upsert_page(
        database, scope, PageDraft("topic", "Pottery", body="See [[Kilns]].", tags=["craft"])
    ),
    "edit": lambda database, scope, page_id: edit_page(
        database, scope, PageAddress(page_id=page_id), old_text="See [[Clay]].", new_text="See [[Old 1]]."
    ),
    "edit by slug": lambda database, scope, _: edit_page(
        database, scope, PageAddress(type="topic", slug="pottery"), old_text="[[Clay]]", new_text="[[Old 1]]"
    ),
    "append": lambda database, scope, page_id: append_to_page(
        database, scope, PageAddress(page_id=page_id), text="See [[Old 2]]."
    ),
    "update": lambda database, scope, page_id: update_page(
        database, scope, page_id, body="See [[Old 3]].", tags=["craft"], summary="Made of clay."
    ),
    "rename": lambda database, scope, page_id: update_page(
        database, scope, page_id, title="Ceramics", slug="ceramics", body="See [[Old 3]]."
    ),
    "section": lambda database, scope, page_id: patch_section(
        database, scope, page_id, section_slug="firing", body="See [[Old 4]]."
    ),
    "alias": lambda database, scope, page_id: add_alias(database, scope, page_id, name="Earthenware"),
    "archive": archive_page,
}
WRITES_WITH_OTHERS: dict[str, Callable[[Trips], Awaitable[object]]] = {
    "rename": lambda trips: rename_page(trips.database, trips.scope, trips.linked_id, title="Argil", slug="argil"),
    "merge": lambda trips: merge_pages(trips.database, trips.scope, trips.page_id, trips.linked_id),
    "merge the other way": lambda trips: merge_pages(trips.database, trips.scope, trips.linked_id, trips.page_id),
}


@pytest.mark.parametrize("name", WRITES)
async def test_a_page_is_written_in_few_round_trips(trips: Trips, wiki: Wiki, name: str) -> None:
    """The same write runs in two wikis: in the first it prepares its statements, with a round trip for each."""
    cold, warm = await counted(trips, wiki, lambda trips: WRITES[name](trips.database, trips.scope, trips.page_id))
    assert warm <= STATEMENTS_MAX
    assert cold <= 2 * STATEMENTS_MAX


@pytest.mark.parametrize("name", WRITES_WITH_OTHERS)
async def test_a_rename_or_merge_rewrites_linking_pages_in_few_round_trips(trips: Trips, wiki: Wiki, name: str) -> None:
    """Thirty pages link to the renamed or merged page, and their texts get its new name."""
    cold, warm = await counted(trips, wiki, WRITES_WITH_OTHERS[name])
    assert warm <= STATEMENTS_WITH_OTHERS_MAX
    assert cold <= 2 * STATEMENTS_WITH_OTHERS_MAX


async def counted(trips: Trips, wiki: Wiki, work: Callable[[Trips], Awaitable[object]]) -> tuple[int, int]:
    """Return the round trips of the work in this wiki, and of the same work in another wiki afterwards."""
    before = trips.proxy.trips
    await work(trips)
    cold = trips.proxy.trips - before
    await check_derived_rows(wiki)
    other = await wiki.neighbour()
    page_id, linked_id = await fill(other)
    before = trips.proxy.trips
    await work(trips._replace(scope=other.scope, page_id=page_id, linked_id=linked_id))
    warm = trips.proxy.trips - before
    print(f"{cold} cold, {warm} warm")
    return cold, warm


async def fill(wiki: Wiki) -> tuple[UUID, UUID]:
    """Create pages, so many that the words of one more are not counted at once. Return the last page, and the page to
    which every other page links."""
    for n in range(30):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Old {n}", body="About [[Clay]]."))
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kilns"))
    clay = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Clay"))
    last = await create_page(wiki.database, wiki.scope, draft("Pottery"))
    return last.page_id, clay.page_id
