"""The seed's search does as a peer what its design says, its faults among it, and what it costs is told as it was."""

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
    """Two wikis in the seed's tables."""
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


async def found(connection: asyncpg.Connection, text: str, first: int = 10) -> list[int]:
    return [page_id.int - OURS.page(0).int for page_id in await search(connection, scope_of(OURS), text, first)]


async def test_pages_of_other_wikis_are_not_found(connection: asyncpg.Connection) -> None:
    assert await found(connection, "vector") == [1]


async def test_an_alias_counts_more_than_a_text_and_shows_its_page_once_for_each(
    connection: asyncpg.Connection,
) -> None:
    assert await found(connection, "hash map") == [0, 0, 1]
    assert await found(connection, "hash map", first=1) == [0]


async def test_a_word_may_have_only_begun(connection: asyncpg.Connection) -> None:
    assert await found(connection, "gro") == [1]


async def test_one_word_that_no_page_says_is_one_too_many(connection: asyncpg.Connection) -> None:
    assert await found(connection, "grows vectorless") == []


@pytest.mark.parametrize(
    ("text", "begun"),
    [("New C++ templates", "new:* & templates:*"), ("what's", "what:*"), ("std::vector", "std:* & vector:*")],
)
def test_punctuation_and_single_letters_begin_nothing(text: str, begun: str) -> None:
    assert beginnings(text) == begun


@given(st.text(st.characters(min_codepoint=0x370).filter(lambda character: not character.lower().isascii())))
def test_scripts_other_than_latin_begin_nothing(text: str) -> None:
    assert beginnings(text) == ""


@pytest.mark.parametrize("text", ["", "1000;10000", "many"])
def test_sizes_that_are_no_numbers_are_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="list of numbers"):
        numbers(text)


def test_what_is_answered_is_a_share_of_the_questions() -> None:
    answers = [Answer(Spent(4.0, 5.0), True), *[Answer(Spent(2.0, 3.0), False)] * 3]
    assert comparison.summary(answers) == {
        "cpu_p50": 2.0, "cpu_p95": 4.0, "wall_p50": 3.0, "wall_p95": 5.0, "answered": 0.25,
    }  # fmt: skip


def test_growth_is_told_of_the_wiki_that_is_in_both_databases() -> None:
    one = Answer(Spent(2.0, 2.0), True)
    whole = {name: {"title": [one]} for name in SMALL}
    tenth = {name: {"title": [replace(one, spent=Spent(1.0, 1.0))]} for name in SMALL.values()}
    small, large, growth = comparison.tables({1_000: whole | tenth, 10_000: whole})
    assert [next(iter(column.cells)) for column in growth.columns] == ["title", *["1.00", "2.00", "2.00"] * 2]
    assert small.row_count == large.row_count == len(SMALL)
