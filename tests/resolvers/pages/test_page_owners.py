"""The owner of a page is looked up once; its existence and the caller's permission are checked on each call."""

from collections.abc import AsyncIterator

import pytest

from db.ids import new_id
from db.scope import Role
from db.sql import statements
from resolvers.auth.owners import Grant, grant, revoke
from resolvers.errors import NotFound
from resolvers.links.links import link_pages, unlink_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page, delete_page, unarchive_page
from tests.recording_database import RecordingDatabase, recording_database
from tests.wiki import Wiki, close_wiki, open_wiki

FIND_OWNER = statements("pages/pages")["find_owner"].sql


@pytest.fixture
async def listener(wiki: Wiki, dsn: str) -> AsyncIterator[RecordingDatabase]:
    async with recording_database(dsn) as database:
        yield database


async def create(wiki: Wiki, title: str):
    return (await create_page(wiki.database, wiki.scope, PageDraft("topic", title))).page_id


async def count_lookups(database: RecordingDatabase) -> int:
    return sum(statement.sql == FIND_OWNER for statement in await database.sent_statements())


async def test_the_owner_of_a_page_is_looked_up_once(wiki: Wiki, listener: RecordingDatabase) -> None:
    page_id = await create(wiki, "Austin")
    await archive_page(listener, wiki.scope, page_id)
    assert await count_lookups(listener) == 1
    await unarchive_page(listener, wiki.scope, page_id)
    assert await count_lookups(listener) == 1


async def test_a_page_that_was_deleted_after_the_lookup_is_not_found(wiki: Wiki) -> None:
    page_id, other = await create(wiki, "Austin"), await create(wiki, "Texas")
    await archive_page(wiki.database, wiki.scope, page_id)
    await delete_page(wiki.database, wiki.with_role(Role.ADMIN).scope, page_id)
    for write in (
        archive_page(wiki.database, wiki.scope, page_id),
        link_pages(wiki.database, wiki.scope, page_id, other),
        unlink_pages(wiki.database, wiki.scope, page_id, other),
        unlink_pages(wiki.database, wiki.scope, other, page_id),
        link_pages(wiki.database, wiki.scope, other, new_id()),
    ):
        with pytest.raises(NotFound, match="no such page"):
            await write


async def test_permissions_are_checked_on_each_call(wiki: Wiki) -> None:
    page_id, guest = await create(wiki, "Austin"), await wiki.neighbour(Role.MEMBER)
    place = {"owner_id": wiki.scope.owner_id, "grantee_id": guest.scope.owner_id}
    await grant(wiki.database, wiki.scope.tenant_id, **place, role=Grant.MEMBER)
    await archive_page(wiki.database, guest.scope, page_id)
    await revoke(wiki.database, wiki.scope.tenant_id, **place)
    with pytest.raises(NotFound, match="no such page"):
        await unarchive_page(wiki.database, guest.scope, page_id)


async def test_a_cached_lookup_is_not_shared_with_another_database(dsn: str) -> None:
    first = await open_wiki(dsn)
    page_id = await create(first, "Austin")
    await archive_page(first.database, first.scope, page_id)
    second = await open_wiki(dsn)
    with pytest.raises(NotFound, match="no such page"):
        await archive_page(second.database, second.scope, page_id)
    await close_wiki(first)
    await close_wiki(second)
