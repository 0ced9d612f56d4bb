"""An admin sets the language of a wiki, and a job indexes the wiki again for search."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from db.scope import Role
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.search import reindexing
from resolvers.search.request import SearchRequest
from resolvers.search.search import search
from schema.root import make_engine
from tests.compiler.scripted_compiler import compile_all
from tests.resolvers.search.indexes import find_page_ids
from tests.schema.executing import RecordingContext, error_code, execute_document
from tests.wiki import Wiki, close_wiki, open_wiki

ENGINE = make_engine()
SET = """mutation ($language: String!, $owner: ID) {
    setWikiLanguage(input: {language: $language, ownerId: $owner}) {
        changed compileJobId owner { slug language } userErrors { field code message } } }"""
JOBS = "query ($t: ID!) { wikiCompileJobs(tenantId: $t) { id status trigger metrics } }"


async def set_language(wiki: Wiki, language: str, **variables: Any) -> dict[str, Any]:
    answer = await execute_document(
        ENGINE, RecordingContext(wiki.database, wiki.scope), SET, language=language, **variables
    )
    done: dict[str, Any] = answer["data"]["setWikiLanguage"]
    return done


async def test_changing_the_language_of_a_wiki_reindexes_it_by_a_job(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reindexing, "BATCH", 2)
    pages = [PageDraft("topic", f"Bericht {n}", body="Die Häuser standen nicht leer.") for n in range(3)]
    ids = {(await create_page(wiki.database, wiki.scope, page)).page_id for page in pages}
    own = {"lang": "english"}
    other = PageDraft("topic", "Report", body="The houses were running empty.", metadata=own)
    await create_page(wiki.database, wiki.scope, other)
    admin = wiki.with_role(Role.ADMIN)
    done = await set_language(admin, "de-AT")
    assert (done["changed"], done["owner"]["language"], done["userErrors"]) == (True, "german", [])
    assert await find_page_ids(wiki, "häuser") == ids, "until the job has read them they are found as before"
    await compile_all(wiki)
    context = RecordingContext(admin.database, admin.scope)
    (job,) = (await execute_document(ENGINE, context, JOBS, t=str(wiki.scope.tenant_id)))["data"]["wikiCompileJobs"]
    assert (job["id"], job["trigger"], job["status"]) == (done["compileJobId"], "reindex", "SUCCEEDED")
    assert job["metrics"]["pages_reindexed"] == 4
    assert await find_page_ids(wiki, "haus") == ids
    assert [hit.matched_alias for hit in (await search(wiki.database, wiki.scope, SearchRequest("running"))).hits] == [
        None
    ]
    counts = await wiki.counts()
    assert (counts["haus"], counts["run"], counts["nicht"]) == (3, 1, 0)
    assert (await wiki.actions())[-1] == "wiki.language_set"
    again = await set_language(admin, "german")
    assert (again["changed"], again["compileJobId"], again["userErrors"]) == (False, None, [])
    await set_language(admin, "english")
    await compile_all(wiki)
    assert (await wiki.counts())["nicht"] == 3


async def test_an_unknown_language_is_an_error_that_lists_the_known_ones(wiki: Wiki) -> None:
    admin = wiki.with_role(Role.ADMIN)
    (error,) = (await set_language(admin, "Klingon"))["userErrors"]
    assert (error["field"], error["code"]) == (["language"], "BAD_USER_INPUT")
    assert "Choose one of arabic, armenian," in error["message"]
    assert (await set_language(admin, "simple"))["owner"]["language"] == "simple"


async def test_only_admins_of_the_tenant_set_the_language(wiki: Wiki, other_wiki: Wiki) -> None:
    for role in (Role.READER, Role.MEMBER, Role.SERVICE):
        answer = await execute_document(
            ENGINE, RecordingContext(wiki.database, wiki.with_role(role).scope), SET, language="german"
        )
        assert error_code(answer) == "FORBIDDEN"
    admin = wiki.with_role(Role.ADMIN)
    answer = await execute_document(
        ENGINE,
        RecordingContext(admin.database, admin.scope),
        SET,
        language="german",
        owner=str(other_wiki.scope.owner_id),
    )
    assert error_code(answer) == "NOT_FOUND"
    assert (await other_wiki.row("search_scopes") if await other_wiki.rows("search_scopes", "1") else {}) == {}


@pytest.fixture
async def other_wiki(dsn: str) -> AsyncIterator[Wiki]:
    wiki = await open_wiki(dsn)
    yield wiki
    await close_wiki(wiki)
