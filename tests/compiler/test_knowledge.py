"""Which pages answer to the names that a batch says, and what Postgres is asked for that."""

import pytest

from compiler.read.evidence import StoredKnowledge
from db.sql import statements
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.listening import ListeningDatabase
from tests.wiki import Wiki

FIND_CARDS = statements("sources/compiling")["find_cards"].sql
SAID = {f"thing {n}" for n in range(1_000)}


@pytest.mark.parametrize(
    ("said", "asked"),
    [(SAID | {"austin"}, {"austin"}), ({"austin", "thing 1"}, {"austin", "thing 1"}), (SAID, set()), (set(), set())],
    ids=["few of many", "many of few", "none of many", "none"],
)
async def test_a_wiki_with_fewer_names_than_a_batch_is_not_asked_for_each(
    wiki: Wiki, said: set[str], asked: set[str]
) -> None:
    for title in ("Austin", "Lisbon", "Zilker"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title))
    database = ListeningDatabase(wiki.database.dsn)
    await database.open()
    found = await StoredKnowledge(database, wiki.scope).pages(said)
    sent = [one for one in await database.heard() if one.sql == FIND_CARDS]
    await database.close()
    assert {name: [page.title for page in pages] for name, pages in found.items()} == (
        {"austin": ["Austin"]} if "austin" in said else {}
    )
    assert {name for one in sent for values in one.arguments if isinstance(values, list) for name in values} == asked
