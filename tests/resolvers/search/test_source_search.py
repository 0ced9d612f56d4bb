"""Searching passages of sources."""

from datetime import UTC, datetime
from typing import Any

import pytest

from resolvers.errors import BadInput
from resolvers.search.source_search import SourceFilter, SourceSearchRequest, SourceSearchResult, search_sources
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.wiki import Wiki

TALK = """\
Mara: Did the kiln survive the night?
Jon: No, it cracked from top to bottom.
Mara: What a pity. I liked its green door.
Jon: The bakery lends us theirs until May.
"""


@pytest.fixture
async def evidence(wiki: Wiki) -> Wiki:
    drafts = [
        SourceDraft("daily_note", "talk", TALK, captured_at=datetime(2026, 3, 2, tzinfo=UTC)),
        SourceDraft("document", "glaze", "# Glazes\n\nThe celadon glaze needs a hot kiln.\n\n- Iron makes it green.\n"),
        SourceDraft("url", "news", "The bakery opened a second shop.", captured_at=datetime(2026, 5, 2, tzinfo=UTC)),
    ]
    await retain_sources(wiki.database, wiki.scope, drafts)
    return wiki


async def search(wiki: Wiki, text: str, **given: Any) -> SourceSearchResult:
    return await search_sources(wiki.database, wiki.scope, SourceSearchRequest(text, **given))


def texts(found: SourceSearchResult) -> list[str]:
    return [hit.text for hit in found.hits]


async def test_the_best_passage_comes_first(evidence: Wiki) -> None:
    found = await search(evidence, "celadon glaze")
    assert texts(found)[0] == "The celadon glaze needs a hot kiln."
    assert found.total_is_exact


async def test_an_answer_without_words_of_the_query_is_found_next_to_its_question(evidence: Wiki) -> None:
    assert "Jon: No, it cracked from top to bottom." in texts(await search(evidence, "survive the night"))[:2]


async def test_the_total_counts_the_passages_around_those_with_words_of_the_query(evidence: Wiki) -> None:
    found = await search(evidence, "survive the night")
    assert not found.has_next_page
    assert found.total == len(found.hits) > 1
    assert found.total_is_exact
    assert (await search(evidence, "survive the night", first=1)).total == found.total


async def test_passages_of_a_named_speaker_come_first(evidence: Wiki) -> None:
    assert texts(await search(evidence, "Jon bakery"))[0].startswith("Jon: The bakery")


async def test_mistyped_words_are_corrected(evidence: Wiki) -> None:
    found = await search(evidence, "celadn glaze")
    assert found.did_you_mean == "celadon glaze"
    assert texts(found)[0].startswith("The celadon glaze")


async def test_phrases_and_exclusions_narrow_the_hits(evidence: Wiki) -> None:
    assert texts(await search(evidence, '"second shop"')) == ["The bakery opened a second shop."]
    assert not any("second shop" in text for text in texts(await search(evidence, "bakery -second")))


async def test_a_phrase_without_matches_is_searched_as_words(evidence: Wiki) -> None:
    query = 'who opened the "second bakery shop"'
    found = await search(evidence, query)
    assert texts(found)[0] == "The bakery opened a second shop."
    assert found.did_you_mean == "who opened the second bakery shop"
    first = await search(evidence, query, first=1)
    second = await search(evidence, query, first=1, after=first.hits[0].cursor)
    assert texts(found)[:2] == [*texts(first), *texts(second)]
    exact = await search(evidence, 'who opened the "second shop"')
    assert texts(exact) == ["The bakery opened a second shop."]
    assert exact.did_you_mean is None
    assert texts(await search(evidence, '"second bakery shop"')) == [], "there is nothing else to search for"
    assert texts(await search(evidence, 'the bakery -opened "hot bakery"', filter=SourceFilter(kinds=("url",)))) == []


LISTED = "`ls -Recurse` lists what is in folders, too."


async def test_a_minus_before_a_known_switch_excludes_nothing(evidence: Wiki) -> None:
    drafts = [
        SourceDraft("document", "ls", f"{LISTED}\n\nUse ls to see folders.\n\nA function may recurse.\n"),
        SourceDraft("document", "x", "-x shows hidden items."),
    ]
    await retain_sources(evidence.database, evidence.scope, drafts)
    assert texts(await search(evidence, "ls -Recurse"))[0] == LISTED
    assert texts(await search(evidence, "ls folders -recurse"))[0] == LISTED
    assert texts(await search(evidence, "hidden -x")) == ["-x shows hidden items."]
    assert texts(await search(evidence, "recurse -folders")) == ["A function may recurse."], "no switch is called so"
    first = await search(evidence, "ls -Recurse", first=1)
    second = await search(evidence, "ls -Recurse", first=1, after=first.hits[0].cursor)
    assert texts(await search(evidence, "ls -Recurse"))[:2] == [*texts(first), *texts(second)]


async def test_an_exclusion_that_leaves_no_passage_is_ignored(evidence: Wiki) -> None:
    found = await search(evidence, "celadon -glaze")
    assert texts(found)[0] == "The celadon glaze needs a hot kiln."
    assert found.did_you_mean == "celadon glaze"
    assert texts(await search(evidence, 'celadon -"glaze"')) == []


async def test_filters_narrow_the_hits(evidence: Wiki) -> None:
    for source_filter in (
        SourceFilter(kinds=("url",)),
        SourceFilter(refs=("news",)),
        SourceFilter(captured_after=datetime(2026, 4, 1, tzinfo=UTC), captured_before=datetime(2026, 6, 1, tzinfo=UTC)),
    ):
        assert texts(await search(evidence, "bakery", filter=source_filter)) == ["The bakery opened a second shop."]
    assert texts(await search(evidence, "bakery", filter=SourceFilter(kinds=("document",)))) == []


async def test_superseded_versions_of_a_source_are_not_found(evidence: Wiki) -> None:
    await retain_sources(evidence.database, evidence.scope, [SourceDraft("url", "news", "It closed again.")])
    assert "The bakery opened a second shop." not in texts(await search(evidence, "bakery second shop"))


async def test_paging_returns_every_passage_once(evidence: Wiki) -> None:
    whole = await search(evidence, "kiln bakery green")
    walked, after = [], None
    while True:
        found = await search(evidence, "kiln bakery green", first=2, after=after)
        walked += texts(found)
        if not found.has_next_page:
            break
        after = found.hits[-1].cursor
    assert walked == texts(whole)
    with pytest.raises(BadInput):
        await search(evidence, "kiln", after=whole.hits[0].cursor)
    with pytest.raises(BadInput):
        await search(evidence, "kiln", after="x")


async def test_snippets_highlight_the_words(evidence: Wiki) -> None:
    found = await search(evidence, "celadon glazes", with_snippets=True)
    snippet = found.hits[0].snippet
    assert snippet is not None
    assert [snippet.text[start : start + length] for start, length in snippet.highlights] == ["celadon", "glaze"]


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("", False), ("  ", False), ("?!", False), ('"', False), ("-kiln", False), ("the", False), ("zzzz", False),
        ("\x00", False), ("x" * 5_000, False), ("kiln " * 500, True), ("\x00 kiln", True), ("\ud800 kiln", True),
    ],
)  # fmt: skip
async def test_odd_search_texts_find_what_their_words_find(evidence: Wiki, text: str, is_found: bool) -> None:
    found = await search(evidence, text, with_snippets=True)
    assert texts(found)[:1] == ["The celadon glaze needs a hot kiln."] * is_found
    assert [bool(hit.snippet and hit.snippet.highlights) for hit in found.hits[:1]] == [True] * is_found


async def retain_daily(wiki: Wiki, *statements: str) -> None:
    """Retain one source per statement, captured on successive days from 1 March."""
    for day, text in enumerate(statements, 1):
        draft = SourceDraft("daily_note", f"day-{day}", text, captured_at=datetime(2026, 3, day, tzinfo=UTC))
        await retain_sources(wiki.database, wiki.scope, [draft])


@pytest.mark.parametrize(
    ("older", "newer", "query"),
    [
        (
            "The office of Falcon Mill: Graz.",
            "After long talks the office of Falcon Mill moved from Graz to Linz.",
            "where is the office of Falcon Mill",
        ),
        ("Falcon Mill stores its data in Redis.", "My mistake about Falcon Mill, the database should read Postgres.",
         "Where does Falcon Mill store its data?"),
        ("Falcon Mill stores its data in Redis.", "Redis is out for Falcon Mill, Postgres is in.",
         "Where does Falcon Mill store its data?"),
        ("Falcon Mill runs on forty servers in the cellar.", "Falcon Mill runs on ninety servers in the cellar.",
         "How many servers does Falcon Mill run on?"),
        ("Das Büro von Falcon Mill liegt in Graz.", "Korrektur: Falcon Mill hat das Büro in Linz.",
         "Wo liegt das Büro von Falcon Mill?"),
        ("Falcon Mill stores its data in Redis.", "I was wrong about Falcon Mill. It's Postgres these days.",
         "Where does Falcon Mill store its data?"),
        ("Mara Pfeil arbeitet als Ärztin.", "Ich habe mich geirrt, der Beruf von Mara Pfeil ist Malerin.",
         "Als was arbeitet Mara Pfeil?"),
    ],
)  # fmt: skip
async def test_a_newer_statement_ranks_before_the_statement_it_corrects(
    wiki: Wiki, older: str, newer: str, query: str
) -> None:
    await retain_daily(wiki, older, "Rain.", newer)
    assert texts(await search(wiki, query))[:2] == [newer, older]


@pytest.mark.parametrize(
    "other",
    [
        "Falcon Mill invited everybody to lunch, what a day.",
        "I no longer remember where I first met the owner of the mill.",
        "I no longer go swimming with the people at Falcon Mill.",
        "We changed our minds about the poster that Falcon Mill had printed.",
        "Falcon Mill corrected the names on its list of guests.",
        "The lift is out of date, says Falcon Mill.",
        "Correction: Copper Gate stores its data in Postgres, not Redis.",
        "Did Falcon Mill replace Redis by Postgres?",
        "If Redis ever fails, Falcon Mill could store everything in Postgres instead.",
    ],
)
async def test_a_newer_statement_on_the_same_topic_does_not_rank_first(wiki: Wiki, other: str) -> None:
    older = "Falcon Mill stores its data in Redis, in the cellar."
    await retain_daily(wiki, older, "Rain.", other)
    assert texts(await search(wiki, "Where does Falcon Mill store its data?"))[0] == older


async def test_corrections_are_ordered_newest_first_across_pages_of_results(wiki: Wiki) -> None:
    cities = ["Graz", "Linz", "Wels"]
    statements = [f"As of today the office of Falcon Mill is in {city}." for city in cities]
    await retain_daily(wiki, *statements)
    query = "where is the office of Falcon Mill"
    assert texts(await search(wiki, query)) == statements[::-1]
    first = await search(wiki, query, first=1)
    assert texts(first) == statements[2:]
    assert texts(await search(wiki, query, first=2, after=first.hits[0].cursor)) == statements[1::-1]


async def test_an_older_statement_names_the_newer_one_that_supersedes_it(wiki: Wiki) -> None:
    older, newer = "Falcon Mill moved its office to Graz.", "Falcon Mill moved its office from Graz to Linz."
    await retain_daily(wiki, older, newer, older.replace("Falcon", "Copper"))
    found = await search(wiki, "Where does Falcon Mill have its office?")
    superseded_by = {hit.text: hit.superseded_by for hit in found.hits}
    first = found.hits[0]
    assert first.text == newer
    assert superseded_by == {
        older: (first.source_id, first.position),
        newer: None,
        older.replace("Falcon", "Copper"): None,
    }
