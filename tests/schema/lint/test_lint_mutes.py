"""Lint findings can be muted with a reason, and reports of runs are stored."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from db.scope import Role
from resolvers.context import Context
from resolvers.knowledge.lint import CHECKS
from resolvers.knowledge.lint_reports import MAX_REPORTS, as_markdown, report_lint
from resolvers.knowledge.lint_reports import code as code_span
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from schema.root import make_engine
from tests.schema.executing import error_code, execute_document
from tests.wiki import Wiki

ENGINE = make_engine()
MUTE = """mutation ($input: MuteWikiLintFindingInput!) {
    done: muteWikiLintFinding(input: $input) { changed userErrors { field code message } } }"""
UNMUTE = "mutation ($input: UnmuteWikiLintFindingInput!) { done: unmuteWikiLintFinding(input: $input) { changed } }"
LINT = """query ($names: [String!]) { wikiLint(names: $names) {
    name total mutedTotal findings { title muteReason } muted { title muteReason mutedBy mutedUntil fix } } }"""
REPORTS = """{ wikiLintReports { totalCount nodes { id trigger found muted counts { name total muted } } } }"""


async def execute(wiki: Wiki, text: str, **variables: Any) -> Any:
    return await execute_document(ENGINE, Context(wiki.database, wiki.scope), text, **variables)


async def mutate(wiki: Wiki, text: str, **input: Any) -> Any:
    return (await execute(wiki, text, input=input))["data"]["done"]


async def lint_report(wiki: Wiki, name: str) -> Any:
    (one,) = (await execute(wiki, LINT, names=[name]))["data"]["wikiLint"]
    return one


async def test_a_muted_page_is_counted_apart_until_it_is_unmuted(wiki: Wiki) -> None:
    pages = [(await create_page(wiki.database, wiki.scope, PageDraft("topic", title))).page_id for title in "ABC"]
    given = {"check": "orphans", "pageId": str(pages[0])}
    assert (await mutate(wiki, MUTE, **given, reason="An entry page."))["changed"]
    assert not (await mutate(wiki, MUTE, **given, reason="An entry page."))["changed"]
    report = await lint_report(wiki, "orphans")
    assert (report["total"], report["mutedTotal"]) == (2, 1)
    assert [row["title"] for row in report["findings"]] == ["B", "C"]
    (muted,) = report["muted"]
    assert (muted["title"], muted["muteReason"], muted["mutedUntil"]) == ("A", "An entry page.", None)
    assert muted["mutedBy"] == wiki.scope.actor.id
    assert (await lint_report(wiki, "missing_summaries"))["mutedTotal"] == 0, "of one check alone"
    assert (await mutate(wiki, UNMUTE, **given))["changed"]
    assert not (await mutate(wiki, UNMUTE, **given))["changed"]
    assert (await lint_report(wiki, "orphans"))["total"] == 3


async def test_a_muted_name_matches_in_any_case(wiki: Wiki) -> None:
    for n in range(3):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Note {n}", body="See [[Nowhere]]."))
    assert (await lint_report(wiki, "missing_pages"))["total"] == 1
    assert (await mutate(wiki, MUTE, check="missing_pages", name="NOWHERE", reason="A joke."))["changed"]
    report = await lint_report(wiki, "missing_pages")
    assert (report["total"], report["mutedTotal"], report["muted"][0]["muteReason"]) == (0, 1, "A joke.")


async def test_a_mute_ends_at_its_until_time(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))).page_id
    end = datetime.now(UTC) + timedelta(hours=1)
    await mutate(wiki, MUTE, check="orphans", pageId=str(page_id), reason="For now.", until=end.isoformat())
    assert (await lint_report(wiki, "orphans"))["mutedTotal"] == 1
    await wiki.connection.execute("UPDATE lint_mutes SET until = now() - interval '1 hour'")
    assert (await lint_report(wiki, "orphans"))["total"] == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"check": "nonsense", "name": "x"}, "check"),
        ({"check": "orphans"}, "name"),
        ({"check": "orphans", "name": "x", "pageId": "00000000-0000-0000-0000-000000000001"}, "name"),
        ({"check": "orphans", "name": " "}, "name"),
        ({"check": "orphans", "name": "x", "reason": ""}, "reason"),
        ({"check": "orphans", "name": "x", "until": "2020-01-01T00:00:00Z"}, "until"),
    ],
)
async def test_an_invalid_mute_is_an_error_of_its_field(wiki: Wiki, given: dict[str, Any], field: str) -> None:
    answer = await mutate(wiki, MUTE, **({"reason": "So."} | given))
    assert not answer["changed"]
    (error,) = answer["userErrors"]
    assert (error["field"], error["code"]) == ([field], "BAD_USER_INPUT")


async def test_muting_and_unmuting_an_unknown_page_is_not_found(wiki: Wiki) -> None:
    given = {"check": "orphans", "pageId": "00000000-0000-0000-0000-000000000001"}
    assert error_code(await execute(wiki, MUTE, input=given | {"reason": "So."})) == "NOT_FOUND"
    assert error_code(await execute(wiki, UNMUTE, input=given)) == "NOT_FOUND"


async def test_muting_a_page_that_is_hidden_from_the_caller_is_not_found(wiki: Wiki) -> None:
    draft = PageDraft("topic", "Layoffs", metadata={"sensitivity": "restricted"})
    hidden = (await create_page(wiki.database, wiki.scope, draft)).page_id
    colleague = await wiki.colleague()
    given = {"check": "orphans", "pageId": str(hidden)}
    assert error_code(await execute(colleague, MUTE, input=given | {"reason": "So."})) == "NOT_FOUND"
    assert error_code(await execute(colleague, UNMUTE, input=given)) == "NOT_FOUND"
    assert await wiki.rows("lint_mutes", "1") == []


async def test_readers_cannot_mute_findings_or_create_reports(wiki: Wiki) -> None:
    reader = wiki.with_role(Role.READER)
    given = {"check": "orphans", "name": "x", "reason": "So."}
    assert error_code(await execute(reader, MUTE, input=given)) == "FORBIDDEN"
    text = "mutation { reportWikiLint(input: {}) { report { id } } }"
    assert error_code(await execute(reader, text)) == "FORBIDDEN"


async def test_only_named_checks_run_and_unknown_names_are_refused(wiki: Wiki) -> None:
    assert error_code(await execute(wiki, LINT, names=["nonsense"])) == "BAD_USER_INPUT"
    answer = await execute(wiki, LINT, names=["stale", "orphans"])
    assert [one["name"] for one in answer["data"]["wikiLint"]] == ["orphans", "stale"]
    assert (await execute(wiki, LINT, names=[]))["data"]["wikiLint"] == []


async def test_a_lint_report_is_stored_and_logged(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))
    before = await wiki.rows("pages")
    answer = await execute(wiki, "mutation { reportWikiLint(input: {}) { report { trigger found } } }")
    assert answer["data"]["reportWikiLint"]["report"] == {"trigger": "request", "found": 2}
    reports = (await execute(wiki, REPORTS))["data"]["wikiLintReports"]
    (report,) = reports["nodes"]
    assert [count["name"] for count in report["counts"]] == [check.name for check in CHECKS]
    counted = {count["name"]: count["total"] for count in report["counts"] if count["total"]}
    assert counted == {"orphans": 1, "missing_summaries": 1}
    assert (await wiki.actions())[-1] == "lint.reported"
    assert await wiki.rows("pages") == before, "nothing is edited"


async def test_the_oldest_reports_above_the_limit_are_deleted(wiki: Wiki) -> None:
    await wiki.connection.execute(
        """INSERT INTO lint_reports (tenant_id, owner_id, id, trigger, found, muted)
        SELECT $1, $2, CAST('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS uuid), 'command', n, 0
        FROM generate_series(1, 205) AS n""",
        wiki.scope.tenant_id, wiki.scope.owner_id,
    )  # fmt: skip
    await report_lint(wiki.database, wiki.scope, "command")
    rows = await wiki.rows("lint_reports")
    assert (len(rows), rows[0]["found"], rows[-1]["found"]) == (MAX_REPORTS, 7, 0)


async def test_markdown_reports_quote_wiki_text_as_code(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", body="[[x`y]]"))
    reports, _ = await report_lint(wiki.database, wiki.scope, "command")
    page = as_markdown(reports)
    assert page.count("\n## ") == len(CHECKS)
    assert "## orphans (info): 1\n\nPages that no other page links to.\n\n- `topic/a` Fix: `cairn append" in page
    assert [code_span(text) for text in ("a`b", "`a\nb")] == ["``a`b``", "`` `a b ``"]
    stale = "Pages that have not changed for as long as the wiki allows, 90 days by default."
    assert f"## stale (info): 0\n\n{stale}\n\nNo findings." in page
