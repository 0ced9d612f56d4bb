"""The word counts of a wiki match its pages, and the number of uncounted changes is bounded."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any
from uuid import UUID

import pytest

from content.search.words import ANALYSER
from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias, remove_alias
from resolvers.pages.lifecycle import archive_page, create_page, delete_page, unarchive_page, update_page
from resolvers.search.lexemes import PENDING_MAX, SHARE, fold, fold_when_due, pending_limit
from resolvers.search.reindexing import reindex
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from resolvers.transactions.transaction import writing
from tests.wiki import Wiki

SPEECH = (
    "harbour",
    "ferry",
    "tide",
    "rope",
    "crane",
    "gull",
    "salt",
    "anchor",
    "mast",
    "keel",
    "storm",
    "pier",
    "buoy",
)


class Crew:
    """Performs random operations in a wiki, the same for the same seed."""

    def __init__(self, wiki: Wiki, seed: int) -> None:
        self.wiki, self.dice, self.pages = wiki, Random(seed), list[UUID]()
        self.name = f"w{seed}"

    async def work(self, steps: int) -> None:
        for step in range(steps):
            await self.step(step)

    async def step(self, step: int) -> None:
        others = (self.edit, self.alias, self.archive, self.restore, self.delete) if len(self.pages) > 3 else ()
        await self.dice.choice([self.create, *others])(step)

    async def create(self, step: int) -> None:
        draft = PageDraft("topic", f"{self.name} {step} {self.words(2)}", body=self.words(12), tags=[self.words(1)])
        self.pages.append((await create_page(self.wiki.database, self.wiki.scope, draft)).page_id)

    async def edit(self, step: int) -> None:
        await update_page(self.wiki.database, self.wiki.scope, self.page, body=self.words(12), summary=self.words(3))

    async def alias(self, step: int) -> None:
        await add_alias(self.wiki.database, self.wiki.scope, self.page, name=f"{self.name} {self.words(2)}")

    async def archive(self, step: int) -> None:
        await archive_page(self.wiki.database, self.wiki.scope, self.page)

    async def restore(self, step: int) -> None:
        await unarchive_page(self.wiki.database, self.wiki.scope, self.page)

    async def delete(self, step: int) -> None:
        await delete_page(self.wiki.database, self.wiki.scope, self.pages.pop(self.dice.randrange(len(self.pages))))

    @property
    def page(self) -> UUID:
        return self.dice.choice(self.pages)

    def words(self, limit: int) -> str:
        return " ".join(self.dice.choices(SPEECH, k=self.dice.randint(1, limit)))


async def check_pending(wiki: Wiki) -> int:
    """Return how many pages wait to be counted, and check that it is within the limit."""
    pages, waiting = await wiki.connection.fetchrow(
        """
        SELECT (SELECT count(*) FROM search_pages WHERE tenant_id = $1 AND owner_id = $2),
               (SELECT count(DISTINCT id) FROM search_changes WHERE tenant_id = $1 AND owner_id = $2)
        """,
        wiki.scope.tenant_id,
        wiki.scope.owner_id,
    )
    assert waiting <= pending_limit(pages)
    return waiting


async def check_counted(wiki: Wiki) -> None:
    """Fold the pending changes, and check the counts of lexemes, pages and words against the rows."""
    async with writing(wiki.database, wiki.scope) as writer:
        await fold(writer, ANALYSER)
    sql = """
        SELECT substr(lexeme, 2), count(*) FROM search_pages, unnest(tsv)
        WHERE tenant_id = $1 AND owner_id = $2 AND cardinality(positions) > 0 GROUP BY lexeme
    """
    scope = (wiki.scope.tenant_id, wiki.scope.owner_id)
    assert await wiki.counts() == dict(await wiki.connection.fetch(sql, *scope))
    rows = await wiki.rows("search_pages", "page_id")
    index = await wiki.row("search_scopes")
    assert (index["pages"], index["words"]) == (len(rows), sum(row["words"] for row in rows))
    assert await wiki.rows("search_changes") == []


@pytest.mark.parametrize("seed", range(4))
async def test_random_writes_are_counted_within_the_pending_limit(wiki: Wiki, seed: int) -> None:
    crew = Crew(wiki, seed)
    for step in range(60):
        await crew.step(step)
        await check_pending(wiki)
    await check_counted(wiki)


async def test_a_larger_wiki_has_a_larger_pending_limit(wiki: Wiki) -> None:
    crew = Crew(wiki, 7)
    limit = 0
    for step in range(3 * SHARE):
        await crew.create(step)
        limit = max(limit, await check_pending(wiki))
    assert limit == 2, "of 29 pages"
    for step in range(2 * SHARE):
        await crew.delete(step)
        await check_pending(wiki)
    await crew.edit(0)
    assert await check_pending(wiki) <= pending_limit(SHARE)
    await check_counted(wiki)


async def test_writes_of_eight_concurrent_writers_are_counted(wiki: Wiki) -> None:
    crews = [Crew(wiki, seed) for seed in range(8)]
    await asyncio.gather(*(crew.work(12) for crew in crews))
    await check_pending(wiki)
    await check_counted(wiki)


async def test_writes_in_several_wikis_are_counted_separately(wiki: Wiki) -> None:
    wikis = [wiki, *[await wiki.neighbour() for _ in range(3)]]
    await asyncio.gather(*(Crew(each, seed).work(12) for seed in range(2) for each in wikis))
    for each in wikis:
        await check_pending(each)
        await check_counted(each)


@pytest.mark.parametrize(("pages", "waiting"), [(0, 0), (9, 0), (10, 1), (1_000, 100), (10**6, PENDING_MAX)])
def test_the_pending_limit_grows_with_the_wiki(pages: int, waiting: int) -> None:
    assert pending_limit(pages) == waiting


@pytest.mark.parametrize(("waiting", "folded"), [(2, 0), (3, 1)])
async def test_changes_are_folded_beyond_the_pending_limit(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch, waiting: int, folded: int
) -> None:
    folds: list[Any] = []

    async def note_fold(*arguments: Any) -> None:
        folds.append(arguments)

    monkeypatch.setattr("resolvers.search.lexemes.fold", note_fold)
    async with writing(wiki.database, wiki.scope) as writer:
        await fold_when_due(writer, 1, pages=2 * SHARE, waiting=waiting)
    assert len(folds) == folded


async def test_a_write_that_fails_is_not_counted(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    crew = Crew(wiki, 3)
    for step in range(2 * SHARE):
        await crew.create(step)
    before = await everything(wiki)

    async def refuse(*arguments: Any, **options: Any) -> None:
        raise BadInput("Refused at the end of the write.")

    with monkeypatch.context() as patch:
        patch.setattr("resolvers.pages.lifecycle.record", refuse)
        patch.setattr("resolvers.pages.upsert.record", refuse)
        patch.setattr("resolvers.pages.aliases.record", refuse)
        writes: list[Callable[[int], Awaitable[None]]] = [crew.create, crew.edit, crew.alias, crew.archive, crew.delete]
        for write in writes:
            with pytest.raises(BadInput):
                await write(99)
    assert await everything(wiki) == before


async def everything(wiki: Wiki) -> list[Any]:
    tables = {"search_pages": "page_id", "search_counts": "shelf", "search_changes": "id", "search_scopes": "1"}
    return [await wiki.rows(table, order) for table, order in tables.items()]


async def test_words_without_pages_are_removed_from_the_counts(wiki: Wiki) -> None:
    crew = Crew(wiki, 1)
    for step in range(3):
        await crew.create(step)
    page = crew.page
    await update_page(wiki.database, wiki.scope, page, body="Unheard")
    await update_page(wiki.database, wiki.scope, page, body="Unsaid")
    await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id)
    terms = await wiki.counts()
    assert "unheard" not in terms
    assert terms["unsaid"] == 1
    assert min(terms.values()) == 1


async def test_an_alias_is_counted_until_it_is_removed(wiki: Wiki) -> None:
    crew = Crew(wiki, 2)
    await crew.create(0)
    (page_id,) = crew.pages
    await add_alias(wiki.database, wiki.scope, page_id, name="Quayside")
    assert await counted(wiki, "quaysid") == 1
    await remove_alias(wiki.database, wiki.scope, page_id, name="quayside")
    assert await counted(wiki, "quaysid") == 0


async def counted(wiki: Wiki, lexeme: str) -> int:
    return (await wiki.counts()).get(lexeme, 0)


async def test_shelves_of_counts_multiply_as_they_grow(wiki: Wiki) -> None:
    several = [" ".join(f"w{n}x{m}" for m in range(400)) for n in range(4)]
    for n, body in enumerate(several):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Page {n}", body=body))
    index = await wiki.row("search_scopes")
    shelves = await wiki.rows("search_counts", "shelf")
    assert index["shelves"] == 64
    assert len(shelves) > 48
    assert sum(len(row["pages"]) for row in shelves) == len(await wiki.counts()) > 1_600
    await check_counted(wiki)


async def test_the_first_page_in_a_new_language_is_found_by_inflected_words(wiki: Wiki) -> None:
    for number in range(40):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Pier {number}", body="Ropes and gulls."))
    draft = PageDraft("topic", "Библиотека", body="Здесь стоят книги.", metadata={"lang": "ru"})
    page = (await create_page(wiki.database, wiki.scope, draft)).page_id
    found = await search(wiki.database, wiki.scope, SearchRequest("книга"))
    assert [hit.page_id for hit in found.hits] == [page]
