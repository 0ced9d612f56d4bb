"""What admins ask of the compiler, and the evidence that clients give it."""

from typing import Any

import pytest

from db.scope import Role
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.sources.sources import SourceDraft, add_source
from schema.root import make_engine
from tests.compiler.story import compile_all, retain
from tests.schema.asking import ask, code
from tests.wiki import Wiki, close_wiki, open_wiki

ENGINE = make_engine()


async def asked(wiki: Wiki, text: str, **variables: Any) -> dict[str, Any]:
    context = Context(wiki.database, wiki.scope)
    return await ask(ENGINE, context, text, t=str(wiki.scope.tenant_id), **variables)


NOW = """mutation ($t: ID!, $o: ID) { compileWikiNow(tenantId: $t, ownerId: $o, modelId: "any") {
    id tenantId ownerId status trigger dedupeKey attempt metrics } }"""
RESET = """mutation ($t: ID!, $force: Boolean! = false, $dry: Boolean! = false) {
    resetWikiCursor(tenantId: $t, force: $force, dryRun: $dry) {
        tenantId ownerId userId cursorCleared pagesArchived } }"""
RETAIN = """mutation ($input: RetainWikiSourcesInput!) { retainWikiSources(input: $input) {
    items { position ok created version error { field code } } compileJobId sources { ref } userErrors { field } } }"""
JOURNAL = """mutation ($t: ID!, $a: ID! = "a-1", $limit: Int) {
    bootstrapJournalImport(accountId: $a, tenantId: $t, limit: $limit) {
        accountId tenantId userId agentId dispatched dispatchedAt error userErrors { field code message } } }"""
JOBS = """query ($t: ID!, $o: ID, $limit: Int) { wikiCompileJobs(tenantId: $t, ownerId: $o, limit: $limit) {
    id ownerId userId startedAt claimedAt } }"""


async def test_a_wiki_is_compiled_now_and_the_job_is_the_answer(wiki: Wiki) -> None:
    job = (await asked(wiki, NOW))["data"]["compileWikiNow"]
    assert (job["status"], job["trigger"], job["attempt"]) == ("PENDING", "admin", 0)
    assert job["ownerId"] == str(wiki.scope.owner_id)
    assert (await asked(wiki, NOW))["data"]["compileWikiNow"]["id"] == job["id"]
    assert (await wiki.row("compile_jobs"))["options"] == {"modelId": "any"}


async def test_the_ledger_shows_what_a_job_did(wiki: Wiki) -> None:
    await retain(wiki, "page entity Momofuku\nFood.")
    await compile_all(wiki)
    text = "query ($t: ID!) { wikiCompileJobs(tenantId: $t) { status metrics finishedAt } }"
    (job,) = (await asked(wiki, text))["data"]["wikiCompileJobs"]
    assert (job["status"], job["metrics"]["pages_created"]) == ("SUCCEEDED", 1)


async def test_a_reset_forgets_the_cursor_and_with_force_puts_the_pages_away(wiki: Wiki) -> None:
    await retain(wiki, "page entity Momofuku\nFood.")
    await compile_all(wiki)
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Other"))
    wanted = {"cursorCleared": True, "pagesArchived": 2}
    for dry in (True, False):
        answer = (await asked(wiki, RESET, force=True, dry=dry))["data"]["resetWikiCursor"]
        assert {name: answer[name] for name in wanted} == wanted
        active = [row["title"] for row in await wiki.rows("pages", status="active")]
        assert len(active) == (2 if dry else 0)
    again = (await asked(wiki, RESET))["data"]["resetWikiCursor"]
    assert (again["cursorCleared"], again["pagesArchived"]) == (False, 0)
    await asked(wiki, NOW)
    await compile_all(wiki)
    assert [row["title"] for row in await wiki.rows("pages", status="active")] == ["Momofuku"]


async def test_evidence_is_retained_by_the_batch(wiki: Wiki) -> None:
    sources = [{"kind": "URL", "ref": "u", "content": "x"}, {"kind": "URL", "ref": "", "content": "x"}]
    done = (await asked(wiki, RETAIN, input={"sources": sources}))["data"]["retainWikiSources"]
    assert done == {
        "items": [
            {"position": 0, "ok": True, "created": True, "version": 1, "error": None},
            {"position": 1, "ok": False, "created": False, "version": None,
             "error": {"field": ["sources", "1", "ref"], "code": "BAD_USER_INPUT"}},
        ],
        "compileJobId": str((await wiki.row("compile_jobs"))["id"]),
        "sources": [{"ref": "u"}],
        "userErrors": [{"field": ["sources", "1", "ref"]}],
    }  # fmt: skip
    much = {"sources": sources[:1] * 101}
    assert (await asked(wiki, RETAIN, input=much))["data"]["retainWikiSources"]["userErrors"] == [
        {"field": ["sources"]}
    ]


async def test_a_journal_is_compiled_in_bulk_where_there_is_one(wiki: Wiki) -> None:
    nothing = (await asked(wiki, JOURNAL))["data"]["bootstrapJournalImport"]
    assert (nothing["dispatched"], nothing["dispatchedAt"], bool(nothing["error"])) == (False, None, True)
    await wiki.add_source("journal_idea", "idea-1", "page entity Momofuku\nFood.")
    refused = (await asked(wiki, JOURNAL, limit=0))["data"]["bootstrapJournalImport"]
    (error,) = refused["userErrors"]
    assert (refused["dispatched"], error["field"], error["code"]) == (False, ["limit"], "BAD_USER_INPUT")
    assert error["message"] == refused["error"]
    done = (await asked(wiki, JOURNAL))["data"]["bootstrapJournalImport"]
    assert (done["accountId"], done["dispatched"], done["error"]) == ("a-1", True, None)
    (job,) = await compile_all(wiki)
    assert (job["trigger"], job["metrics"]["sources_read"]) == ("bootstrap_import", 1)
    assert (await asked(wiki, JOURNAL))["data"]["bootstrapJournalImport"]["dispatched"] is False


async def idea(wiki: Wiki, number: int, **metadata: Any) -> None:
    draft = SourceDraft("journal_idea", f"idea-{number}", f"page entity Place {number}\nFood.", metadata=metadata)
    await add_source(wiki.database, wiki.scope, draft)


async def imported(wiki: Wiki, account: str, limit: int | None = None) -> bool:
    answer = (await asked(wiki, JOURNAL, a=account, limit=limit))["data"]["bootstrapJournalImport"]
    assert answer["dispatched"] == (answer["error"] is None)
    return bool(answer["dispatched"])


async def titles(wiki: Wiki) -> list[str]:
    return [row["title"] for row in await wiki.rows("pages", "title")]


async def test_an_import_of_a_journal_ends_behind_its_last_idea(wiki: Wiki) -> None:
    """The compiler reads a wiki in the order it came: what lies before is compiled along, what lies behind is not."""
    await idea(wiki, 1, accountId="theirs")
    await idea(wiki, 2, account_id="ours")
    await idea(wiki, 3, accountId="theirs")
    assert not await imported(wiki, "nobody's")
    assert await imported(wiki, "ours")
    await compile_all(wiki)
    assert await titles(wiki) == ["Place 1", "Place 2"]
    assert not await imported(wiki, "ours")
    assert await imported(wiki, "theirs")
    await compile_all(wiki)
    assert await titles(wiki) == ["Place 1", "Place 2", "Place 3"]


async def test_an_account_without_ideas_is_told_so_and_ideas_without_an_account_are_of_any(wiki: Wiki) -> None:
    await idea(wiki, 1, accountId="theirs")
    (answer,) = (await asked(wiki, JOURNAL, a="none"))["data"].values()
    assert (answer["dispatched"], answer["dispatchedAt"], answer["userErrors"]) == (False, None, [])
    assert "No idea of this account waits" in answer["error"]
    assert await wiki.rows("compile_jobs", trigger="bootstrap_import") == []
    await idea(wiki, 2)
    assert await imported(wiki, "none")


async def test_an_import_of_a_journal_reads_as_many_ideas_as_were_asked_for(wiki: Wiki) -> None:
    for number in range(1, 6):
        await idea(wiki, number, accountId="ours")
    assert await imported(wiki, "ours", limit=2)
    (job,) = await compile_all(wiki)
    assert (job["status"], job["metrics"]["sources_read"]) == ("succeeded", 2)
    assert await imported(wiki, "ours", limit=3)
    jobs = await compile_all(wiki)
    assert [job["metrics"]["sources_read"] for job in jobs] == [2, 3]


async def test_an_import_of_a_journal_is_a_job_of_its_own(wiki: Wiki) -> None:
    """One that is asked for beside an open compile keeps what it was asked for."""
    await retain(wiki, "page entity Momofuku\nFood.")
    await idea(wiki, 1, accountId="ours")
    assert await imported(wiki, "ours", limit=1)
    assert {row["trigger"] for row in await wiki.rows("compile_jobs")} == {"retain", "bootstrap_import"}


async def test_what_is_null_is_as_if_it_was_not_given(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Other"))
    text = """mutation ($t: ID!, $force: Boolean, $dry: Boolean) {
        resetWikiCursor(tenantId: $t, force: $force, dryRun: $dry) { pagesArchived } }"""
    for given in ({}, {"force": None, "dry": None}):
        assert (await asked(wiki, text, **given))["data"]["resetWikiCursor"] == {"pagesArchived": 0}
    written = "mutation ($t: ID!) { resetWikiCursor(tenantId: $t, force: null) { pagesArchived } }"
    assert (await asked(wiki, written))["data"]["resetWikiCursor"] == {"pagesArchived": 0}


async def test_admins_see_the_jobs_of_the_whole_tenant_and_of_one_wiki(wiki: Wiki, dsn: str) -> None:
    other = await wiki.neighbour()
    stranger = await open_wiki(dsn)
    for place in (wiki, other, stranger):
        await asked(place, NOW)
    await close_wiki(stranger)
    ids = [row["id"] for row in await wiki.look.fetch(
        "SELECT id FROM compile_jobs WHERE tenant_id = $1 ORDER BY id DESC", wiki.scope.tenant_id
    )]  # fmt: skip
    jobs = (await asked(wiki, JOBS))["data"]["wikiCompileJobs"]
    assert [job["id"] for job in jobs] == list(map(str, ids))
    assert [job["ownerId"] for job in jobs] == [str(other.scope.owner_id), str(wiki.scope.owner_id)]
    assert [job["id"] for job in (await asked(wiki, JOBS, limit=1))["data"]["wikiCompileJobs"]] == [str(ids[0])]
    for place in (wiki, other):
        (job,) = (await asked(wiki, JOBS, o=str(place.scope.owner_id)))["data"]["wikiCompileJobs"]
        assert job["ownerId"] == job["userId"] == str(place.scope.owner_id)
    assert code(await asked(wiki.acting(Role.SERVICE), JOBS)) == "FORBIDDEN"


async def test_a_job_says_when_it_was_claimed(wiki: Wiki) -> None:
    await asked(wiki, NOW)
    (job,) = (await asked(wiki, JOBS))["data"]["wikiCompileJobs"]
    assert job["claimedAt"] is None
    await compile_all(wiki)
    (job,) = (await asked(wiki, JOBS))["data"]["wikiCompileJobs"]
    assert job["claimedAt"] == job["startedAt"] is not None


@pytest.mark.parametrize("text", [NOW, RESET, JOURNAL])
async def test_only_admins_may_and_only_at_home(wiki: Wiki, text: str) -> None:
    assert code(await asked(wiki.acting(Role.SERVICE), text)) == "FORBIDDEN"
    elsewhere = await ask(ENGINE, Context(wiki.database, wiki.scope), text, t=str(wiki.scope.owner_id))
    assert code(elsewhere) == "FORBIDDEN"
    assert await wiki.rows("compile_jobs") == []
