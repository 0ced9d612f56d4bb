"""Search by meaning: which queries are embedded, what they find, and the pages of results."""

from datetime import UTC, datetime

from content.search.search_query import understand
from db.scope import Role
from resolvers.context import Context
from resolvers.embeddings.fusion import fuse, is_about_meaning, ranking, scores
from resolvers.embeddings.server import EmbeddingServer
from resolvers.search.context_pack import ContextRequest, context_pack
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from resolvers.search.search_all import SearchAllRequest, search_all
from resolvers.search.source_search import SourceFilter, SourceSearchRequest, search_sources
from resolvers.sources.sources import SourceDraft, add_source
from schema.root import make_engine
from tests.resolvers.embeddings.embedded_wiki import QUESTION, embed, found, page, source, titles
from tests.resolvers.embeddings.embedding_server import EmbeddingModel, vector
from tests.schema.executing import execute_document
from tests.wiki import Wiki


async def test_filters_apply_to_hits_by_meaning(wiki: Wiki, embedder: EmbeddingServer) -> None:
    for number, ref in enumerate(("a", "b", "c"), start=1):
        await source(wiki, ref, f"Reimbursement number {number}.", captured_at=datetime(2026, number, 1, tzinfo=UTC))
    await embed(wiki, embedder)
    assert set(await found(wiki, QUESTION)) == {"a", "b", "c"}
    assert await found(wiki, QUESTION, filter=SourceFilter(refs=("b",))) == ["b"]
    assert await found(wiki, QUESTION, filter=SourceFilter(kinds=("document",))) == []
    assert await found(wiki, f"{QUESTION} updated:2026-03") == ["c"]
    since = SourceFilter(captured_after=datetime(2026, 2, 1, tzinfo=UTC))
    assert set(await found(wiki, QUESTION, filter=since)) == {"b", "c"}


async def test_a_filter_finds_passages_behind_hundreds_of_nearer_ones(wiki: Wiki, embedder: EmbeddingServer) -> None:
    await source(wiki, "many", "\n".join(f"- Reimbursement {number}." for number in range(300)))
    draft = SourceDraft("document", "one", "The reimbursement of the northern office goes to the card.")
    await add_source(wiki.database, wiki.scope, draft)
    await embed(wiki, embedder)
    assert await found(wiki, QUESTION, filter=SourceFilter(kinds=("document",))) == ["one"]
    assert await found(wiki, QUESTION, filter=SourceFilter(refs=("one",))) == ["one"]


async def test_search_all_and_context_packs_find_by_meaning_with_one_request(
    wiki: Wiki, embedder: EmbeddingServer, model: EmbeddingModel
) -> None:
    await source(wiki, "a", "The reimbursement goes to the card.")
    await page(wiki, "Orders", "Refunds are paid within a week.")
    await page(wiki, "Bats", "They live under the bridge.")
    await embed(wiki, embedder)
    model.set_behaviours("well")
    hits = (await search_all(wiki.database, wiki.scope, SearchAllRequest(QUESTION))).hits
    assert [hit.is_page for hit in hits[:2]] == [False, True]
    assert len(model.requests) == 1
    pack = await context_pack(wiki.database, wiki.scope, ContextRequest(QUESTION))
    assert "The reimbursement goes to the card." in pack.text
    assert "Refunds are paid within a week." in pack.text
    assert len(model.requests) == 1
    model.set_behaviours("broken")
    other = await search_all(wiki.database, wiki.scope, SearchAllRequest("when do I get the money for my flight"))
    assert (other.hits, len(model.requests)) == ((), 1)


async def test_search_by_meaning_stays_in_its_wiki(wiki: Wiki, embedder: EmbeddingServer) -> None:
    other = await wiki.neighbour(Role.ADMIN)
    await source(other, "theirs", "The reimbursement came.")
    await page(other, "Theirs", "Refunds are paid.")
    await source(wiki, "ours", "Bats under the bridge.")
    await page(wiki, "Bats", "They live under the bridge.")
    await embed(wiki, embedder)
    assert "theirs" not in await found(wiki, QUESTION)
    assert await titles(wiki, QUESTION) == ["Bats"]
    assert (await found(other, QUESTION)) == ["theirs"]


async def test_search_by_meaning_finds_nothing_that_the_caller_may_not_read(
    wiki: Wiki, embedder: EmbeddingServer
) -> None:
    await source(wiki, "open", "The reimbursement goes to the card.")
    await source(wiki, "hidden", "The reimbursement came.", metadata={"sensitivity": "secret"})
    await page(wiki, "Orders", "Refunds are paid within a week.")
    await page(wiki, "Severance", "Refunds are paid.", fields={"sensitivity": "secret"})
    await page(wiki, "Staff", "Refunds.\n\n## Pay {sensitivity=secret}\n\nRefunds are paid.")
    await embed(wiki, embedder)
    assert set(await found(wiki, QUESTION)) == {"open", "hidden"}
    assert set(await titles(wiki, QUESTION)) == {"Orders", "Severance", "Staff"}
    colleague = await wiki.colleague()
    for _ in range(2):
        assert await found(colleague, QUESTION) == ["open"]
        assert await titles(colleague, QUESTION) == ["Orders"]
        everywhere = await search_all(colleague.database, colleague.scope, SearchAllRequest(QUESTION))
        assert len(everywhere.hits) == 2


async def test_names_quotes_codes_and_prefixes_are_not_embedded(
    wiki: Wiki, embedder: EmbeddingServer, model: EmbeddingModel
) -> None:
    await page(wiki, "How do refunds of money work", "Refunds.")
    await embed(wiki, embedder)
    model.set_behaviours("well")
    for text in (
        "refunds", "money back", "get my mon", '"how do I" get my money', "how do I get money -back",
        "in:title how do I get it",
        "how does getElementById work here", "error E1042 when I start it", "tag:x how do I get it",
        "how do refunds of money work",
    ):  # fmt: skip
        await titles(wiki, text)
    assert model.requests == []


async def test_a_question_of_four_words_is_about_meaning_whatever_is_selected(
    wiki: Wiki, embedder: EmbeddingServer
) -> None:
    await page(wiki, "Orders", "Refunds are paid within a week.")
    await page(wiki, "Bats", "They live under the bridge.")
    await embed(wiki, embedder)
    engine, context = make_engine(), Context(wiki.database, wiki.scope)
    for fields in ("page { title } snippet { text }", "page { title }"):
        query = f'query ($tenant: ID!) {{ wikiSearch(tenantId: $tenant, query: "get my money back") {{ {fields} }} }}'
        answer = await execute_document(engine, context, query, tenant=str(wiki.scope.tenant_id))
        assert [hit["page"]["title"] for hit in answer["data"]["wikiSearch"]] == ["Orders", "Bats"]


async def test_paging_shows_no_page_twice(wiki: Wiki, embedder: EmbeddingServer) -> None:
    for number in range(12):
        word = "Refunds" if number % 2 else "Getting something back"
        await page(wiki, f"Note {number}", f"{word}, said for the {number}th time.")
    await embed(wiki, embedder)
    shown, after = [], None
    while True:
        part = await search(wiki.database, wiki.scope, SearchRequest(QUESTION, first=4, after=after))
        shown += [hit.page_id for hit in part.hits]
        assert [hit.score for hit in part.hits] == sorted((hit.score for hit in part.hits), reverse=True)
        if not part.has_next_page:
            break
        after = part.hits[-1].cursor
    assert len(shown) == len(set(shown)) >= 8


async def test_paging_shows_no_passage_twice(wiki: Wiki, embedder: EmbeddingServer) -> None:
    for number in range(10):
        await source(wiki, f"s{number}", f"{'Reimbursement' if number % 2 else 'Get it back'} number {number}.")
    await embed(wiki, embedder)
    shown, after = [], None
    while True:
        part = await search_sources(wiki.database, wiki.scope, SourceSearchRequest(QUESTION, first=3, after=after))
        shown += [hit.source_id for hit in part.hits]
        if not part.has_next_page:
            break
        after = part.hits[-1].cursor
    assert len(shown) == len(set(shown)) == 10


async def test_paging_through_everything_goes_on_after_fifty_pages(wiki: Wiki, embedder: EmbeddingServer) -> None:
    for number in range(60):
        await page(wiki, f"Note {number}", f"Get the money back, said for the {number}th time.")
    await embed(wiki, embedder)
    shown, after = set[str](), None
    while True:
        request = SearchAllRequest(QUESTION, kinds=("pages",), first=40, after=after)
        part = await search_all(wiki.database, wiki.scope, request)
        shown |= {hit.mark for hit in part.hits}
        if not part.has_next_page:
            break
        after = part.cursors[-1]
    assert len(shown) == 60


async def test_the_nearest_passages_are_found_by_the_index(wiki: Wiki, embedder: EmbeddingServer) -> None:
    statement = ranking("rank_passages", 64)
    nothing = dict.fromkeys(("kinds", "refs", "since", "until"))
    values = {
        "tenant_id": wiki.scope.tenant_id, "owner_id": wiki.scope.owner_id, "model": "tiny",
        "question": vector(QUESTION, 64), "limit": 60, **nothing,
    }  # fmt: skip
    await wiki.connection.execute("SET enable_sort = off; SET enable_bitmapscan = off")
    rows = await wiki.connection.fetch(f"EXPLAIN {statement.sql}", *statement.arguments(values))
    assert "passage_embeddings_64_ix" in "\n".join(row[0] for row in rows)


def test_fused_ranks_prefer_items_of_both_lists_and_lose_none() -> None:
    assert fuse(["a", "b", "c"], ["c", "d"])[0] == "c"
    assert set(fuse(["a", "b", "c"], ["c", "d"])) == {"a", "b", "c", "d"}
    assert fuse(["a", "b"], []) == ["a", "b"]
    many = [str(number) for number in range(200)]
    assert set(fuse(many, many[::-1])) == set(many)
    assert scores([3.0, 2.0], 4) == sorted(scores([3.0, 2.0], 4), reverse=True)


def test_only_questions_in_everyday_words_are_about_meaning() -> None:
    for text in ("how do I get my money back", "why was the old kiln replaced?", "wie bekomme ich mein Geld zurück"):
        assert is_about_meaning(understand(text))
    for text in ("money back", "", "a_b is not what it was", "what does C++ mean here", "what is 5mg of it worth"):
        assert not is_about_meaning(understand(text))
