"""The job that indexes a wiki again for search after its language was set."""

from collections.abc import Mapping
from typing import Any

import pytest

from compiler.jobs.worker import runner_for
from db.scope import Role
from resolvers.auth.wiki_settings import set_wiki_language
from resolvers.jobs.queue import claim
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.search import passages
from resolvers.sources.sources import SourceDraft, add_source
from tests.compiler.scripted_compiler import compile_all, scripted_compiler
from tests.wiki import Wiki


async def lexemes(wiki: Wiki) -> Mapping[str, Any]:
    sql = "SELECT DISTINCT substr(lexeme, 2) AS lexeme FROM {}, unnest(tsv) WHERE tenant_id = $1 ORDER BY lexeme"
    tables = ("search_pages", "search_passages")
    return {table: await wiki.connection.fetch(sql.format(table), wiki.scope.tenant_id) for table in tables}


@pytest.mark.parametrize("steps", range(1, 6))
async def test_a_language_that_is_set_while_another_one_is_indexed_applies_to_all_texts(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.setattr(passages, "BATCH", 1)
    admin = wiki.with_role(Role.ADMIN).scope
    for n in range(3):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Häuser {n}", body="Die Häuser."))
        draft = SourceDraft("daily_note", f"day-{n}", "Die Häuser der Städte.")
        await add_source(wiki.database, wiki.scope, draft)
    before = await lexemes(wiki), await wiki.counts()
    await set_wiki_language(wiki.database, admin, "german")
    job = await claim(wiki.database, "test")
    assert job
    attempt = runner_for(wiki.database, job, scripted_compiler())
    for _ in range(steps):
        assert not await attempt.step()
    await set_wiki_language(wiki.database, admin, "english")
    while not await attempt.step():
        pass
    await compile_all(wiki)
    assert (await lexemes(wiki), await wiki.counts()) == before
