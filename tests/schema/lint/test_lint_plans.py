"""Lint is one statement whose frequent checks use indexes and whose work on names is bounded."""

import pytest

from db.explaining import generic_plan
from resolvers.context import Context
from resolvers.knowledge.lint import CHECKS, statement_of
from schema.root import make_engine
from tests.recording_database import recording_database
from tests.schema.executing import execute_document
from tests.wiki import Wiki

BY_INDEX = "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off"  # as in a large database
# The tables are all but empty, and once that is known any index is as good as another.
UNKNOWN = """
    UPDATE pg_class SET relpages = 0, reltuples = -1
    WHERE relnamespace = CAST('public' AS regnamespace) AND relkind IN ('r', 'i');
    DELETE FROM pg_statistic USING pg_class
    WHERE starelid = pg_class.oid AND relnamespace = CAST('public' AS regnamespace)"""
ALL = tuple(check.name for check in CHECKS)


@pytest.mark.parametrize(
    ("check", "indexes"),
    [
        ("stale", {"pages_updated_ix"}),
        ("unlinked_names", {"pages_hubness_ix", "search_pages_words_ix"}),
        ("contradictions", {"contradictions_owner_ix"}),
        ("plain_names", {"section_sources_source_ix"}),
    ],
)
async def test_frequent_checks_use_their_indexes(wiki: Wiki, check: str, indexes: set[str]) -> None:
    async with wiki.connection.transaction():
        await wiki.connection.execute(UNKNOWN)
        await wiki.connection.execute(BY_INDEX)
        plan = await generic_plan(wiki.connection, statement_of((check,)).sql)
    assert {index for index in indexes if index not in plan} == set(), plan


async def test_the_search_for_names_in_plain_text_is_bounded(wiki: Wiki) -> None:
    async with wiki.connection.transaction():
        plan = await generic_plan(wiki.connection, statement_of(("unlinked_names", "plain_names")).sql)
    assert plan.count("Limit") >= 4, "of names, and of the pages that are looked at for each"


async def test_all_checks_are_one_statement(wiki: Wiki, dsn: str) -> None:
    async with recording_database(dsn) as database:
        await execute_document(make_engine(), Context(database, wiki.scope), "{ wikiLint { name } }")
        reading = [one.sql for one in await database.sent_statements() if "judged" in one.sql]
    assert reading == [statement_of(ALL).sql]
