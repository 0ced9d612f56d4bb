"""The parts of a page that full-text search reads."""

import pytest

from content.search.words import WORD_MAX
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.search.index import searchable
from tests.wiki import Wiki


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Café  Mocha!", "cafe mocha"),
        ("a" * 500, "a" * WORD_MAX),
        ("word " * 1000, " ".join(["word"] * 1000)),
        ("don't stop", "don t stop"),
        ("", ""),
    ],
)
def test_a_text_of_any_length_is_split_into_words(text: str, words: str) -> None:
    assert searchable(text) == words


@pytest.mark.parametrize("word", ["w{:x}", "ünï-cödé-{:x}", "好{:x}", "a-{:x}-b", "{}.5"])
async def test_the_longest_body_can_be_stored(wiki: Wiki, word: str) -> None:
    body = " ".join(word.format(n * 7919) for n in range(150_000))[:999_000]
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Long", body=body))).page_id
    sql = "SELECT status, length(tsv) AS words FROM search_pages WHERE tenant_id = $1 AND page_id = $2"
    status, words = await wiki.connection.fetchrow(sql, wiki.scope.tenant_id, page_id)
    assert status == "active"
    assert words > 10_000
    await wiki.empty()


async def test_search_rows_of_an_archived_page_are_archived(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))).page_id
    await archive_page(wiki.database, wiki.scope, page_id)
    assert {row["status"] for row in await wiki.rows("page_names", "name")} == {"archived"}
    assert [row["status"] for row in await wiki.rows("search_pages", "page_id")] == ["archived"]
