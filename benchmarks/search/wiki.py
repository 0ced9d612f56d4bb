"""Writes a whole wiki: the rows of its pages by COPY, and then the product's own reindexing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import asyncpg

from content.limits import NAME
from content.names import normalise
from resolvers.model.names import searchable_names
from resolvers.model.pages import Page

from ..wikis import Wiki

BATCH = 5_000  # pages
MADE = datetime(2026, 1, 1, tzinfo=UTC)
COLUMNS = {
    "pages": (
        "tenant_id", "owner_id", "id", "type", "slug", "title", "summary", "body_md", "tags", "hubness_score",
        "last_compiled_at", "created_at", "updated_at",
    ),
    "sections": ("tenant_id", "owner_id", "id", "page_id", "section_slug", "heading", "body_md", "position"),
    "aliases": ("tenant_id", "owner_id", "id", "page_id", "alias", "name", "source"),
    "links": ("tenant_id", "owner_id", "id", "from_page_id", "to_page_id", "kind", "reasons"),
    "page_names": ("tenant_id", "owner_id", "page_id", "kind", "name", "status"),
}  # fmt: skip
Records = dict[str, list[tuple[Any, ...]]]
SECTION, ALIAS, LINK = 3, 6, 7  # kinds of id
EACH = 100_000  # the maximum number of rows of one kind per page


@dataclass(frozen=True, slots=True)
class Article:
    """A page before it is stored. `linked` are numbers of pages in the same wiki."""

    page: Page
    aliases: tuple[str, ...] = ()
    linked: tuple[int, ...] = ()
    linked_from: int = 0
    updated_at: datetime = MADE


async def write(connection: asyncpg.Connection, wiki: Wiki, language: str, articles: Iterable[Article]) -> None:
    """Write a wiki in one transaction. Foreign keys are valid by construction, so Postgres does not check them."""
    numbered = enumerate(articles)
    async with connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")
        await write_scope(connection, wiki, language)
        while batch := list(islice(numbered, BATCH)):
            for table, records in rows(wiki, batch).items():
                await connection.copy_records_to_table(table, records=records, columns=COLUMNS[table])


async def write_scope(connection: asyncpg.Connection, wiki: Wiki, language: str) -> None:
    tenant, owner = wiki.tenant_id, wiki.owner_id
    await connection.execute(
        "INSERT INTO tenants (tenant_id, slug, name) VALUES ($1, $2, 'Tenant') ON CONFLICT DO NOTHING",
        tenant, f"tenant-{tenant}",
    )  # fmt: skip
    await connection.execute(
        "INSERT INTO owners (tenant_id, id, kind, slug, name, language) VALUES ($1, $2, 'user', $3, 'Owner', $4)",
        tenant, owner, f"o-{owner}", language,
    )  # fmt: skip


def rows(wiki: Wiki, articles: Iterable[tuple[int, Article]]) -> Records:
    """Return the rows by table: only those that search reads and shows, without history and evidence."""
    found: Records = {table: [] for table in COLUMNS}
    scope = (wiki.tenant_id, wiki.owner_id)
    for number, article in articles:
        for table, row in of_page(wiki, number, article):
            found[table].append((*scope, *row))
    return found


def of_page(wiki: Wiki, number: int, article: Article) -> Iterator[tuple[str, tuple[Any, ...]]]:
    page, at = article.page, article.updated_at
    yield "pages", (page.id, page.type, page.slug, page.title, page.summary, page.body, list(page.tags),
                    article.linked_from, at, at, at)  # fmt: skip
    for place, section in enumerate(page.sections):
        own = wiki.id(SECTION, number * EACH + place)
        yield "sections", (own, page.id, section.slug, section.heading, section.body, place)
    aliases = names_of(article.aliases)
    for place, (alias, name) in enumerate(aliases.items()):
        yield "aliases", (wiki.id(ALIAS, number * EACH + place), page.id, alias, name, "import")
    for place, other in enumerate(sorted(set(article.linked) - {number})):
        yield "links", (wiki.id(LINK, number * EACH + place), page.id, wiki.page(other), "reference", ["text"])
    for kind, name in sorted(searchable_names(page, aliases, ())):
        yield "page_names", (page.id, kind, name, page.status)


def names_of(aliases: Iterable[str]) -> dict[str, str]:
    """Return the display name of each alias by its normalised form."""
    return {alias: name for name in aliases if len(name) <= NAME.maximum and (alias := normalise(name))}
