"""Pages to which the first hits link rank above pages of equal score."""

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.resolvers.search.questions import ask
from tests.wiki import Wiki

KETTLES = [
    ("Descaling", "Limescale, limescale, limescale: see [[Boiler]] and [[Taps]]."),
    ("Kettle", "Limescale is white."),
    ("Boiler", "Limescale is very hard."),
    ("Taps", "Brass."),
]


async def names_of(wiki: Wiki, text: str) -> dict[str, float]:
    """Return by title, in order of the hits, what links add to the score of each page."""
    named = {row["id"]: row["title"] for row in await wiki.rows("pages")}
    hits = (await ask(wiki, text, explained=True)).hits
    return {named[hit.page_id]: hit.explanation["parts"]["linked"] for hit in hits if hit.explanation}


async def test_what_the_first_pages_link_to_goes_before_its_equals(wiki: Wiki) -> None:
    for title, body in KETTLES:
        await create_page(
            wiki.database, wiki.scope, PageDraft("topic", title, body=body.replace("[[", "").replace("]]", ""))
        )
    assert await names_of(wiki, "limescale") == {"Descaling": 0, "Kettle": 0, "Boiler": 0}
    assert list(await names_of(wiki, "limescale")) == ["Descaling", "Kettle", "Boiler"]


async def test_a_link_brings_no_page_that_the_question_does_not_find(wiki: Wiki) -> None:
    for title, body in reversed(KETTLES):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    found = await names_of(wiki, "limescale")
    assert list(found) == ["Descaling", "Boiler", "Kettle"]
    assert found["Boiler"] > 0 == found["Kettle"]


async def test_links_say_nothing_where_the_name_of_a_page_is_asked_for(wiki: Wiki) -> None:
    for title, body in reversed([("Limescale", "White."), *KETTLES]):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    found = await names_of(wiki, "limescale")
    assert next(iter(found)) == "Limescale"
    assert set(found.values()) == {0}


async def test_links_say_nothing_where_the_first_page_lacks_a_word(wiki: Wiki) -> None:
    for title, body in reversed(KETTLES):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    assert set((await names_of(wiki, "limescale 38415")).values()) == {0}
    assert any((await names_of(wiki, "limescale")).values())
