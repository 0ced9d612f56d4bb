"""Queries as people write them: with everyday words, switches, operators of code, and parts of words."""

import pytest

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.resolvers.search.wiki_search import hit_titles, search_wiki
from tests.wiki import Wiki


@pytest.mark.parametrize("words", ["get my money back", "MONEY"])
async def test_common_words_of_the_language_are_not_corrected(wiki: Wiki, words: str) -> None:
    for title in ("Mode", "Core", "Go back in a mode"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title))
    assert (await search_wiki(wiki, words)).did_you_mean is None
    assert "Mode" not in await hit_titles(wiki, words)
    assert (await search_wiki(wiki, "mdoe")).did_you_mean == "mode", "no word of the language"


async def test_common_words_are_those_of_the_languages_of_the_wiki(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Leiste", metadata={"lang": "de"}))
    assert (await search_wiki(wiki, "leise")).did_you_mean is None
    other = await wiki.neighbour()
    await create_page(other.database, other.scope, PageDraft("topic", "Leiste", body="A page in English."))
    assert (await search_wiki(other, "leise")).did_you_mean == "leiste"


CODE: dict[str, str] = {
    "Short circuits": "With `&&` the second is read only if the first holds.",
    "Pipelines": "```powershell\nGet-Process | Where-Object { $_.CPU -gt 9 }\n```",
    "Fallbacks": "Write `name ?? fallback`.",
    "Pointers": "`node->next` follows one.",
    "Finding nodes": "Call getElementById, or snake_case_name in Python.",
    "Medicine": "Take 5 mg at night.",
    "Drops": "Take 7ml at noon.",
    "Prose": "An id has the element & its name? Or the next one - really!",
}


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("&&", "Short circuits"),
        ("what does && do", "Short circuits"),
        ("$_", "Pipelines"),
        ("??", "Fallbacks"),
        ("->", "Pointers"),
        ('"&&"', "Short circuits"),
        ("element by id", "Finding nodes"),
        ("getElementById", "Finding nodes"),
        ("getElemntById", "Finding nodes"),
        ("getElementB", "Finding nodes"),
        ("getelementbyid", "Finding nodes"),
        ("case name", "Finding nodes"),
        ("5mg", "Medicine"),
        ("5 mg", "Medicine"),
        ("7 ml", "Drops"),
        ("7ml", "Drops"),
    ],
)
async def test_code_operators_and_parts_of_words_find_pages(wiki: Wiki, query: str, title: str) -> None:
    for name, body in CODE.items():
        await create_page(wiki.database, wiki.scope, PageDraft("topic", name, body=body))
    assert (await hit_titles(wiki, query))[:1] == [title]


async def test_a_corrected_camel_case_name_is_suggested_once(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Nodes", body="Call getElementById."))
    assert (await search_wiki(wiki, "use getElemntById twice")).did_you_mean == "use getelementbyid twice"


@pytest.mark.parametrize(("query", "title"), [("軟體開發", "软体开发"), ("软体", "軟體"), ("開發", "软体开发")])
async def test_traditional_and_simplified_chinese_find_each_other(wiki: Wiki, query: str, title: str) -> None:
    for name in ("软体开发", "軟體"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", name))
    assert title in await hit_titles(wiki, query)
    assert (await hit_titles(wiki, title))[0] == title, "a name as it is written comes first"


COMMANDS = {
    "Get-ChildItem": "Lists a folder; `Get-ChildItem -Recurse` lists what is in its folders, too.",
    "Folders": "Get-ChildItem, whose -Force shows hidden items, and get the rest.",
    "Recursion": "A function may recurse.",
    "Coffee": "Roasted beans, also as decaf.",
    "Espresso": "Coffee under pressure.",
}


@pytest.fixture
async def commands(wiki: Wiki) -> Wiki:
    for title, body in COMMANDS.items():
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    return wiki


@pytest.mark.parametrize(
    ("query", "expected", "suggested"),
    [
        ("Get-ChildItem -Recurse", ["Get-ChildItem", "Folders", "Recursion"], None),
        ("Get-ChildItem -recurse", ["Get-ChildItem", "Folders", "Recursion"], None),
        ("list items -recurse -tag:old", ["Get-ChildItem", "Folders", "Recursion"], None),
        ("coffee -decaf", ["Espresso"], None),
        ("coffee-decaf", ["Coffee", "Espresso"], None),
        ("-decaf coffee", ["Espresso"], None),
        ("pressure -coffee", ["Espresso", "Coffee"], "pressure coffee"),
        ('pressure -"coffee"', [], None),
        ("coffee -nothing", ["Coffee", "Espresso"], None),
        ("type:topic -coffee -recurse", ["Folders"], None),
    ],
)
async def test_a_minus_excludes_unless_it_is_part_of_a_switch(
    commands: Wiki, query: str, expected: list[str], suggested: str | None
) -> None:
    found = await search_wiki(commands, query)
    assert sorted(await hit_titles(commands, query)) == sorted(expected)
    assert (await hit_titles(commands, query))[:1] == expected[:1]
    assert found.did_you_mean == suggested


@pytest.mark.parametrize("query", ["Get-ChildItem -Recurse", "pressure -coffee", "coffee -decaf", "get -coffee"])
async def test_paged_results_are_those_of_the_whole_search(commands: Wiki, query: str) -> None:
    whole = [hit.page_id for hit in (await search_wiki(commands, query)).hits]
    walked, found = [], await search_wiki(commands, query, first=1)
    while True:
        walked += [hit.page_id for hit in found.hits]
        if not found.has_next_page:
            break
        found = await search_wiki(commands, query, first=1, after=found.hits[-1].cursor)
    assert walked == whole


@pytest.mark.parametrize("word", ["a[b", "x^y", "a\\b", "c]d", "a.*", "(?=x", "é$", "x{2}"])
async def test_excluded_words_are_not_read_as_regular_expressions(commands: Wiki, word: str) -> None:
    assert "Espresso" in await hit_titles(commands, f"coffee -{word}")
