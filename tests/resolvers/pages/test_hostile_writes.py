"""Texts that are too large are refused before they are parsed, and long ones are parsed outside the event loop."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from lib.threads import LONG
from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.sections import move_section, patch_section, remove_section
from resolvers.pages.upsert import upsert_page
from resolvers.search.index import searchable
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source
from resolvers.transactions.transaction import writing
from tests.loop_holds import heartbeat
from tests.wiki import Wiki

MEGABYTE = 1_000_000
LINKS = "- [[a]]\n" * (MEGABYTE // 8)


class Uncounted(list[Any]):
    """A list that fails the test when it is iterated."""

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("iterated before it was counted")


@pytest.fixture
def parser_threads(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The ids of the threads in which long texts were parsed."""
    threads: set[int] = set()

    def spy(module: Any, name: str) -> None:
        inner: Callable[..., Any] = getattr(module, name)

        def reader(text: str, *more: Any) -> Any:
            if len(text) > LONG:
                threads.add(threading.get_ident())
            return inner(text, *more)

        monkeypatch.setattr(module, name, reader)

    for module, name in (
        ("resolvers.model.outline", "parse"), ("content.markdown.sections", "parse"),
        ("content.markdown.prose", "blocks"),
        ("resolvers.pages.insert", "find_links"), ("resolvers.pages.insert", "searchable"),
    ):  # fmt: skip
        spy(pytest.importorskip(module), name)
    return threads


@pytest.mark.parametrize(
    ("draft", "field", "limit"),
    [
        (PageDraft("topic", "A", tags=Uncounted(["t"] * 51)), "tags", "50"),
        (PageDraft("topic", "A", aliases=Uncounted(["a"] * 201)), "aliases", "200"),
        (PageDraft("topic", "A", sections=Uncounted([SectionDraft("x")] * 1001)), "sections", "1,000"),
    ],
)
async def test_lists_that_are_too_long_are_refused_before_iteration(
    wiki: Wiki, draft: PageDraft, field: str, limit: str
) -> None:
    for write in (create_page, upsert_page):
        with pytest.raises(BadInput, match=limit) as refused:
            await write(wiki.database, wiki.scope, draft)
        assert refused.value.field == field


async def test_too_many_tags_of_an_update_are_refused_before_iteration(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))).page_id
    with pytest.raises(BadInput, match="50"):
        await update_page(wiki.database, wiki.scope, page_id, tags=Uncounted(["t"] * 51))


async def test_sections_that_are_too_large_together_are_refused_before_parsing(
    wiki: Wiki, parser_threads: set[int]
) -> None:
    drafts = [SectionDraft("x" * (MEGABYTE - 1), f"s{n}") for n in range(2)]
    with pytest.raises(BadInput, match="1,000,000") as refused:
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", sections=drafts))
    assert (refused.value.field, parser_threads) == ("sections", set())


async def test_long_texts_are_parsed_outside_the_event_loop(wiki: Wiki, parser_threads: set[int]) -> None:
    here = (wiki.database, wiki.scope)
    body = "## One\n\n" + "x\n" * 30_000 + "\n## Two\n\n[[a]]"
    page_id = (await create_page(*here, PageDraft("topic", "A", body=body))).page_id
    await upsert_page(*here, PageDraft("topic", "A", body=body + " b"))
    await upsert_page(*here, PageDraft("topic", "A", sections=[SectionDraft("y\n" * 30_000, "two")]))
    await update_page(*here, page_id, body=body + " c")
    await update_page(*here, page_id, title="Other")
    await patch_section(*here, page_id, section_slug="two", body="z\n" * 30_000)
    await move_section(*here, page_id, section_slug="two", position=0)
    await remove_section(*here, page_id, section_slug="two")
    assert parser_threads
    assert threading.get_ident() not in parser_threads


async def test_many_long_aliases_are_normalised_outside_the_event_loop(wiki: Wiki, monkeypatch) -> None:
    threads = set()

    def spy(name: str) -> str:
        if len(name) > 400:
            threads.add(threading.get_ident())
        return name[:20]

    monkeypatch.setattr("resolvers.validation.normalise", spy)
    monkeypatch.setattr("resolvers.pages.insert.normalise", spy)
    draft = PageDraft("topic", "A", aliases=[f"{n} " + "abc " * 110 for n in range(200)])
    with pytest.raises(BadInput):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", aliases=["?" * 501, *draft.aliases[:99]]))
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "B", aliases=draft.aliases))
    await wiki.empty()
    assert threads
    assert threading.get_ident() not in threads


async def test_a_body_is_parsed_before_the_wiki_is_locked(wiki: Wiki, monkeypatch) -> None:
    body = LINKS[: 10 * LONG]  # enough to be read in a thread
    read, inner = threading.Event(), searchable
    monkeypatch.setattr("resolvers.pages.insert.searchable", lambda text: (inner(text), read.set())[0])
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))).page_id
    here = (wiki.database, wiki.scope)
    for write in (
        lambda: create_page(*here, PageDraft("topic", "B", body=body)),
        lambda: create_page(*here, PageDraft("topic", "C", sections=[SectionDraft(body[:-80], "notes")])),
        lambda: upsert_page(*here, PageDraft("topic", "A", body=body)),
        lambda: update_page(*here, page_id, body=body[:-80]),
    ):
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(writing(*here))
            read.clear()
            task = asyncio.create_task(write())
            assert await asyncio.to_thread(read.wait, 60)
        read.clear()
        await task
        assert not read.is_set()


async def test_the_event_loop_is_free_while_a_megabyte_of_links_is_written(wiki: Wiki) -> None:
    """The processor time of the loop is measured, so that a busy machine does not fail the test."""
    async with heartbeat() as delays:
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", body=LINKS))
    assert delays.longest < 0.5


async def test_a_page_has_a_thousand_aliases_at_most(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Name 0"))).page_id
    for n in range(1, 1000, 111):
        names = [f"Name {n + m}" for m in range(111)]
        await upsert_page(wiki.database, wiki.scope, PageDraft("topic", "Name 0", aliases=names))
    with pytest.raises(BadInput, match="1,000") as refused:
        await upsert_page(wiki.database, wiki.scope, PageDraft("topic", "Name 0", aliases=["Name 1000"]))
    assert refused.value.field == "aliases"
    with pytest.raises(BadInput, match="1,000") as refused:
        await add_alias(wiki.database, wiki.scope, page_id, name="Name 1000")
    assert refused.value.field == "name"
    assert len(await wiki.rows("aliases")) == 1000


@pytest.mark.parametrize(
    "metadata",
    [
        "text", [], [1], 0, False, "",
        {"x": float("nan")}, {"x": float("inf")}, {"x": 2**64}, {1: 2}, {"x": [[[[{}]]]] * 40_000}, {"x": object()},
    ],
)  # fmt: skip
async def test_metadata_that_is_not_a_json_object_is_refused(wiki: Wiki, metadata: Any) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "B"))).page_id
    here = (wiki.database, wiki.scope)
    for write in (
        create_page(*here, PageDraft("topic", "A", metadata=metadata)),
        update_page(*here, page_id, metadata=metadata),
        add_source(*here, SourceDraft("url", "r", "c", metadata=metadata)),
    ):
        with pytest.raises(BadInput) as refused:
            await write
        assert refused.value.field == "metadata"
    assert len(await wiki.rows("pages")) == 1


def nested(depth: int) -> dict[str, Any]:
    return {"x": nested(depth - 1)} if depth > 1 else {"x": 1}


async def test_metadata_nested_deeper_than_32_levels_is_refused(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "B", metadata=nested(32)))).page_id
    assert (await wiki.page(page_id))["metadata"] == nested(32)
    for depth in (33, 200, 900):
        with pytest.raises(BadInput, match="deep") as refused:
            await update_page(wiki.database, wiki.scope, page_id, metadata=nested(depth))
        assert refused.value.field == "metadata"


async def test_a_text_that_is_too_long_is_not_echoed_to_the_caller(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", body="x"))).page_id
    source_id = await wiki.add_source()
    here, long = (wiki.database, wiki.scope), "x" * MEGABYTE
    writes = [
        patch_section(*here, page_id, section_slug=long, body="x"),
        move_section(*here, page_id, section_slug=long, position=0),
        remove_section(*here, page_id, section_slug=long),
        add_alias(*here, page_id, name=long),
        record_mention(*here, name=long, source_id=source_id),
        record_mention(*here, name="a", source_id=source_id, quote=long),
        record_mention(*here, name="a", source_id=source_id, suggested_type=long),
        create_page(*here, PageDraft(long, "A")),
        create_page(*here, PageDraft("topic", "A", slug=long)),
        update_page(*here, page_id, edit_summary=long),
    ]
    for write in writes:
        with pytest.raises(BadInput) as refused:
            await write
        assert refused.value.field
        assert len(refused.value.message) < 500


async def test_a_long_search_query_is_truncated_before_parsing(wiki: Wiki, monkeypatch) -> None:
    lengths = []
    monkeypatch.setattr("resolvers.search.ranking_query.words", lambda text: lengths.append(len(text)) or ["x"])
    await search(wiki.database, wiki.scope, SearchRequest("word " * 200_000))
    assert max(lengths) <= 10_000
