"""Clients that follow the changes of a wiki by position miss none and see none twice."""

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from db.scope import Role
from resolvers.context import Context
from resolvers.import_export.importing import import_path
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, archive_scope, create_page, delete_page, unarchive_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.sources.compile_requests import reset_cursor
from schema.root import make_engine
from tests.wiki import Wiki

ENGINE = make_engine()
CHANGES = """
query ($first: Int!, $after: String, $owner: ID) {
  wikiChanges(first: $first, after: $after, ownerId: $owner) {
    nodes { position pageId state page { version status title } }
    pageInfo { endCursor hasNextPage }
  }
}"""


class Follower:
    """A client that keeps a copy of a wiki and the cursor after the last change that it read."""

    def __init__(self, wiki: Wiki, size: int = 3) -> None:
        self.wiki, self.size = wiki, size
        self.cursor: str | None = None
        self.copy: dict[str, tuple[Any, ...]] = {}

    async def read_changes(self, **variables: Any) -> Any:
        context = Context(self.wiki.database, self.wiki.scope)
        answer = orjson.loads((await ENGINE.execute(CHANGES, variables, None, context)).body)
        assert "errors" not in answer, answer
        return answer["data"]["wikiChanges"]

    async def follow(self) -> list[str]:
        """Follow the changes, and return the ids of the changed pages."""
        page_ids: list[str] = []
        while True:
            found = await self.read_changes(first=self.size, after=self.cursor)
            for change in found["nodes"]:
                page_ids.append(change["pageId"])
                if change["state"] == "DELETED":
                    assert change["page"] is None
                    self.copy.pop(change["pageId"], None)
                else:
                    page = change["page"]
                    assert page["status"] == change["state"]
                    self.copy[change["pageId"]] = (page["title"], page["version"], page["status"].lower())
            self.cursor = found["pageInfo"]["endCursor"] or self.cursor
            if not found["pageInfo"]["hasNextPage"]:
                return page_ids

    async def is_current(self) -> bool:
        pages = await self.wiki.rows("pages")
        return self.copy == {str(page["id"]): (page["title"], page["version"], page["status"]) for page in pages}


@pytest.fixture
def follower(wiki: Wiki) -> Follower:
    return Follower(wiki)


async def create(wiki: Wiki, title: str, **more: Any) -> Any:
    return (await create_page(wiki.database, wiki.scope, PageDraft("topic", title, **more))).page_id


async def test_every_kind_of_change_is_reported_once(wiki: Wiki, follower: Follower) -> None:
    database, scope = wiki.database, wiki.scope
    a, b, c = [await create(wiki, title) for title in "ABC"]
    assert await follower.follow() == [str(a), str(b), str(c)]
    changes: list[tuple[Any, list[Any]]] = [
        (lambda: update_page(database, scope, b, summary="x"), [b]),
        (lambda: add_alias(database, scope, a, name="Alpha"), [a]),
        (lambda: link_pages(database, scope, c, a), [c]),
        (lambda: archive_page(database, scope, b), [b]),
        (lambda: unarchive_page(database, scope, b), [b]),
        (lambda: set_parent(database, scope, c, parent_id=a), [c]),
        (lambda: delete_page(database, scope, a), [c, a]),
        (lambda: update_page(database, scope, b, summary="x"), []),
    ]
    for change, expected in changes:
        await change()
        assert sorted(await follower.follow()) == sorted(map(str, expected))
        assert await follower.is_current()
    await merge_pages(database, scope, c, b)
    assert set(await follower.follow()) == {str(b), str(c)}
    await archive_scope(database, scope)
    assert await follower.follow() == [str(b)]
    assert await follower.is_current()
    assert await follower.follow() == []


async def test_pages_imported_with_old_dates_are_reported_as_changes(
    wiki: Wiki, follower: Follower, tmp_path: Path
) -> None:
    await create(wiki, "Here")
    await follower.follow()
    for n in range(7):
        (tmp_path / f"{n}.md").write_text(f"---\ntitle: Old {n}\nupdated: 2001-02-0{n + 1}\n---\nText.\n")
    await import_path(wiki.database, wiki.scope, tmp_path)
    assert len(await follower.follow()) == 7
    assert await follower.is_current()
    dates = {page["updated_at"] for page in await wiki.rows("pages")}
    assert datetime(2001, 2, 3, tzinfo=UTC) in dates
    (tmp_path / "3.md").write_text("---\ntitle: Old 3\nupdated: 2001-02-03\n---\nOther.\n")
    await import_path(wiki.database, wiki.scope, tmp_path)
    assert len(await follower.follow()) == 1
    assert await follower.is_current()


async def test_pages_archived_by_a_reset_are_reported_as_changes(wiki: Wiki, follower: Follower) -> None:
    for title in "ABCDE":
        await create(wiki, title)
    await follower.follow()
    await reset_cursor(wiki.database, wiki.scope, force=True)
    assert len(await follower.follow()) == 5
    assert {status for _, _, status in follower.copy.values()} == {"archived"}


async def test_a_client_that_follows_during_concurrent_writes_misses_no_change(wiki: Wiki, follower: Follower) -> None:
    rng = random.Random(5)
    ids = [await create(wiki, f"Page {n}") for n in range(8)]
    writing = True

    async def write(number: int) -> None:
        for turn in range(4):
            page_id = rng.choice(ids)
            change = rng.choice([archive_page, unarchive_page, update_page])
            more = {"summary": f"{number}.{turn}"} if change is update_page else {}
            await change(wiki.database, wiki.scope, page_id, **more)

    async def follow() -> None:
        while writing:
            await follower.follow()

    following = asyncio.create_task(follow())
    await asyncio.gather(*(write(number) for number in range(32)))
    writing = False
    await following
    await follower.follow()
    assert await follower.is_current()
    positions = [row["position"] for row in await wiki.rows("page_positions", "position")]
    assert len(positions) == len(set(positions)) == len(ids)


async def test_changes_are_reported_only_to_callers_who_may_read_the_wiki(wiki: Wiki) -> None:
    await create(wiki, "Mine")
    neighbour = await wiki.neighbour(Role.MEMBER)
    assert (await Follower(neighbour).read_changes(first=9))["nodes"] == []
    assert (await Follower(neighbour).read_changes(first=9, owner=str(wiki.scope.owner_id)))["nodes"] == []


@pytest.fixture(autouse=True)
async def deleted_pages_are_forgotten(wiki: Wiki) -> AsyncIterator[None]:
    yield
    await wiki.connection.execute("DELETE FROM page_positions WHERE tenant_id = $1", wiki.scope.tenant_id)
