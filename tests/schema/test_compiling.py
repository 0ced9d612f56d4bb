"""What admins ask of the compiler, and the evidence that clients give it."""

from typing import Any

import pytest

from db.scope import Role
from resolvers.context import Context
from resolvers.drafts import PageDraft
from resolvers.pages import create_page
from schema.root import make_engine
from tests.compiler.story import compile_all, retain
from tests.schema.asking import ask, code
from tests.wiki import Wiki

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
JOURNAL = """mutation ($t: ID!, $limit: Int) { bootstrapJournalImport(accountId: "a-1", tenantId: $t, limit: $limit) {
    accountId tenantId userId agentId dispatched dispatchedAt error } }"""


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
    assert (await asked(wiki, JOURNAL, limit=0))["data"]["bootstrapJournalImport"]["dispatched"] is False
    done = (await asked(wiki, JOURNAL))["data"]["bootstrapJournalImport"]
    assert (done["accountId"], done["dispatched"], done["error"]) == ("a-1", True, None)
    (job,) = await compile_all(wiki)
    assert (job["trigger"], job["metrics"]["sources_read"]) == ("bootstrap_import", 1)
    assert (await asked(wiki, JOURNAL))["data"]["bootstrapJournalImport"]["dispatched"] is False


@pytest.mark.parametrize("text", [NOW, RESET, JOURNAL])
async def test_only_admins_may_and_only_at_home(wiki: Wiki, text: str) -> None:
    assert code(await asked(wiki.acting(Role.SERVICE), text)) == "FORBIDDEN"
    elsewhere = await ask(ENGINE, Context(wiki.database, wiki.scope), text, t=str(wiki.scope.owner_id))
    assert code(elsewhere) == "FORBIDDEN"
    assert await wiki.rows("compile_jobs") == []
