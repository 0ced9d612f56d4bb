"""What a wiki keeps of lint: findings that are muted with a reason, and reports of runs."""

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
from tests.schema.asking import ask, code
from tests.wiki import Wiki

ENGINE = make_engine()
MUTE = """mutation ($input: MuteWikiLintFindingInput!) {
    done: muteWikiLintFinding(input: $input) { changed userErrors { field code message } } }"""
UNMUTE = "mutation ($input: UnmuteWikiLintFindingInput!) { done: unmuteWikiLintFinding(input: $input) { changed } }"
LINT = """query ($names: [String!]) { wikiLint(names: $names) {
    name total mutedTotal findings { title muteReason } muted { title muteReason mutedBy mutedUntil fix } } }"""
REPORTS = """{ wikiLintReports { totalCount nodes { id trigger found muted counts { name total muted } } } }"""


async def asked(wiki: Wiki, text: str, **variables: Any) -> Any:
    return await ask(ENGINE, Context(wiki.database, wiki.scope), text, **variables)


async def done(wiki: Wiki, text: str, **input: Any) -> Any:
    return (await asked(wiki, text, input=input))["data"]["done"]


async def found(wiki: Wiki, name: str) -> Any:
    (one,) = (await asked(wiki, LINT, names=[name]))["data"]["wikiLint"]
    return one


async def test_a_muted_page_is_counted_apart_with_its_reason_until_it_is_unmuted(wiki: Wiki) -> None:
    pages = [(await create_page(wiki.database, wiki.scope, PageDraft("topic", title))).page_id for title in "ABC"]
    given = {"check": "orphans", "pageId": str(pages[0])}
    assert (await done(wiki, MUTE, **given, reason="An entry page."))["changed"]
    assert not (await done(wiki, MUTE, **given, reason="An entry page."))["changed"]
    one = await found(wiki, "orphans")
    assert (one["total"], one["mutedTotal"]) == (2, 1)
    assert [row["title"] for row in one["findings"]] == ["B", "C"]
    (muted,) = one["muted"]
    assert (muted["title"], muted["muteReason"], muted["mutedUntil"]) == ("A", "An entry page.", None)
    assert muted["mutedBy"] == wiki.scope.actor.id
    assert (await found(wiki, "missing_summaries"))["mutedTotal"] == 0, "of one check alone"
    assert (await done(wiki, UNMUTE, **given))["changed"]
    assert not (await done(wiki, UNMUTE, **given))["changed"]
    assert (await found(wiki, "orphans"))["total"] == 3


async def test_a_name_without_a_page_is_muted_in_whatever_letters(wiki: Wiki) -> None:
    for n in range(3):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Note {n}", body="See [[Nowhere]]."))
    assert (await found(wiki, "missing_pages"))["total"] == 1
    assert (await done(wiki, MUTE, check="missing_pages", name="NOWHERE", reason="A joke."))["changed"]
    one = await found(wiki, "missing_pages")
    assert (one["total"], one["mutedTotal"], one["muted"][0]["muteReason"]) == (0, 1, "A joke.")


async def test_a_mute_ends_when_it_was_said_to(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))).page_id
    end = datetime.now(UTC) + timedelta(hours=1)
    await done(wiki, MUTE, check="orphans", pageId=str(page_id), reason="For now.", until=end.isoformat())
    assert (await found(wiki, "orphans"))["mutedTotal"] == 1
    await wiki.look.execute("UPDATE lint_mutes SET until = now() - interval '1 hour'")
    assert (await found(wiki, "orphans"))["total"] == 1


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
async def test_a_mute_that_cannot_be_is_an_error_of_its_field(wiki: Wiki, given: dict[str, Any], field: str) -> None:
    answer = await done(wiki, MUTE, **({"reason": "So."} | given))
    assert not answer["changed"]
    (error,) = answer["userErrors"]
    assert (error["field"], error["code"]) == ([field], "BAD_USER_INPUT")


async def test_a_page_that_is_not_there_is_neither_muted_nor_unmuted(wiki: Wiki) -> None:
    given = {"check": "orphans", "pageId": "00000000-0000-0000-0000-000000000001"}
    assert code(await asked(wiki, MUTE, input=given | {"reason": "So."})) == "NOT_FOUND"
    assert code(await asked(wiki, UNMUTE, input=given)) == "NOT_FOUND"


async def test_who_may_only_read_mutes_nothing_and_reports_nothing(wiki: Wiki) -> None:
    reader = wiki.acting(Role.READER)
    given = {"check": "orphans", "name": "x", "reason": "So."}
    assert code(await asked(reader, MUTE, input=given)) == "FORBIDDEN"
    text = "mutation { reportWikiLint(input: {}) { report { id } } }"
    assert code(await asked(reader, text)) == "FORBIDDEN"


async def test_an_unknown_check_is_refused_and_named_ones_run_alone(wiki: Wiki) -> None:
    assert code(await asked(wiki, LINT, names=["nonsense"])) == "BAD_USER_INPUT"
    answer = await asked(wiki, LINT, names=["stale", "orphans"])
    assert [one["name"] for one in answer["data"]["wikiLint"]] == ["orphans", "stale"]
    assert (await asked(wiki, LINT, names=[]))["data"]["wikiLint"] == []


async def test_a_run_is_kept_and_the_log_says_that_it_ran(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "A"))
    before = await wiki.rows("pages")
    answer = await asked(wiki, "mutation { reportWikiLint(input: {}) { report { trigger found } } }")
    assert answer["data"]["reportWikiLint"]["report"] == {"trigger": "request", "found": 2}
    reports = (await asked(wiki, REPORTS))["data"]["wikiLintReports"]
    (one,) = reports["nodes"]
    assert [count["name"] for count in one["counts"]] == [check.name for check in CHECKS]
    counted = {count["name"]: count["total"] for count in one["counts"] if count["total"]}
    assert counted == {"orphans": 1, "missing_summaries": 1}
    assert (await wiki.actions())[-1] == "lint.reported"
    assert await wiki.rows("pages") == before, "nothing is edited"


async def test_old_reports_make_way(wiki: Wiki) -> None:
    await wiki.look.execute(
        """INSERT INTO lint_reports (tenant_id, owner_id, id, trigger, found, muted)
        SELECT $1, $2, CAST('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS uuid), 'command', n, 0
        FROM generate_series(1, 205) AS n""",
        wiki.scope.tenant_id, wiki.scope.owner_id,
    )  # fmt: skip
    await report_lint(wiki.database, wiki.scope, "command")
    rows = await wiki.rows("lint_reports")
    assert (len(rows), rows[0]["found"], rows[-1]["found"]) == (MAX_REPORTS, 7, 0)


async def test_a_page_of_findings_quotes_what_the_wiki_says_as_code(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", body="[[x`y]]"))
    reports, _ = await report_lint(wiki.database, wiki.scope, "command")
    page = as_markdown(reports)
    assert page.count("\n## ") == len(CHECKS)
    assert "## orphans (info): 1\n\nPages that no other page links to.\n\n- `topic/a` Fix: `cairn append" in page
    assert [code_span(text) for text in ("a`b", "`a\nb")] == ["``a`b``", "`` `a b ``"]
    stale = "Pages that have not changed for as long as the wiki allows, 90 days by default."
    assert f"## stale (info): 0\n\n{stale}\n\nNo findings." in page
