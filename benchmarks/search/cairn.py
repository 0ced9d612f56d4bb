"""Runs Cairn as one of the searches: a collection becomes a wiki, and each query calls the product's own resolver."""

from asyncio import Runner
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import asyncpg
import uvloop

from content.markdown.sections import parse
from content.names import NoSlug, numbered_slug, slugify
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.model.pages import Page
from resolvers.search.reindexing import reindex
from resolvers.search.request import MAX_HITS, SearchRequest
from resolvers.search.search import search

from ..wikis import Wiki, wiki
from .collection import Collection, Document
from .peers import Search
from .wiki import Article, write


class Cairn:
    """One tenant with a wiki for each loaded collection."""

    def __init__(self, database: Database, runner: Runner) -> None:
        self.database, self.runner, self.wikis = database, runner, 0

    def load(self, collection: Collection) -> Search:
        self.wikis += 1
        own = wiki(1, self.wikis, len(collection.documents))
        self.runner.run(self.fill(own, collection))
        scope, ids = scope_of(own), [document.id for document in collection.documents]

        def ask(text: str) -> list[str]:
            found = self.runner.run(search(self.database, scope, SearchRequest(text, first=MAX_HITS)))
            return [ids[number_of(own, hit.page_id.int)] for hit in found.hits]

        return ask

    async def fill(self, own: Wiki, collection: Collection) -> None:
        connection = await asyncpg.connect(self.database.dsn)
        try:
            await write(connection, own, collection.language, articles(own, collection))
            await reindex(self.database, own.tenant_id, own.owner_id)
            await connection.execute("VACUUM ANALYZE")
        finally:
            await connection.close()


@contextmanager
def opened(dsn: str) -> Iterator[Cairn]:
    """Open a migrated database and yield its Cairn search."""
    with Runner(loop_factory=uvloop.new_event_loop) as runner:
        database = Database(dsn, size=1, statement_timeout=600)
        runner.run(database.open())
        try:
            yield Cairn(database, runner)
        finally:
            runner.run(database.close())


def scope_of(own: Wiki) -> Scope:
    actor = Actor(ActorKind.USER, "benchmark")
    return Scope(own.tenant_id, own.owner_id, Role.ADMIN, actor, (own.owner_id,))


def number_of(own: Wiki, page_id: int) -> int:
    return page_id - own.page(0).int


def articles(own: Wiki, collection: Collection) -> Iterator[Article]:
    """Yield the documents as pages, with the fields that the documents have and no others."""
    places = {document.id: place for place, document in enumerate(collection.documents)}
    linked = [tuple(places[link] for link in each.links if link in places) for each in collection.documents]
    inbound = Counter(place for each in linked for place in each)
    taken: set[str] = set()
    for place, document in enumerate(collection.documents):
        page = Page(
            id=own.page(place), type="topic", slug=slug_of(document, taken), title=document.title.strip(),
            summary=document.summary or None, sections=tuple(parse(document.body)),
        )  # fmt: skip
        yield Article(page, document.aliases, linked[place], inbound[place])


def slug_of(document: Document, taken: set[str]) -> str:
    """Return the document's slug, or one made from its title, with a number if another page has it."""
    slug = try_slugify(document.slug) or try_slugify(document.title) or "page"
    unique = (
        slug
        if slug not in taken
        else next(candidate for n in count(2) if (candidate := numbered_slug(slug, n)) not in taken)
    )
    taken.add(unique)
    return unique


def try_slugify(text: str) -> str | None:
    try:
        return slugify(text)
    except NoSlug:
        return None
