"""Questions as people ask them: everyday words, switches, signs, parts of words."""

import pytest

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.resolvers.search.questions import ask, titles
from tests.wiki import Wiki


@pytest.mark.parametrize("words", ["get my money back", "MONEY"])
async def test_a_common_word_of_the_language_is_no_mistake(wiki: Wiki, words: str) -> None:
    for title in ("Mode", "Core", "Go back in a mode"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title))
    assert (await ask(wiki, words)).did_you_mean is None
    assert "Mode" not in await titles(wiki, words)
    assert (await ask(wiki, "mdoe")).did_you_mean == "mode", "no word of the language"


async def test_the_words_that_are_common_are_those_of_the_languages_of_the_wiki(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Leiste", metadata={"lang": "de"}))
    assert (await ask(wiki, "leise")).did_you_mean is None
    other = await wiki.neighbour()
    await create_page(other.database, other.scope, PageDraft("topic", "Leiste", body="A page in English."))
    assert (await ask(other, "leise")).did_you_mean == "leiste"
