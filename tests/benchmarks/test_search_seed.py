"""The search of the seed behaves as it was designed, with its faults, and the comparison reports its cost."""

from collections.abc import AsyncIterator
from dataclasses import replace

import asyncpg
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.search import comparison, seed_tables
from benchmarks.search.backend import Spent
from benchmarks.search.cairn import scope_of
from benchmarks.search.compare import numbers
from benchmarks.search.comparison import SMALL, Answer
from benchmarks.search.seed import beginnings, search
from benchmarks.search.wiki import Article, rows
from benchmarks.wikis import Wiki, wiki
from content.markdown.sections import parse
from resolvers.model.pages import Page

OURS, THEIRS = wiki(1, 1, 3), wiki(2, 2, 1)


@pytest.fixture
async def connection(empty_dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection to a database with two wikis in the tables of the seed."""
    connection = await asyncpg.connect(empty_dsn)
    await seed_tables.make(connection)
    ours = [
        article(0, "Hash map", "Looks up keys.", "hash_map", "hash_map class"),
        article(1, "Vector", "Grows like a hash map never does."),
        article(2, "List", "Links nodes."),
    ]
    await seed_tables.write(connection, rows(OURS, enumerate(ours)))
    await seed_tables.write(connection, rows(THEIRS, [(0, article(0, "Vector", "Of others.", own=THEIRS))]))
    yield connection
    await connection.close()


def article(number: int, title: str, body: str, *aliases: str, own: Wiki = OURS) -> Article:
    page = Page(own.page(number), "topic", f"page-{number}", title, sections=tuple(parse(body)))
    return Article(page, aliases)


async def found_pages(connection: asyncpg.Connection, text: str, first: int = 10) -> list[int]:
    return [page_id.int - OURS.page(0).int for page_id in await search(connection, scope_of(OURS), text, first)]


async def test_pages_of_other_wikis_are_not_found(connection: asyncpg.Connection) -> None:
    assert await found_pages(connection, "vector") == [1]


async def test_aliases_outrank_text_and_repeat_their_page_in_the_results(
    connection: asyncpg.Connection,
) -> None:
    assert await found_pages(connection, "hash map") == [0, 0, 1]
    assert await found_pages(connection, "hash map", first=1) == [0]


async def test_the_prefix_of_a_word_matches(connection: asyncpg.Connection) -> None:
    assert await found_pages(connection, "gro") == [1]


async def test_a_query_with_an_unknown_word_finds_nothing(connection: asyncpg.Connection) -> None:
    assert await found_pages(connection, "grows vectorless") == []


@pytest.mark.parametrize(
    ("text", "tsquery"),
    [("New C++ templates", "new:* & templates:*"), ("what's", "what:*"), ("std::vector", "std:* & vector:*")],
)
def test_punctuation_and_single_letters_are_dropped_from_the_tsquery(text: str, tsquery: str) -> None:
    assert beginnings(text) == tsquery


@given(st.text(st.characters(min_codepoint=0x370).filter(lambda character: not character.lower().isascii())))
def test_non_latin_words_give_an_empty_tsquery(text: str) -> None:
    assert beginnings(text) == ""


@pytest.mark.parametrize("text", ["", "1000;10000", "many"])
def test_sizes_that_are_no_numbers_are_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="list of numbers"):
        numbers(text)


def test_summaries_report_percentiles_and_the_answered_share() -> None:
    answers = [Answer(Spent(4.0, 5.0), True), *[Answer(Spent(2.0, 3.0), False)] * 3]
    assert comparison.summary(answers) == {
        "cpu_p50": 2.0, "cpu_p95": 4.0, "wall_p50": 3.0, "wall_p95": 5.0, "answered": 0.25,
    }  # fmt: skip


def test_growth_is_reported_for_the_wiki_in_both_databases() -> None:
    answer = Answer(Spent(2.0, 2.0), True)
    whole = {name: {"title": [answer]} for name in SMALL}
    tenth = {name: {"title": [replace(answer, spent=Spent(1.0, 1.0))]} for name in SMALL.values()}
    small, large, growth = comparison.tables({1_000: whole | tenth, 10_000: whole})
    assert [next(iter(column.cells)) for column in growth.columns] == ["title", *["1.00", "2.00", "2.00"] * 2]
    assert small.row_count == large.row_count == len(SMALL)
