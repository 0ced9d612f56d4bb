"""Plans of the search statements, and the thread on which a query is parsed."""

import threading

import pytest

from content.search import words
from db.explaining import generic_plan
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.search.ranking_query import RANKING
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from resolvers.search.source_search import SourceSearchRequest, search_sources
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.wiki import Wiki

BY_INDEX = "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off"  # as in a large database


@pytest.mark.parametrize("name", ["rank_pages", "rank_hits", "rank_pages_by_topic", "count_pages"])
async def test_search_statements_filter_without_subplans(wiki: Wiki, name: str) -> None:
    """With a million pages the planner would read the whole primary key to estimate fewer rows."""
    async with wiki.connection.transaction():
        await wiki.connection.execute(BY_INDEX)
        found = filters(await generic_plan(wiki.connection, RANKING[name].sql))
    assert len(found) >= 3
    assert not [line for line in found if "SubPlan" in line]


def filters(plan: str) -> list[str]:
    """Return the filters on each page that the index of words finds."""
    scans = plan.split("Bitmap Heap Scan on search_pages")[1:]
    return [line for scan in scans if (line := first_filter(scan))]


def first_filter(scan: str) -> str:
    return next((line.strip() for line in scan.splitlines() if line.strip().startswith("Filter:")), "")


async def test_a_long_query_is_not_parsed_on_the_event_loop(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()

    def note_thread(run: str) -> list[str]:
        threads.add(threading.get_ident())
        return [run.lower()]

    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kiln", body="It cracked."))
    await retain_sources(wiki.database, wiki.scope, [SourceDraft("document", "kiln", "The kiln cracked.")])
    monkeypatch.setattr(words, "analyse", note_thread)
    long = "kiln " + " ".join(f'"phrase {n}"' for n in range(700))
    await search(wiki.database, wiki.scope, SearchRequest(long))
    await search_sources(wiki.database, wiki.scope, SourceSearchRequest(long))
    assert threads
    assert threading.get_ident() not in threads
