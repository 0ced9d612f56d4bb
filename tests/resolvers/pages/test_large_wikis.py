"""Operations on a whole wiki take a few statements, each far below the time limit."""

import pytest

from db.connection import Connection
from resolvers.pages.lifecycle import archive_scope
from tests.wiki import Wiki

PAGES = 20_000
FILL = """
WITH numbered AS (SELECT n, gen_random_uuid() AS id FROM generate_series(0, $3 - 1) AS n),
made AS (
    INSERT INTO pages (tenant_id, owner_id, id, type, slug, title, body_md, parent_page_id)
    SELECT $1, $2, id, 'topic', 'page-' || n, 'Page ' || n, '', NULL FROM numbered
),
found AS (
    INSERT INTO search_pages (
        tenant_id, owner_id, page_id, analyser, status, type, title_words, words, tsv, name_tsv
    )
    SELECT $1, $2, id, 1, 'active', 'topic', 2, 2, to_tsvector('english', 'page ' || n), '' FROM numbered
),
sectioned AS (
    INSERT INTO sections (tenant_id, owner_id, id, page_id, section_slug, heading, body_md, position)
    SELECT $1, $2, gen_random_uuid(), id, 'notes', 'Notes', '', 0 FROM numbered
),
aliased AS (
    INSERT INTO aliases (tenant_id, owner_id, id, page_id, alias, name, source)
    SELECT $1, $2, gen_random_uuid(), id, 'page ' || n, 'Page ' || n, 'compiler' FROM numbered
),
named AS (
    INSERT INTO page_names (tenant_id, owner_id, page_id, kind, name, status)
    SELECT $1, $2, id, 'title', 'page ' || n, 'active' FROM numbered
),
pairs AS (
    SELECT a.id AS from_id, b.id AS to_id, b.n FROM numbered AS a, generate_series(1, 5) AS step
    JOIN numbered AS b ON true WHERE b.n = (a.n + step * 7) % $3
),
aimed AS (
    INSERT INTO link_targets (tenant_id, owner_id, from_page_id, target, slug, alias, to_page_id)
    SELECT $1, $2, from_id, 'page-' || n, 'page-' || n, 'page ' || n, to_id FROM pairs
)
INSERT INTO links (tenant_id, owner_id, id, from_page_id, to_page_id, kind, reasons)
SELECT $1, $2, gen_random_uuid(), from_id, to_id, 'reference', '{text}' FROM pairs
"""


@pytest.fixture
async def big(wiki: Wiki):
    """A wiki of twenty thousand pages with five links each."""
    await wiki.connection.execute(FILL, wiki.scope.tenant_id, wiki.scope.owner_id, PAGES)
    await wiki.connection.execute("ANALYZE")
    yield wiki
    await wiki.connection.execute("TRUNCATE pages CASCADE")


async def test_a_huge_wiki_is_archived_in_a_few_statements(big: Wiki, monkeypatch) -> None:
    sent: list[str] = []

    def watch(name: str) -> None:
        inner = getattr(Connection, name)

        async def send(self, statement, **values):
            sent.append(statement.sql)
            return await inner(self, statement, **values)

        monkeypatch.setattr(Connection, name, send)

    for name in ("all", "one", "value", "run"):
        watch(name)
    assert await archive_scope(big.database, big.scope) == PAGES
    assert len(sent) <= 11
