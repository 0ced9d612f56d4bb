"""What Postgres thinks of finding pages, where it expects thousands because it cannot see what is asked."""

import pytest

from db.explaining import generic_plan
from resolvers.search.ranking_query import RANKING
from tests.wiki import Wiki

BY_INDEX = "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off"  # as in a large database


@pytest.mark.parametrize("name", ["rank_pages", "rank_hits", "rank_pages_by_topic", "count_pages"])
async def test_nothing_is_looked_up_for_each_page_that_is_expected(wiki: Wiki, name: str) -> None:
    """It seems so costly, in a million pages, that the whole primary key is read to expect fewer."""
    async with wiki.look.transaction():
        await wiki.look.execute(BY_INDEX)
        found = filters(await generic_plan(wiki.look, RANKING[name].sql))
    assert len(found) >= 3
    assert not [one for one in found if "SubPlan" in one]


def filters(plan: str) -> list[str]:
    """What is asked of each page that the index of words finds."""
    scans = plan.split("Bitmap Heap Scan on search_pages")[1:]
    return [line for scan in scans if (line := first_filter(scan))]


def first_filter(scan: str) -> str:
    return next((line.strip() for line in scan.splitlines() if line.strip().startswith("Filter:")), "")
