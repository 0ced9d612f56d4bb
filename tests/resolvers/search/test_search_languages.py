"""Searching a wiki with pages in several languages."""

import pytest

from content.search.words import ANALYSER
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.search.lexemes import fold
from resolvers.transactions.transaction import writing
from tests.resolvers.search.wiki_search import hit_titles, search_wiki
from tests.wiki import Wiki


@pytest.fixture
async def two_languages(wiki: Wiki) -> Wiki:
    """A wiki in English and in a language without stop words, with a page titled almost like an English stop word."""
    for title, body in (
        ("Oak smoker", "The warranty for the smoker holds two years."),
        ("Teak", "For the oak, see it."),
    ):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    for title, body in (("Fr", "東京 the"), ("Thé", "東京の喫茶店")):
        draft = PageDraft("topic", title, body=body, metadata={"lang": "ja"})
        await create_page(wiki.database, wiki.scope, draft)
    return wiki


async def test_a_stop_word_of_one_language_is_not_corrected_in_another(two_languages: Wiki) -> None:
    found = await search_wiki(two_languages, "warranty for oak smoker", explained=True)
    assert found.did_you_mean is None
    assert found.hits[0].explanation is not None
    assert found.hits[0].explanation["parts"]["together"], "no page has to say `for` in Japanese"
    assert (await hit_titles(two_languages, "warranty for the oak smoker"))[0] == "Oak smoker"


async def test_a_phrase_with_a_stop_word_is_found_in_its_language(two_languages: Wiki) -> None:
    assert await hit_titles(two_languages, '"warranty for the smoker"') == ["Oak smoker"]
    assert await hit_titles(two_languages, 'oak -"warranty for the smoker"') == ["Teak"]


async def test_a_stop_word_alone_is_found_in_a_language_without_stop_words(two_languages: Wiki) -> None:
    assert (await hit_titles(two_languages, "thé"))[0] == "Thé"
    assert "Fr" in await hit_titles(two_languages, "the ")


INSURANCE = {
    "de": {
        "Krankheit": "Die Krankenversicherung zahlt, und zwar alles.",
        "Unfallversicherung": "Sie zahlt nach dem Sturz.",
        "Nummern": "Die Versicherungsnummer steht auf der Karte.",
        "Garten": "Hier wachsen Rosen.",
        "Verunsicherung": "Wer zweifelt, fragt.",
    },
    "nl": {"Ziekte": "De ziektekostenverzekering betaalt.", "Tuin": "Hier groeien rozen."},
    "sv": {"Sjukdom": "Sjukförsäkringen och hemförsäkring betalar.", "Lund": "Rosor."},
}


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("de", "Versicherung", {"Krankheit", "Unfallversicherung", "Nummern"}),
        ("de", "versicherung ", {"Krankheit", "Unfallversicherung", "Nummern"}),
        ("de", "Versicherung zahlt alles", {"Krankheit", "Unfallversicherung", "Nummern"}),
        ("de", "Sicherung ", {"Krankheit", "Unfallversicherung", "Verunsicherung"}),
        ("de", "Karte ", {"Nummern"}),
        ("de", "nummer ", {"Nummern"}),
        ("nl", "verzekering", {"Ziekte"}),
        ("sv", "försäkring", {"Sjukdom"}),
    ],
)
async def test_a_word_finds_the_compounds_that_contain_it(
    wiki: Wiki, language: str, query: str, expected: set[str]
) -> None:
    for title, body in INSURANCE[language].items():
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body, metadata={"lang": language}))
    await fold_counts(wiki)
    assert set(await hit_titles(wiki, query)) == expected
    assert (await search_wiki(wiki, query)).did_you_mean is None


async def test_a_word_ranks_before_its_compounds(wiki: Wiki) -> None:
    for title, body in (INSURANCE["de"] | {"Vertrag": "Eine Versicherung schließt man ab."}).items():
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body, metadata={"lang": "de"}))
    await fold_counts(wiki)
    assert (await hit_titles(wiki, "Versicherung"))[0] == "Vertrag"


async def test_english_words_are_not_searched_in_compounds(wiki: Wiki) -> None:
    for title, body in (("Coffee", "The espressomachine leaks."), ("Tea", "A kettle.")):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body=body))
    await fold_counts(wiki)
    assert await hit_titles(wiki, "machine ") == []


async def fold_counts(wiki: Wiki) -> None:
    async with writing(wiki.database, wiki.scope) as writer:
        await fold(writer, ANALYSER)  # a word is known once it is counted
