"""Admins start compile jobs, resets and journal imports, and clients add sources for them."""

from typing import Any
from uuid import UUID

import pytest

from db.scope import Role
from resolvers.context import Context
from resolvers.jobs.queue import claim
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.sources.sources import SourceDraft, add_source
from schema.root import make_engine
from tests.compiler.scripted_compiler import compile_all, retain_texts
from tests.schema.executing import error_code, execute_document
from tests.wiki import Wiki, close_wiki, open_wiki

ENGINE = make_engine()


async def execute(wiki: Wiki, text: str, **variables: Any) -> dict[str, Any]:
    context = Context(wiki.database, wiki.scope)
    return await execute_document(ENGINE, context, text, t=str(wiki.scope.tenant_id), **variables)


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


async def test_compile_now_returns_the_pending_job(wiki: Wiki) -> None:
    job = (await execute(wiki, NOW))["data"]["compileWikiNow"]
    assert (job["status"], job["trigger"], job["attempt"]) == ("PENDING", "admin", 0)
    assert job["ownerId"] == str(wiki.scope.owner_id)
    assert (await execute(wiki, NOW))["data"]["compileWikiNow"]["id"] == job["id"]
    assert (await wiki.row("compile_jobs"))["options"] == {"modelId": "any"}


async def test_compile_now_sets_the_model_of_pending_jobs_and_not_of_a_running_one(wiki: Wiki) -> None:
    await retain_texts(wiki, "page entity Momofuku\nFood.")
    await execute(wiki, NOW)
    assert {row["options"].get("modelId") for row in await wiki.rows("compile_jobs")} == {"any"}
    await wiki.connection.execute("UPDATE compile_jobs SET options = '{}'")
    running = await claim(wiki.database, "test")
    assert running
    job = (await execute(wiki, NOW))["data"]["compileWikiNow"]
    assert (job["id"] != str(running.id), job["status"]) == (True, "PENDING")
    options = {row["id"]: row["options"] for row in await wiki.rows("compile_jobs")}
    assert (options[running.id], options[UUID(job["id"])]) == ({}, {"modelId": "any"})


async def test_compile_jobs_show_their_metrics(wiki: Wiki) -> None:
    await retain_texts(wiki, "page entity Momofuku\nFood.")
    await compile_all(wiki)
    text = "query ($t: ID!) { wikiCompileJobs(tenantId: $t) { status metrics finishedAt } }"
    (job,) = (await execute(wiki, text))["data"]["wikiCompileJobs"]
    assert (job["status"], job["metrics"]["pages_created"]) == ("SUCCEEDED", 1)


async def test_a_forced_reset_clears_the_cursor_and_archives_the_pages(wiki: Wiki) -> None:
    await retain_texts(wiki, "page entity Momofuku\nFood.")
    await compile_all(wiki)
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Other"))
    wanted = {"cursorCleared": True, "pagesArchived": 2}
    for dry in (True, False):
        answer = (await execute(wiki, RESET, force=True, dry=dry))["data"]["resetWikiCursor"]
        assert {name: answer[name] for name in wanted} == wanted
        active = [row["title"] for row in await wiki.rows("pages", status="active")]
        assert len(active) == (2 if dry else 0)
    again = (await execute(wiki, RESET))["data"]["resetWikiCursor"]
    assert (again["cursorCleared"], again["pagesArchived"]) == (False, 0)
    await execute(wiki, NOW)
    await compile_all(wiki)
    assert [row["title"] for row in await wiki.rows("pages", status="active")] == ["Momofuku"]


async def test_sources_are_retained_in_a_batch_with_errors_per_item(wiki: Wiki) -> None:
    sources = [{"kind": "URL", "ref": "u", "content": "x"}, {"kind": "URL", "ref": "", "content": "x"}]
    done = (await execute(wiki, RETAIN, input={"sources": sources}))["data"]["retainWikiSources"]
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
    assert (await execute(wiki, RETAIN, input=much))["data"]["retainWikiSources"]["userErrors"] == [
        {"field": ["sources"]}
    ]


async def test_a_journal_import_is_dispatched_only_when_ideas_wait(wiki: Wiki) -> None:
    nothing = (await execute(wiki, JOURNAL))["data"]["bootstrapJournalImport"]
    assert (nothing["dispatched"], nothing["dispatchedAt"], bool(nothing["error"])) == (False, None, True)
    await wiki.add_source("journal_idea", "idea-1", "page entity Momofuku\nFood.")
    refused = (await execute(wiki, JOURNAL, limit=0))["data"]["bootstrapJournalImport"]
    (error,) = refused["userErrors"]
    assert (refused["dispatched"], error["field"], error["code"]) == (False, ["limit"], "BAD_USER_INPUT")
    assert error["message"] == refused["error"]
    done = (await execute(wiki, JOURNAL))["data"]["bootstrapJournalImport"]
    assert (done["accountId"], done["dispatched"], done["error"]) == ("a-1", True, None)
    (job,) = await compile_all(wiki)
    assert (job["trigger"], job["metrics"]["sources_read"]) == ("bootstrap_import", 1)
    assert (await execute(wiki, JOURNAL))["data"]["bootstrapJournalImport"]["dispatched"] is False


async def idea(wiki: Wiki, number: int, **metadata: Any) -> None:
    draft = SourceDraft("journal_idea", f"idea-{number}", f"page entity Place {number}\nFood.", metadata=metadata)
    await add_source(wiki.database, wiki.scope, draft)


async def imported(wiki: Wiki, account: str, limit: int | None = None) -> bool:
    answer = (await execute(wiki, JOURNAL, a=account, limit=limit))["data"]["bootstrapJournalImport"]
    assert answer["dispatched"] == (answer["error"] is None)
    return bool(answer["dispatched"])


async def titles(wiki: Wiki) -> list[str]:
    return [row["title"] for row in await wiki.rows("pages", "title")]


async def test_a_journal_import_ends_after_the_last_idea_of_its_account(wiki: Wiki) -> None:
    """The compiler reads sources in order of arrival: earlier ones are compiled too, later ones are not."""
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


async def test_a_journal_import_includes_ideas_that_came_after_a_pending_one(wiki: Wiki) -> None:
    await idea(wiki, 1, accountId="ours")
    await idea(wiki, 2, accountId="ours")
    assert await imported(wiki, "ours", limit=1)
    assert await imported(wiki, "ours")
    assert await imported(wiki, "ours")
    await compile_all(wiki)
    assert await titles(wiki) == ["Place 1", "Place 2"]
    assert len(await wiki.rows("compile_jobs", trigger="bootstrap_import")) == 2


async def test_ideas_without_an_account_are_imported_for_any_account(wiki: Wiki) -> None:
    await idea(wiki, 1, accountId="theirs")
    (answer,) = (await execute(wiki, JOURNAL, a="none"))["data"].values()
    assert (answer["dispatched"], answer["dispatchedAt"], answer["userErrors"]) == (False, None, [])
    assert "No idea of this account waits" in answer["error"]
    assert await wiki.rows("compile_jobs", trigger="bootstrap_import") == []
    await idea(wiki, 2)
    assert await imported(wiki, "none")


async def test_a_journal_import_reads_the_requested_number_of_ideas(wiki: Wiki) -> None:
    for number in range(1, 6):
        await idea(wiki, number, accountId="ours")
    assert await imported(wiki, "ours", limit=2)
    (job,) = await compile_all(wiki)
    assert (job["status"], job["metrics"]["sources_read"]) == ("succeeded", 2)
    assert await imported(wiki, "ours", limit=3)
    jobs = await compile_all(wiki)
    assert [job["metrics"]["sources_read"] for job in jobs] == [2, 3]


async def test_a_journal_import_is_a_separate_job(wiki: Wiki) -> None:
    """An import that is requested beside an open compile job keeps its own options."""
    await retain_texts(wiki, "page entity Momofuku\nFood.")
    await idea(wiki, 1, accountId="ours")
    assert await imported(wiki, "ours", limit=1)
    assert {row["trigger"] for row in await wiki.rows("compile_jobs")} == {"retain", "bootstrap_import"}


async def test_null_arguments_count_as_absent(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Other"))
    text = """mutation ($t: ID!, $force: Boolean, $dry: Boolean) {
        resetWikiCursor(tenantId: $t, force: $force, dryRun: $dry) { pagesArchived } }"""
    for given in ({}, {"force": None, "dry": None}):
        assert (await execute(wiki, text, **given))["data"]["resetWikiCursor"] == {"pagesArchived": 0}
    written = "mutation ($t: ID!) { resetWikiCursor(tenantId: $t, force: null) { pagesArchived } }"
    assert (await execute(wiki, written))["data"]["resetWikiCursor"] == {"pagesArchived": 0}


async def test_admins_see_the_jobs_of_the_whole_tenant_and_of_one_wiki(wiki: Wiki, dsn: str) -> None:
    other = await wiki.neighbour()
    stranger = await open_wiki(dsn)
    for place in (wiki, other, stranger):
        await execute(place, NOW)
    await close_wiki(stranger)
    ids = [row["id"] for row in await wiki.connection.fetch(
        "SELECT id FROM compile_jobs WHERE tenant_id = $1 ORDER BY id DESC", wiki.scope.tenant_id
    )]  # fmt: skip
    jobs = (await execute(wiki, JOBS))["data"]["wikiCompileJobs"]
    assert [job["id"] for job in jobs] == list(map(str, ids))
    assert [job["ownerId"] for job in jobs] == [str(other.scope.owner_id), str(wiki.scope.owner_id)]
    assert [job["id"] for job in (await execute(wiki, JOBS, limit=1))["data"]["wikiCompileJobs"]] == [str(ids[0])]
    for place in (wiki, other):
        (job,) = (await execute(wiki, JOBS, o=str(place.scope.owner_id)))["data"]["wikiCompileJobs"]
        assert job["ownerId"] == job["userId"] == str(place.scope.owner_id)
    assert error_code(await execute(wiki.with_role(Role.SERVICE), JOBS)) == "FORBIDDEN"


async def test_claimed_jobs_show_their_claim_time(wiki: Wiki) -> None:
    await execute(wiki, NOW)
    (job,) = (await execute(wiki, JOBS))["data"]["wikiCompileJobs"]
    assert job["claimedAt"] is None
    await compile_all(wiki)
    (job,) = (await execute(wiki, JOBS))["data"]["wikiCompileJobs"]
    assert job["claimedAt"] == job["startedAt"] is not None


@pytest.mark.parametrize("text", [NOW, RESET, JOURNAL])
async def test_only_admins_of_the_tenant_control_the_compiler(wiki: Wiki, text: str) -> None:
    assert error_code(await execute(wiki.with_role(Role.SERVICE), text)) == "FORBIDDEN"
    elsewhere = await execute_document(ENGINE, Context(wiki.database, wiki.scope), text, t=str(wiki.scope.owner_id))
    assert error_code(elsewhere) == "FORBIDDEN"
    assert await wiki.rows("compile_jobs") == []
