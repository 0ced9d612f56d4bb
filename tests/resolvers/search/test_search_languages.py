"""Questions to a wiki of several languages."""

import pytest

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.resolvers.search.questions import ask, titles
from tests.wiki import Wiki


@pytest.fixture
async def two_languages(wiki: Wiki) -> Wiki:
    """English pages, and some in a language without stop words, one of which is called almost like an English one."""
    for title, body in (
        ("Oak smoker", "The warranty for the smoker holds two years."),
        ("Teak", "For the oak, see it."),
    ):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    for title, body in (("Fr", "東京 the"), ("Thé", "東京の喫茶店")):
        draft = PageDraft("topic", title, body=body, metadata={"lang": "ja"})
        await create_page(wiki.database, wiki.scope, draft)
    return wiki


async def test_a_stop_word_of_one_language_is_no_mistake_in_another(two_languages: Wiki) -> None:
    found = await ask(two_languages, "warranty for oak smoker", explained=True)
    assert found.did_you_mean is None
    assert found.hits[0].explanation is not None
    assert found.hits[0].explanation["parts"]["together"], "no page has to say `for` in Japanese"
    assert (await titles(two_languages, "warranty for the oak smoker"))[0] == "Oak smoker"


async def test_a_phrase_with_a_stop_word_of_one_language_is_found_in_it(two_languages: Wiki) -> None:
    assert await titles(two_languages, '"warranty for the smoker"') == ["Oak smoker"]
    assert await titles(two_languages, 'oak -"warranty for the smoker"') == ["Teak"]


async def test_a_stop_word_alone_is_found_where_it_is_a_word(two_languages: Wiki) -> None:
    assert (await titles(two_languages, "thé"))[0] == "Thé"
    assert "Fr" in await titles(two_languages, "the ")
