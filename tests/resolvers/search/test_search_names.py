"""Names among the words of a query, and words that most pages contain."""

import pytest

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.resolvers.search.wiki_search import hit_titles, search_wiki
from tests.wiki import Wiki


async def test_a_mistyped_name_that_is_a_stop_word_is_corrected(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("concept", "Before"))
    await create_page(wiki.database, wiki.scope, PageDraft("concept", "About Hugo"))
    assert await hit_titles(wiki, "Befroe") == ["Before"]
    assert await hit_titles(wiki, "Atout Hugo") == ["About Hugo"]


async def test_an_exact_heading_ranks_before_many_pages_with_its_words(wiki: Wiki) -> None:
    for n in range(30):
        draft = PageDraft("topic", f"Change number {n}", body="A breaking change of the runtime. " * (n % 4 + 1))
        await create_page(wiki.database, wiki.scope, draft)
    heading = PageDraft("topic", "History", body="## Runtime breaking change\n\nOnce.")
    await create_page(wiki.database, wiki.scope, heading)
    assert (await hit_titles(wiki, "runtime breaking change"))[0] == "History"


async def test_common_words_that_no_page_has_together_find_pages_with_either(wiki: Wiki, monkeypatch) -> None:
    monkeypatch.setattr("resolvers.search.ranking_query.BUDGET", 1)
    for n in range(30):
        draft = PageDraft("topic", f"Note {n}", body="integers everywhere" if n % 2 else "theory of everything")
        await create_page(wiki.database, wiki.scope, draft)
    found = await search_wiki(wiki, "integers theory ", first=8)
    rest = await search_wiki(wiki, "integers theory ", first=8, after=found.hits[-1].cursor)
    pages = [hit.page_id for hit in (*found.hits, *rest.hits)]
    assert len(pages) == len(set(pages)) == 15


async def test_a_page_named_within_a_longer_query_comes_first(wiki: Wiki) -> None:
    """Other pages may contain the same words more often."""
    body = "The oak smoker was cleaned. " * 5
    for title, more in (
        ("Smoker", {"aliases": ("oak smoker",), "body": "A steel box."}),
        ("Cleaning", {"body": body}),
        ("Smoker parts", {"body": body}),
    ):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, **more))
    assert (await hit_titles(wiki, "warranty for the oak smoker"))[0] == "Smoker"
    (first, *_) = (await search_wiki(wiki, "warranty for the oak smoker")).hits
    assert first.matched_alias == "oak smoker"


@pytest.mark.parametrize(
    ("query", "name", "other"),
    [
        ("base", "bases", "Bases syntax"),
        ("folders", "folder", "Folder outside"),
        ("my note", "my notes", "My notebooks"),
    ],
)
async def test_a_name_is_found_with_another_ending_of_its_last_word(
    wiki: Wiki, query: str, name: str, other: str
) -> None:
    title = f"What to know of {name}"
    await create_page(wiki.database, wiki.scope, PageDraft("topic", title, aliases=(name,), body="A start."))
    await create_page(wiki.database, wiki.scope, PageDraft("topic", other, body=f"{query} and {name}. " * 9))
    assert (await hit_titles(wiki, query))[0] == title


async def test_a_name_beside_a_word_of_most_pages_leads_to_its_page(wiki: Wiki) -> None:
    """The product's name does not distinguish pages in a wiki about it. `s` is a stop word, and part of a name."""
    pages = {f"Note {n}": f"A function of Obsidian, part {n}." for n in range(16)} | {
        "Settings": "Where things are set.",
        "Set up Obsidian Sync": "Obsidian settings: " * 5,
        "swprintf": "The function swprintf functions: swprintf.",
        "swprintf_s": "Safer than swprintf.",
    }
    for title, body in pages.items():
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    assert (await hit_titles(wiki, "Obsidian settings"))[0] == "Settings"
    assert (await hit_titles(wiki, "swprintf_s function"))[0] == "swprintf_s"
