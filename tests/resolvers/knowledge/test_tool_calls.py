"""Counting tool calls: bounded, by day, and correct with concurrent counts."""

import asyncio
from datetime import timedelta

from db.ids import new_id
from resolvers.knowledge.tool_calls import NO_PAGE, count_call, hot_index, today
from tests.wiki import Wiki


async def test_concurrent_calls_are_all_counted(wiki: Wiki) -> None:
    pages = [new_id() for _ in range(5)]
    calls = (count_call(wiki.database, wiki.scope, "wiki_read", pages[:: 1 - 2 * (n % 2)]) for n in range(20))
    await asyncio.gather(*calls)
    rows = await wiki.rows("tool_calls", "page_id")
    assert {row["page_id"]: row["calls"] for row in rows} == dict.fromkeys([NO_PAGE, *pages], 20)


async def test_days_outside_the_reported_period_are_deleted(wiki: Wiki) -> None:
    await count_call(wiki.database, wiki.scope, "wiki_read")
    await wiki.connection.execute("UPDATE tool_calls SET day = $1", today() - timedelta(days=31))
    assert await hot_index(wiki.database, wiki.scope, wiki.scope.owner_id) == []
    await count_call(wiki.database, wiki.scope, "wiki_read")
    assert [row["day"] for row in await wiki.rows("tool_calls", "day")] == [today()]
