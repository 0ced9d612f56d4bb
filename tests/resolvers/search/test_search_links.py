"""Pages to which the best hits link rank above other pages of equal score."""

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.resolvers.search.wiki_search import search_wiki
from tests.wiki import Wiki

KETTLES = [
    ("Descaling", "Limescale, limescale, limescale: see [[Boiler]] and [[Taps]]."),
    ("Kettle", "Limescale is white."),
    ("Boiler", "Limescale is very hard."),
    ("Taps", "Brass."),
]


async def link_scores(wiki: Wiki, text: str) -> dict[str, float]:
    """Return by title, in order of the hits, how much links add to the score of each page."""
    named = {row["id"]: row["title"] for row in await wiki.rows("pages")}
    hits = (await search_wiki(wiki, text, explained=True)).hits
    return {named[hit.page_id]: hit.explanation["parts"]["linked"] for hit in hits if hit.explanation}


async def test_pages_without_links_are_ranked_by_their_words_alone(wiki: Wiki) -> None:
    for title, body in KETTLES:
        await create_page(
            wiki.database, wiki.scope, PageDraft("topic", title, body=body.replace("[[", "").replace("]]", ""))
        )
    assert await link_scores(wiki, "limescale") == {"Descaling": 0, "Kettle": 0, "Boiler": 0}
    assert list(await link_scores(wiki, "limescale")) == ["Descaling", "Kettle", "Boiler"]


async def test_a_page_linked_by_the_best_hit_ranks_before_its_equals(wiki: Wiki) -> None:
    for title, body in reversed(KETTLES):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    found = await link_scores(wiki, "limescale")
    assert list(found) == ["Descaling", "Boiler", "Kettle"]
    assert found["Boiler"] > 0 == found["Kettle"]


async def test_links_add_no_score_when_the_query_is_the_name_of_a_page(wiki: Wiki) -> None:
    for title, body in reversed([("Limescale", "White."), *KETTLES]):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    found = await link_scores(wiki, "limescale")
    assert next(iter(found)) == "Limescale"
    assert set(found.values()) == {0}


async def test_links_add_no_score_when_the_best_hit_lacks_a_word(wiki: Wiki) -> None:
    for title, body in reversed(KETTLES):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    assert set((await link_scores(wiki, "limescale 38415")).values()) == {0}
    assert any((await link_scores(wiki, "limescale")).values())
