"""Lint runs from the command line, over REST and as an MCP resource."""

import json
from typing import Any

import pytest

from resolvers.knowledge.lint import CHECKS
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.app.clients.agents import Agent
from tests.app.clients.rest_client import RestClient
from tests.app.command_line import MARA, RunCommand
from tests.app.service import Service
from tests.wiki import Wiki


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


def checks(result: Any) -> dict[str, Any]:
    return {check["name"]: check for check in json.loads(result.out)["checks"]}


def test_a_finding_names_its_fix_and_can_be_muted_with_a_reason(run_in_acme: RunCommand) -> None:
    assert run_in_acme("create", "topic", "Austin", "A city.", *MARA).code == 0
    text = run_in_acme("lint", *MARA).out
    assert all(check.name in text for check in CHECKS)
    assert "cairn append TYPE/SLUG '[[austin]]'" in text
    assert "stale                  info      0      No findings." in text
    muted = run_in_acme("lint", "mute", "orphans", "topic/austin", "An entry page", *MARA)
    assert (muted.code, muted.out) == (0, "Muted the finding.\n")
    assert (
        run_in_acme("lint", "mute", "orphans", "topic/austin", "An entry page", *MARA).out
        == "The finding is already muted this way.\n"
    )
    assert "1 muted. List them with --muted." in run_in_acme("lint", *MARA).out
    assert "- topic/austin: An entry page (" in run_in_acme("lint", *MARA, "--muted").out
    orphans = checks(run_in_acme("lint", *MARA, "--format", "json"))["orphans"]
    assert (orphans["total"], orphans["mutedTotal"], orphans["muted"][0]["mute"]["reason"]) == (0, 1, "An entry page")
    assert run_in_acme("lint", "unmute", "orphans", "topic/austin", *MARA).out == "Unmuted the finding.\n"
    assert run_in_acme("lint", "unmute", "orphans", "topic/austin", *MARA).out == "The finding was not muted.\n"
    assert run_in_acme("lint", "mute", "orphans", "topic/nobody", "x", *MARA).code == 1
    assert run_in_acme("lint", "mute", "orphans", "nonsense", "x", *MARA).code == 2
    assert "There is no check" in run_in_acme("lint", "mute", "nonsense", "x", "x", "--name", *MARA).err


def test_a_clean_wiki_has_no_findings_and_runs_are_stored_as_reports(run_in_acme: RunCommand) -> None:
    result = run_in_acme("lint", *MARA)
    assert (result.code, "\nNo findings.\n" in result.out) == (0, True)
    run_in_acme("lint", *MARA, "--no-report")
    assert run_in_acme("lint", *MARA, "--format", "markdown").out.count("No findings.") == len(CHECKS)
    listed = json.loads(run_in_acme("lint", "reports", *MARA, "--json").out)["nodes"]
    assert [(report["trigger"], report["found"]) for report in listed] == [("command", 0)] * 2
    assert run_in_acme("lint", "reports", *MARA).out.count("command") == 2


def test_lint_without_a_tenant_is_a_usage_error(run_in_acme: RunCommand) -> None:
    assert run_in_acme("lint").code == 2
    assert "--tenant" in run_in_acme("lint").err


def test_findings_are_exported_as_sarif(run_in_acme: RunCommand) -> None:
    assert run_in_acme("create", "decision", "Database", "## Decision\n\nPostgres.", *MARA).code == 0
    assert run_in_acme("lint", "mute", "orphans", "decision/database", "Known", *MARA).code == 0
    log = json.loads(run_in_acme("lint", *MARA, "--format", "sarif").out)
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [check.name for check in CHECKS], "every check, also with no finding"
    assert {rule["defaultConfiguration"]["level"] for rule in rules} == {"error", "warning", "note"}
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["level"] == rules[result["ruleIndex"]]["defaultConfiguration"]["level"]
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "decision/database.md"
        assert place["logicalLocations"] == [{"fullyQualifiedName": "decision/database"}]
    by_rule = {result["ruleId"]: result for result in run["results"]}
    assert by_rule["decision_options"]["suppressions"] == []
    (suppression,) = by_rule["orphans"]["suppressions"]
    assert suppression == {"kind": "external", "status": "accepted", "justification": "Known"}


def test_an_operator_changes_the_lint_settings_of_an_owner(run_in_acme: RunCommand) -> None:
    result = run_in_acme(
        "owners", "lint", "mara", "--tenant", "acme", "--stale-after", "30", "--every", "0", "--sensitivity"
    )
    assert (result.code, "stale after 30 days" in result.out) == (0, True)
    owner = json.loads(run_in_acme("owners", "lint", "mara", "--tenant", "acme", "--json").out)
    assert (owner["staleAfterDays"], owner["lintEveryDays"], owner["requiresSensitivity"]) == (30, 0, True)
    assert run_in_acme("owners", "lint", "mara", "--tenant", "acme", "--stale-after", "0").code == 1


def test_decisions_below_the_significance_threshold_get_no_page(run_in_acme: RunCommand) -> None:
    small = ("--why", "It is printed.", "--decision", "Blue", "--significance", "low", *MARA)
    assert (
        run_in_acme("wiki", "decision", "Which ink?", *small).out
        == "Recorded in the log. Its significance is too low for a page.\n"
    )
    result = run_in_acme("owners", "decisions", "mara", "--threshold", "low", "--tenant", "acme")
    assert (result.code, result.out) == (0, "Decisions of mara get a page if their significance is low or higher.\n")
    assert run_in_acme("wiki", "decision", "Which paper?", *small).out.startswith("Recorded as the page ")
    unchanged = run_in_acme("owners", "decisions", "mara", "--tenant", "acme", "--json")
    assert json.loads(unchanged.out)["decisionThreshold"] == "low", "what is left out stays"
    assert run_in_acme("owners", "decisions", "mara", "--threshold", "huge", "--tenant", "acme").code == 2


async def test_rest_lints_mutes_and_keeps_reports(rest: RestClient, service: Service, wiki: Wiki) -> None:
    await rest.create_page("Austin", content="A city.")
    checks_by_name = {check["name"]: check for check in (await rest.get("/lint")).json()["checks"]}
    assert list(checks_by_name) == [check.name for check in CHECKS]
    (finding,) = checks_by_name["orphans"]["findings"]
    assert (finding["slug"], finding["fix"], finding["mute"]) == ("austin", "cairn append TYPE/SLUG '[[austin]]'", None)
    mute = {"check": "orphans", "slug": "austin", "reason": "An entry page."}
    assert (await rest.post("/lint/mute", mute)).json() == {"changed": True}
    (check,) = (await rest.get("/lint?check=orphans")).json()["checks"]
    assert (check["total"], check["muted"][0]["mute"]["reason"]) == (0, "An entry page.")
    assert (await rest.post("/lint/unmute", {"check": "orphans", "slug": "austin"})).json() == {"changed": True}
    assert (await rest.post("/lint/mute", mute | {"slug": "nowhere"})).status_code == 404
    assert (await rest.post("/lint/mute", mute | {"check": "none"})).json()["field"] == "check"
    assert (await rest.get("/lint?check=none")).status_code == 422
    created = await rest.post("/lint/reports", None)
    assert (created.status_code, created.json()["trigger"]) == (201, "request")
    (listed,) = (await rest.get("/lint/reports")).json()["items"]
    assert listed == created.json()


async def test_agents_read_lint_as_a_resource(mcp_agent: Agent, wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin", body="A city."))
    assert "cairn://lint" in [str(resource.uri) for resource in (await mcp_agent.client.list_resources()).resources]
    (content,) = (await mcp_agent.client.read_resource("cairn://lint")).contents
    assert "- `topic/austin` Fix: `cairn append TYPE/SLUG '[[austin]]'`" in content.text  # type: ignore[union-attr]
