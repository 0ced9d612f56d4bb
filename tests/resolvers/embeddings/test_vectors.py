"""Vectors of pages and passages: created by a job, deleted with their texts, and used for search by meaning."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest

from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.jobs.worker import runner_for
from content.search.search_query import understand
from db.scope import Role
from resolvers.context import Context
from resolvers.embeddings import vectors
from resolvers.embeddings.embedder import USED, use
from resolvers.embeddings.fusion import fuse, is_about_meaning, ranking, scores
from resolvers.embeddings.server import EmbeddingServer
from resolvers.jobs.queue import claim
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.edits import edit_page
from resolvers.pages.lifecycle import archive_page, create_page, delete_page
from resolvers.search.context_pack import ContextRequest, context_pack
from resolvers.search.reindexing import reindex
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from resolvers.search.search_all import SearchAllRequest, search_all
from resolvers.search.source_search import SourceFilter, SourceSearchRequest, search_sources
from resolvers.sources.sources import SourceDraft, add_source, forget_source
from schema.root import make_engine
from tests.compiler.scripted_compiler import compile_all
from tests.resolvers.embeddings.embedding_server import EmbeddingModel, serve_embeddings, vector
from tests.schema.executing import execute_document
from tests.wiki import Wiki

QUESTION = "how do I get my money back"


@pytest.fixture
def model() -> Iterator[EmbeddingModel]:
    with serve_embeddings(EmbeddingModel()) as model:
        yield model


@pytest.fixture
async def embedder(wiki: Wiki, model: EmbeddingModel) -> AsyncIterator[EmbeddingServer]:
    """The embedding server that searches and jobs of the wiki use."""
    server = EmbeddingServer(model.url, "tiny", model.dimensions, timeout=2, batch=4)
    await vectors.enable(wiki.database, model.dimensions)
    use(wiki.database, server)
    yield server
    USED.pop(wiki.database, None)


def compiler(embedder: EmbeddingServer | None) -> Compiler:
    return Compiler(ExtractivePlanner(), ExtractiveWriter(), embedder=embedder)


async def embed(wiki: Wiki, embedder: EmbeddingServer) -> list[dict[str, Any]]:
    await vectors.enqueue_embedding_jobs(wiki.database, embedder)
    return [job for job in await compile_all(wiki, compiler(embedder)) if job["trigger"] == "embed"]


async def page(wiki: Wiki, title: str, body: str, **more: Any) -> UUID:
    draft = PageDraft("topic", title, body=body, **more)
    return (await create_page(wiki.database, wiki.scope, draft)).page_id


async def source(wiki: Wiki, ref: str, content: str, **more: Any) -> UUID:
    return (await add_source(wiki.database, wiki.scope, SourceDraft("daily_note", ref, content, **more))).source_id


async def found(wiki: Wiki, text: str, **more: Any) -> list[str]:
    """Return the refs of the sources whose passages are found, in order."""
    result = await search_sources(wiki.database, wiki.scope, SourceSearchRequest(text, **more))
    refs = {row["id"]: row["ref"] for row in await wiki.rows("sources")}
    return [refs[hit.source_id] for hit in result.hits]


async def titles(wiki: Wiki, text: str, **more: Any) -> list[str]:
    result = await search(wiki.database, wiki.scope, SearchRequest(text, **more))
    names = {row["id"]: row["title"] for row in await wiki.rows("pages")}
    return [names[hit.page_id] for hit in result.hits]


async def test_embedded_texts_are_found_by_synonyms(wiki: Wiki, embedder: EmbeddingServer) -> None:
    await source(wiki, "a", "The reimbursement goes to the card.")
    await source(wiki, "b", "Bats under the bridge.")
    await page(wiki, "Orders", "Refunds are paid within a week.")
    await page(wiki, "Bats", "They live under the bridge.")
    assert await found(wiki, QUESTION) == []
    assert "Orders" not in await titles(wiki, QUESTION)
    (job,) = await embed(wiki, embedder)
    assert (job["status"], job["metrics"]["texts_embedded"]) == ("succeeded", 4)
    assert (await found(wiki, QUESTION))[0] == "a"
    assert (await titles(wiki, QUESTION))[0] == "Orders"
    assert await vectors.coverage(wiki.database, wiki.scope, embedder) == vectors.Coverage(2, 2, 2, 2)
    assert await vectors.enqueue_embedding_jobs(wiki.database, embedder) == 0, "nothing is left to do"


async def test_a_failing_server_fails_the_job_but_no_write_or_search(
    wiki: Wiki, embedder: EmbeddingServer, model: EmbeddingModel
) -> None:
    model.set_behaviours("broken")
    await source(wiki, "a", "The refund of my money came back.")
    await page(wiki, "Orders", "Money comes back.")
    assert (await found(wiki, "when did the refund money come back")) == ["a"]
    await vectors.enqueue_embedding_jobs(wiki.database, embedder)
    jobs = await compile_all(wiki, compiler(embedder))
    (job,) = [job for job in jobs if job["trigger"] == "embed"]
    assert (job["status"], job["error"]) == (
        "pending", "The embedding server is busy or broken: it answers with status 500.",
    )  # fmt: skip
    assert await wiki.rows("passage_embeddings", "position") == []
    await wiki.connection.execute("UPDATE compile_jobs SET run_after = now() WHERE status = 'pending'")
    model.set_behaviours("well")
    await compile_all(wiki, compiler(embedder))
    assert len(await wiki.rows("passage_embeddings", "position")) == 1


async def test_forgotten_edited_and_deleted_texts_lose_their_vectors_at_once(
    wiki: Wiki, embedder: EmbeddingServer
) -> None:
    kept, gone = await source(wiki, "a", "The refund came."), await source(wiki, "b", "The reimbursement came.")
    pages = [await page(wiki, f"Orders {n}", "Refunds are paid.") for n in range(3)]
    await embed(wiki, embedder)
    await forget_source(wiki.database, wiki.scope, gone)
    assert {row["source_id"] for row in await wiki.rows("passage_embeddings", "position")} == {kept}
    await edit_page(wiki.database, wiki.scope, PageAddress(pages[0]), old_text="Refunds", new_text="Bills")
    await delete_page(wiki.database, wiki.scope, pages[1])
    assert {row["page_id"] for row in await wiki.rows("page_embeddings", "page_id")} == {pages[2]}
    await embed(wiki, embedder)
    assert {row["page_id"] for row in await wiki.rows("page_embeddings", "page_id")} == {pages[0], pages[2]}
    assert (await titles(wiki, QUESTION))[0] == "Orders 2"
    await archive_page(wiki.database, wiki.scope, pages[2])
    assert "Orders 2" not in await titles(wiki, QUESTION)


async def test_a_vector_is_not_stored_if_its_page_changed_meanwhile(
    wiki: Wiki, embedder: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    page_id = await page(wiki, "Orders", "Refunds are paid.")
    original_embed = embedder.embed

    async def embed_after_an_edit(texts: Any) -> Any:
        if len(await wiki.rows("revisions")) == 1:
            await edit_page(wiki.database, wiki.scope, PageAddress(page_id), old_text="Refunds", new_text="Bills")
        return await original_embed(texts)

    monkeypatch.setattr(embedder, "embed", embed_after_an_edit)
    await embed(wiki, embedder)
    assert await wiki.rows("page_embeddings", "page_id") == []
    await embed(wiki, embedder)
    assert len(await wiki.rows("page_embeddings", "page_id")) == 1


async def test_changing_the_model_recreates_all_vectors(
    wiki: Wiki, embedder: EmbeddingServer, model: EmbeddingModel
) -> None:
    await source(wiki, "a", "The reimbursement came.")
    await page(wiki, "Orders", "Refunds are paid.")
    await embed(wiki, embedder)
    model.dimensions = 32
    smaller = EmbeddingServer(model.url, "smaller", 32)
    await vectors.enable(wiki.database, 32)
    use(wiki.database, smaller)
    assert await found(wiki, QUESTION) == [], "vectors of two models are not compared"
    await embed(wiki, smaller)
    rows = [*await wiki.rows("passage_embeddings", "position"), *await wiki.rows("page_embeddings", "page_id")]
    assert {(row["model"], row["dimensions"], len(row["embedding"])) for row in rows} == {("smaller", 32, 32)}
    assert (await found(wiki, QUESTION)) == ["a"]


async def test_reindexed_pages_get_new_vectors(wiki: Wiki, embedder: EmbeddingServer) -> None:
    await page(wiki, "Orders", "Refunds are paid.")
    await embed(wiki, embedder)
    await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, again=True)
    await embed(wiki, embedder)
    assert await vectors.coverage(wiki.database, wiki.scope, embedder) == vectors.Coverage(1, 1, 0, 0)


async def test_pages_that_are_indexed_again_while_the_wiki_is_embedded_get_new_vectors(
    wiki: Wiki, embedder: EmbeddingServer
) -> None:
    await page(wiki, "Orders", "Refunds are paid.")
    await vectors.enqueue_embedding_jobs(wiki.database, embedder)
    job = await claim(wiki.database, "test")
    assert job
    running = runner_for(wiki.database, job, compiler(embedder))
    assert not await running.step()
    await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, again=True)
    assert await running.step()
    await embed(wiki, embedder)
    assert await vectors.coverage(wiki.database, wiki.scope, embedder) == vectors.Coverage(1, 1, 0, 0)


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


async def test_new_sources_are_embedded_in_any_order_of_ids(wiki: Wiki, embedder: EmbeddingServer) -> None:
    id = await source(wiki, "a", "The reimbursement goes to the card.")
    await embed(wiki, embedder)
    assert await vectors.enqueue_embedding_jobs(wiki.database, embedder) == 0
    older = {"id": str(UUID(int=1)), "ref": "restored", "created_at": "2100-01-01T00:00:00Z"}
    await wiki.connection.execute(
        "INSERT INTO sources SELECT (jsonb_populate_record(s, CAST($1 AS jsonb))).* FROM sources AS s WHERE s.id = $2",
        orjson.dumps(older).decode(), id,
    )  # fmt: skip
    assert await vectors.enqueue_embedding_jobs(wiki.database, embedder) == 1


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


async def test_an_embedding_job_fails_without_an_embedding_server(wiki: Wiki, embedder: EmbeddingServer) -> None:
    await page(wiki, "Orders", "Refunds are paid.")
    await vectors.enqueue_embedding_jobs(wiki.database, embedder)
    await vectors.enqueue_embedding_jobs(wiki.database, embedder)
    (job,) = await compile_all(wiki, compiler(None))
    assert job["status"] == "failed"
    assert "CAIRN_EMBEDDING_URL" in job["error"]


async def test_disabling_deletes_vectors_and_indexes(wiki: Wiki, embedder: EmbeddingServer) -> None:
    await page(wiki, "Orders", "Refunds are paid.")
    await embed(wiki, embedder)
    async with wiki.database.connection() as connection:
        assert await vectors.is_enabled(connection, 64)
    await vectors.disable(wiki.database)
    assert await wiki.rows("page_embeddings", "page_id") == await wiki.rows("embedding_cursors", "owner_id") == []
    async with wiki.database.connection() as connection:
        assert not await vectors.is_enabled(connection, 64)


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
