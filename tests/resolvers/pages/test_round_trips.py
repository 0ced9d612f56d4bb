"""How often a write waits for Postgres: what does not depend on an answer goes together."""

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
from resolvers.pages.sections import patch_section
from resolvers.pages.upsert import upsert_page
from tests.postgres_proxy import Proxy
from tests.wiki import Wiki, check

MOST = 10
Work = Callable[[Database, Scope, UUID], Awaitable[object]]


class Trips(NamedTuple):
    """A database behind a proxy that counts; `page_id` is a page that nothing has been done to."""

    database: Database
    scope: Scope
    proxy: Proxy
    page_id: UUID


def draft(title: str) -> PageDraft:
    sections = [
        SectionDraft("See [[Kilns]] and [[Nothing]].", heading="Firing"),
        SectionDraft("See [[Clay]].", heading="Clay"),
    ]
    return PageDraft("topic", title, aliases=[f"{title} too", "Pots"], tags=["pottery", "craft"], sections=sections)


@pytest.fixture
async def trips(wiki: Wiki) -> AsyncIterator[Trips]:
    page_id = await fill(wiki)
    async with Proxy(wiki.database.dsn).open() as proxy:
        database = Database(proxy.dsn, size=1)
        await database.open()
        yield Trips(database, wiki.scope, proxy, page_id)
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


@pytest.mark.parametrize("name", WRITES)
async def test_a_page_is_written_in_few_round_trips(trips: Trips, wiki: Wiki, name: str) -> None:
    """The same write in two wikis: in the first it prepares its statements, for a trip each."""
    cold = await counted(trips, name)
    await check(wiki)
    other = await wiki.neighbour()
    warm = await counted(trips._replace(scope=other.scope, page_id=await fill(other)), name)
    print(f"{name}: {cold} cold, {warm} warm")
    assert warm <= MOST
    assert cold <= 2 * MOST


async def counted(trips: Trips, name: str) -> int:
    before = trips.proxy.trips
    await WRITES[name](trips.database, trips.scope, trips.page_id)
    return trips.proxy.trips - before


async def fill(wiki: Wiki) -> UUID:
    """Pages to link to, and so many that the words of one more are not counted at once; the last one's id."""
    for n in range(30):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Old {n}", body="About [[Clay]]."))
    for title in ("Kilns", "Clay"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title))
    return (await create_page(wiki.database, wiki.scope, draft("Pottery"))).page_id
