"""Adds pages and sources to a wiki, embeds them, and finds them again."""

from typing import Any
from uuid import UUID

from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from resolvers.embeddings import vectors
from resolvers.embeddings.server import EmbeddingServer
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from resolvers.search.source_search import SourceSearchRequest, search_sources
from resolvers.sources.sources import SourceDraft, add_source
from tests.compiler.scripted_compiler import compile_all
from tests.wiki import Wiki

QUESTION = "how do I get my money back"


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
