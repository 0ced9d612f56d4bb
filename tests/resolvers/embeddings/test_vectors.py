"""Vectors of pages and passages: created by a job, and deleted with their texts."""

from typing import Any
from uuid import UUID

import orjson
import pytest

from compiler.jobs.worker import runner_for
from resolvers.embeddings import vectors
from resolvers.embeddings.embedder import use
from resolvers.embeddings.server import EmbeddingServer
from resolvers.jobs.queue import claim
from resolvers.model.lookup import PageAddress
from resolvers.pages.edits import edit_page
from resolvers.pages.lifecycle import archive_page, delete_page
from resolvers.search.reindexing import reindex
from resolvers.sources.sources import forget_source
from tests.compiler.scripted_compiler import compile_all
from tests.resolvers.embeddings.embedded_wiki import QUESTION, compiler, embed, found, page, source, titles
from tests.resolvers.embeddings.embedding_server import EmbeddingModel
from tests.wiki import Wiki


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
