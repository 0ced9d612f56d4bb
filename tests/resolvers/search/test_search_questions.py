"""Queries that people type, and their hits: names, questions, prefixes, typos and operators in any script."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from random import Random
from typing import Any
from uuid import UUID

import orjson
import pytest

from content.search.words import ANALYSER
from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.search.cursor import LONGEST
from resolvers.search.lexemes import fold
from resolvers.search.request import Filter
from resolvers.transactions.transaction import writing
from tests.resolvers.search.wiki_search import hit_titles, search_wiki
from tests.wiki import Wiki

PAGES: list[tuple[str, str, dict[str, Any]]] = [
    ("entity", "Franklin Barbecue", {"body": "## Overview\n\nBrisket smoked over oak, till noon.", "tags": ("bbq",)}),
    ("entity", "Momofuku Daishō", {"body": "## Notes\n\nKorean fried chicken for eight."}),
    ("topic", "Austin restaurants", {"body": "## Where to queue\n\nBarbecue early.", "tags": ("bbq", "city guide")}),
    ("concept", "C++ templates", {"body": "How std::vector grows, and what std::move does."}),
    ("concept", "vector class", {"body": "A container of the standard library."}),
    ("concept", "C", {"body": "The language of kernels."}),
    ("concept", "strings.Trim", {"body": "Cuts what stands around a text."}),
    ("project", "GPT-4 evaluation", {"body": "What's measured, and how often."}),
    ("topic", "東京の喫茶店", {"body": "## 概要\n\n神保町には古い喫茶店が多い。"}),
    ("topic", "快速开始", {"body": "安装之后删除文件。"}),
    ("topic", "การเริ่มต้น", {"body": "คุณมีคำถามหรือไม่"}),
    ("topic", "Ссылки и теги", {"body": "Внутренние ссылки между заметками."}),
    ("topic", "روابط داخلية", {"body": "إضافة رابط إلى ملاحظة."}),
    ("topic", "Đường phố Việt Nam", {"body": "Bánh mì và cà phê."}),
    ("topic", "서울 카페", {"body": "조용한 카페에서 책을 읽는다."}),
    ("decision", "Keep the espresso machine", {"body": "## Context\n\nIt leaks. The boiler was descaled twice."}),
]  # fmt: skip


@pytest.fixture
async def library(wiki: Wiki) -> Wiki:
    for type_, title, more in PAGES:
        await create_page(wiki.database, wiki.scope, PageDraft(type_, title, **more))
    return wiki


@pytest.mark.parametrize(
    ("query", "title"),
    [
        *((title, title) for _, title, _ in PAGES),
        ("daisho", "Momofuku Daishō"), ("MOMOFUKU DAISHO", "Momofuku Daishō"),
        ("duong pho viet nam", "Đường phố Việt Nam"),
        ("c++", "C++ templates"), ("std::vector", "vector class"), ("strings trim", "strings.Trim"),
        ("gpt 4", "GPT-4 evaluation"),
        ("what's measured", "GPT-4 evaluation"), ("where to queue", "Austin restaurants"),
        ("喫茶店", "東京の喫茶店"), ("神保町", "東京の喫茶店"), ("删除", "快速开始"), ("快速", "快速开始"),
        ("คำถาม", "การเริ่มต้น"),
        ("ссылки", "Ссылки и теги"), ("ССЫЛКИ", "Ссылки и теги"), ("رابط", "روابط داخلية"),
        ("banh mi", "Đường phố Việt Nam"),
        ("카페", "서울 카페"), ("책을", "서울 카페"),
    ],
)  # fmt: skip
async def test_the_intended_page_comes_first(library: Wiki, query: str, title: str) -> None:
    assert (await hit_titles(library, query))[0] == title


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what's", {"Release notes: What's new"}),
        ("what’s", {"Release notes: What's new"}),
        ("franklin's", {"Franklin Barbecue"}),
        ("I'll", set()),
    ],
)
async def test_the_end_of_a_contraction_is_not_searched_as_a_prefix(
    library: Wiki, query: str, expected: set[str]
) -> None:
    for title in ("Something else", "Little things", "Release notes: What's new", "Sean O'Sullivan"):
        await create_page(library.database, library.scope, PageDraft("topic", title))
    found = set(await hit_titles(library, query))
    assert expected <= found
    assert not found & {"Something else", "Little things"}
    assert "Sean O'Sullivan" in await hit_titles(library, "o's"), "a name goes on behind its first letter"


async def test_a_query_that_ends_in_a_space_matches_no_prefixes(library: Wiki) -> None:
    for title in ("Z", "Z machine", "Zebra crossing", "Z-order", "Zork"):
        await create_page(library.database, library.scope, PageDraft("topic", title))
    assert set(await hit_titles(library, "z")) == {"Z", "Z machine", "Zebra crossing", "Z-order", "Zork"}
    for query in ("z ", "z\t", "Z  "):
        assert set(await hit_titles(library, query)) == {"Z", "Z machine", "Z-order"}, query
    assert await hit_titles(library, "zeb ") == []


@pytest.mark.parametrize("word", ["brisket", "espresso", "templates", "barbecue", "descaled", "ссылки", "喫茶店"])
async def test_a_page_is_found_by_every_prefix_of_a_word(library: Wiki, word: str) -> None:
    whole = (await hit_titles(library, word))[0]
    for end in range(2, len(word)):
        assert whole in await hit_titles(library, word[:end]), word[:end]


@pytest.mark.parametrize(
    ("typed", "title", "meant"),
    [
        ("Frnklin Barbecue", "Franklin Barbecue", "franklin Barbecue"),
        ("espreso machine", "Keep the espresso machine", "espresso machine"),
        ("esprseso", "Keep the espresso machine", "espresso"),
        ("rfanklin", "Franklin Barbecue", "franklin"),
        ("xranklin", "Franklin Barbecue", "franklin"),
        ("templtaes", "C++ templates", "templates"),
        ("evalutaoin", "GPT-4 evaluation", "evaluation"),
        ("templtxaes", "C++ templates", "templates"),  # swapped, and a letter too many between them
        ("evaluaotn", "GPT-4 evaluation", "evaluation"),  # swapped, and the letter between them lost
    ],
)
async def test_a_mistyped_word_is_corrected_and_suggested(library: Wiki, typed: str, title: str, meant: str) -> None:
    assert (await hit_titles(library, typed))[0] == title
    assert (await search_wiki(library, typed)).did_you_mean == meant


async def test_a_mistyped_word_of_a_phrase_is_corrected(library: Wiki) -> None:
    found = await search_wiki(library, '"smked over oak"')
    assert await hit_titles(library, '"smked over oak"') == ["Franklin Barbecue"]
    assert found.did_you_mean == "smoked over oak"
    assert await hit_titles(library, '"oak over smked"') == []


async def test_words_of_archived_pages_are_not_suggested(library: Wiki) -> None:
    gazebo = PageDraft("topic", "Gazebo", body="A pergola stood here.")
    page = await create_page(library.database, library.scope, gazebo)
    async with writing(library.database, library.scope) as writer:
        await fold(writer, ANALYSER)  # a word is known once it is counted
    for typed, word in (("gazbo", "gazebo"), ("pergla", "pergola")):
        assert (await search_wiki(library, typed)).did_you_mean == word
    await archive_page(library.database, library.scope, page.page_id)
    for typed, word in (("gazbo", "gazebo"), ("pergla", "pergola")):
        assert (await search_wiki(library, typed)).did_you_mean is None
        assert (await search_wiki(library, f"{typed} status:archived")).did_you_mean == word


@pytest.mark.parametrize("nonsense", ["qzxvwk", "ghjkqw zxcvpl", "wvutsrq"])
async def test_nonsense_finds_no_pages(library: Wiki, nonsense: str) -> None:
    assert await hit_titles(library, nonsense) == []


async def test_a_question_finds_a_page_without_all_its_words(library: Wiki) -> None:
    question = "where can I eat smoked brisket with fried zucchini in the morning?"
    assert (await hit_titles(library, question))[0] == "Franklin Barbecue"


async def test_a_phrase_ranks_above_all_words_and_all_above_some(wiki: Wiki) -> None:
    for title, body in (
        ("Some", "Harbour notes on coffee prices."),
        ("All", "Roasting a dark thing; coffee later, roasting again."),
        ("Phrase", "We were roasting coffee in the yard."),
    ):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    assert await hit_titles(wiki, "roasting coffee") == ["Phrase", "All", "Some"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("barbecue type:topic", {"Austin restaurants"}),
        ("barbecue -type:topic", {"Franklin Barbecue"}),
        ("barbecue tag:bbq", {"Franklin Barbecue", "Austin restaurants"}),
        ('barbecue tag:"city guide"', {"Austin restaurants"}),
        ("barbecue tag:BBQ tag:nothing", set()),
        ("barbecue -oak", {"Austin restaurants"}),
        ('"smoked over oak"', {"Franklin Barbecue"}),
        ('"oak over smoked"', set()),
        ("in:title barbecue", {"Franklin Barbecue"}),
        ("type:decision", {"Keep the espresso machine"}),
        ("type:entity -tag:bbq", {"Momofuku Daishō"}),
        ("espresso updated:>2020", {"Keep the espresso machine"}),
        ("espresso updated:<2020", set()),
        ("status:archived", set()),
        ("type:decision -boiler", set()),
        ("in:title type:decision", {"Keep the espresso machine"}),
        (" ".join(f"-nothing{n}" for n in range(200)) + " -oak brisket", set()),
        ("updated:<2020", set()),
        ("owner:nobody-here espresso", set()),
    ],
)
async def test_operators_narrow_the_hits(library: Wiki, query: str, expected: set[str]) -> None:
    assert set(await hit_titles(library, query)) == expected


async def test_filters_work_like_operators(library: Wiki) -> None:
    assert await hit_titles(library, "barbecue", filter=Filter(types=("topic",))) == ["Austin restaurants"]
    assert await hit_titles(library, "barbecue type:entity", filter=Filter(types=("topic",))) == []
    assert await hit_titles(library, "", filter=Filter(tags=("city guide",))) == ["Austin restaurants"]
    assert await hit_titles(library, "barbecue", filter=Filter(title_only=True)) == ["Franklin Barbecue"]


async def test_archived_pages_are_only_found_by_the_status_operator(library: Wiki) -> None:
    page = next(row for row in await library.rows("pages") if row["title"] == "Franklin Barbecue")
    await archive_page(library.database, library.scope, page["id"])
    assert await hit_titles(library, "brisket") == []
    assert await hit_titles(library, "brisket status:archived") == ["Franklin Barbecue"]
    assert set(await hit_titles(library, "barbecue status:any")) == {"Franklin Barbecue", "Austin restaurants"}


@pytest.mark.parametrize(
    "query",
    ["type:bogus espresso", 'espresso "', "espresso ~ OR )(", "foo:bar espresso", "-", "espresso updated:xyz"],
)
async def test_malformed_operators_are_searched_as_words(library: Wiki, query: str) -> None:
    expected = ["Keep the espresso machine"] if "espresso" in query else []
    assert await hit_titles(library, query) == expected


async def test_paging_neither_skips_nor_repeats_hits_during_writes(wiki: Wiki) -> None:
    for n in range(45):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Coffee {n}", body="coffee " * (n % 7 + 1)))
    whole = [hit.page_id for hit in (await search_wiki(wiki, "coffee", first=50)).hits]
    walked, after = [], None
    while True:
        found = await search_wiki(wiki, "coffee", first=10, after=after)
        walked += [hit.page_id for hit in found.hits]
        after = found.hits[-1].cursor
        # What is written meanwhile changes the statistics, not the order of what was there.
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Tea {len(walked)}", body="tea " * 50))
        if not found.has_next_page:
            break
    assert walked == whole
    assert len(set(walked)) == 45


@pytest.mark.parametrize("query", ["coffee roaster drum oak", "how long does a roaster keep coffee in the drum"])
async def test_paging_neither_skips_nor_repeats_hits_when_new_pages_add_links(wiki: Wiki, query: str) -> None:
    """Links of the best hits raise the scores of other pages, so new best hits change the scores."""
    dice, spoken = Random(7), ["coffee", "roaster", "drum", "oak", "crack", "beans", "cup", "cellar"]
    names = [f"Batch {n}" for n in range(40)]

    async def write(name: str, text: str) -> None:
        body = text + "".join(f" [[{linked}]]" for linked in dice.sample(names, 4))
        await create_page(wiki.database, wiki.scope, PageDraft("topic", name, body=body))

    for name in names:
        await write(name, " ".join(dice.choices(spoken, k=12)))
    whole = {hit.page_id for hit in (await search_wiki(wiki, query, first=50)).hits}
    walked, after, goes_on = list[UUID](), None, True
    while goes_on:
        found = await search_wiki(wiki, query, first=6, after=after)
        walked += [hit.page_id for hit in found.hits]
        after, goes_on = found.hits[-1].cursor, found.has_next_page
        if len(walked) < 20:
            await write(f"Answer {len(walked)}", f"{query} " * 3)
    assert len(walked) == len(set(walked))
    assert whole <= set(walked)


async def test_a_query_of_operators_alone_lists_the_newest_pages_first(wiki: Wiki) -> None:
    for n in range(5):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Note {n}"))
    found = await search_wiki(wiki, "type:topic", first=3)
    rest = await search_wiki(wiki, "type:topic", first=3, after=found.hits[-1].cursor)
    assert (found.has_next_page, rest.has_next_page) == (True, False)
    named = {row["id"]: row["title"] for row in await wiki.rows("pages")}
    assert [named[hit.page_id] for hit in (*found.hits, *rest.hits)] == [f"Note {n}" for n in (4, 3, 2, 1, 0)]
    assert {hit.score for hit in found.hits} == {0}, "there is nothing that it matches"


async def test_counts_group_the_hits_by_type_and_tag(library: Wiki) -> None:
    found = await search_wiki(library, "barbecue", with_counts=True)
    assert (found.total, found.total_is_exact) == (2, True)
    assert dict(found.types) == {"entity": 1, "topic": 1}
    assert dict(found.tags) == {"bbq": 2, "city guide": 1}


async def test_a_space_after_the_last_word_turns_prefix_matching_off(library: Wiki) -> None:
    assert await hit_titles(library, "brisk") == ["Franklin Barbecue"]
    assert await hit_titles(library, "brisk ") == []


@pytest.mark.parametrize("query", ["status:active", "in:title", "status:any"])
async def test_an_operator_alone_lists_and_counts_all_pages(library: Wiki, query: str) -> None:
    found = await search_wiki(library, query, with_counts=True)
    assert (len(found.hits), found.total) == (len(PAGES), len(PAGES))


async def test_a_corrected_stop_word_does_not_break_snippets(library: Wiki) -> None:
    assert (await search_wiki(library, "te espresso machine", with_snippets=True)).hits
    assert (await search_wiki(library, "teh espresso", with_snippets=True)).hits


@pytest.mark.parametrize(
    "change",
    [
        {3: 0.5},
        {3: True},
        {3: 0},
        {4: 0.5},
        {4: "1"},
        {5: {"x": "5"}},
        {5: {"x": True}},
        {5: []},
        {1: "9"},
        {2: "x"},
        {7: 5},
        {7: ["x"]},
    ],
    ids=str,
)
async def test_a_forged_cursor_is_refused(library: Wiki, change: dict[int, Any]) -> None:
    cursor = (await search_wiki(library, "barbecue", first=1)).hits[0].cursor
    state = orjson.loads(urlsafe_b64decode(cursor))
    forged = [change.get(place, value) for place, value in enumerate(state)]
    with pytest.raises(BadInput) as refused:
        await search_wiki(library, "barbecue", first=1, after=urlsafe_b64encode(orjson.dumps(forged)).decode())
    assert refused.value.field == "after"


@pytest.mark.parametrize("score", [1e300, -1e300, 1e12])
async def test_a_forged_cursor_after_an_impossible_time_is_refused(library: Wiki, score: float) -> None:
    state = orjson.loads(urlsafe_b64decode((await search_wiki(library, "type:topic", first=1)).hits[0].cursor))
    forged = urlsafe_b64encode(orjson.dumps([state[0], score, *state[2:]])).decode()
    with pytest.raises(BadInput, match="not a cursor"):
        await search_wiki(library, "type:topic", first=1, after=forged)


async def test_a_cursor_that_is_too_long_is_refused(library: Wiki) -> None:
    state = orjson.loads(urlsafe_b64decode((await search_wiki(library, "barbecue", first=1)).hits[0].cursor))
    long = urlsafe_b64encode(orjson.dumps([*state[:-1], "0" * LONGEST])).decode()
    with pytest.raises(BadInput, match="not a cursor"):
        await search_wiki(library, "barbecue", first=1, after=long)


async def test_a_date_operator_alone_lists_and_counts_all_pages(library: Wiki) -> None:
    found = await search_wiki(library, "updated:>2020", with_counts=True)
    assert (len(found.hits), found.total) == (len(PAGES), len(PAGES))


async def test_a_hit_shows_the_snippet_and_its_section(library: Wiki) -> None:
    (hit,) = (await search_wiki(library, "smoking oaks", with_snippets=True)).hits
    assert hit.snippet is not None
    marked = [hit.snippet.text[start : start + length] for start, length in hit.snippet.highlights]
    assert marked == ["smoked", "oak"]
    section = await library.row("sections", id=hit.section_id)
    assert section["heading"] == "Overview"


async def test_the_parts_of_an_explanation_add_up_to_the_score(library: Wiki) -> None:
    for query in ("franklin barbecue", "where can I eat smoked brisket with fried zucchini in the morning"):
        for hit in (await search_wiki(library, query, explained=True)).hits:
            assert hit.explanation is not None
            assert sum(hit.explanation["parts"].values()) == pytest.approx(hit.score)
            assert hit.explanation["terms"]


async def test_unknown_words_do_not_hide_hits_of_common_words(library: Wiki, monkeypatch) -> None:
    monkeypatch.setattr("resolvers.search.ranking_query.BUDGET", 1)  # as if "barbecue" were in too many pages
    assert set(await hit_titles(library, "barbecue qzxvwk jkwqzz")) == {"Franklin Barbecue", "Austin restaurants"}


async def test_a_word_with_signs_does_not_match_the_name_without_them(library: Wiki) -> None:
    """C++ is indexed as `c`, which is the name of another page."""
    found = await search_wiki(library, "C++ grows kernels", explained=True)
    named = [hit.explanation["parts"]["named"] for hit in found.hits if hit.explanation]
    assert len(named) == 2
    assert not any(named)


async def test_comments_are_neither_searched_nor_shown_in_snippets(wiki: Wiki) -> None:
    body = "Served <!-- secretly, for <b>now</b> --> with %%hushed%% beans. `<!-- kept -->`"
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Menu", body=body))
    assert await hit_titles(wiki, "secretly") == await hit_titles(wiki, "hushed") == []
    (hit,) = (await search_wiki(wiki, "kept beans", with_snippets=True)).hits
    assert hit.snippet is not None
    assert hit.snippet.text == "Served with beans. <!-- kept -->"
