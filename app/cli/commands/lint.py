"""`cairn lint`: reports problems of a wiki as a table, JSON, SARIF or Markdown, and mutes findings."""

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Owner, Tenant, TextCommand, parse_time
from ..output import print_json, print_table, say
from .pages import After, Limit, find_page_id, page_name, run_query, say_rest

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope
    from resolvers.knowledge.lint import Finding, Report

SHOWN = 3  # findings of a check in the table
TRIGGER = "command"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

app = typer.Typer(help="Check the pages of a wiki for problems, and mute findings.", invoke_without_command=True)


class Severity(StrEnum):
    """The severities of findings, worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Format(StrEnum):
    """The formats of a report."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    MARKDOWN = "markdown"


LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""The SARIF level of each severity."""


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="lint", epilog="Example: cairn lint --fail-on warning --tenant acme --owner mara")


@app.callback()
def lint_wiki(
    context: typer.Context,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="SLUG", envvar="CAIRN_TENANT", help="Slug or id of the tenant.")
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option("--owner", metavar="SLUG", envvar="CAIRN_OWNER", help="Slug or id of the owner of the wiki."),
    ] = None,
    sweep: Annotated[
        bool,
        typer.Option(
            "--sweep", help="Queue the sweep, which promotes names seen in three sources within 30 days to pages."
        ),
    ] = False,
    fail_on: Annotated[
        Severity | None,
        typer.Option("--fail-on", help="Exit with 1 if there are findings of this severity or a higher one."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format. SARIF is version 2.1.0.")] = Format.TEXT,
    muted: Annotated[bool, typer.Option("--muted", help="Also list muted findings with their reasons.")] = False,
    kept: Annotated[
        bool, typer.Option("--report/--no-report", help="Store a report with the number of findings.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Check the pages of a wiki for problems. Reports broken links, orphans, contradictions, stale pages and more; no
    page is edited."""
    if context.invoked_subcommand is not None:
        return
    if tenant is None or owner is None:
        missing = "--tenant" if tenant is None else "--owner"
        raise typer.BadParameter("give the owner and tenant of the wiki", param_hint=missing)
    reports, job_id, report_id = run(tenant, owner, sweep, kept, most=100 if form is Format.SARIF else 20)
    if form is Format.SARIF:
        print_json(sarif(reports, f"{tenant}/{owner}"))
    elif form is Format.JSON or as_json:
        print_json({"checks": list(map(data_of, reports)), "jobId": job_id, "reportId": report_id})
    elif form is Format.MARKDOWN:
        from resolvers.knowledge.lint_reports import as_markdown

        say(as_markdown(reports, is_showing_muted=muted))
    else:
        say_text(reports, muted)
        if sweep:
            say(
                f"Queued the job {job_id}. Start a worker to run it: cairn worker"
                if job_id
                else "No mention can be promoted."
            )
    if fail_on and any(one.total and is_as_bad(one.check.severity, fail_on) for one in reports):
        raise typer.Exit(1)


def run(
    tenant: str, owner: str, sweep: bool, kept: bool, most: int
) -> tuple[list["Report"], "UUID | None", "UUID | None"]:
    """Run lint and return its reports, the id of the queued sweep job, and the id of the stored report."""
    from db.scope import Role
    from resolvers.knowledge.lint import lint
    from resolvers.knowledge.lint_reports import report_lint
    from resolvers.sources.compile_requests import sweep as ask_for_sweep

    from ..session import find_wiki, run_in_session

    async def work(database: "Database") -> tuple[list["Report"], Any, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        if kept:
            reports, report_id = await report_lint(database, scope, TRIGGER, most=most)
        else:
            reports, report_id = await lint(database, scope, most=most), None
        return reports, await ask_for_sweep(database, scope) if sweep else None, report_id

    return run_in_session(work)


def say_text(reports: list["Report"], is_showing_muted: bool) -> None:
    from resolvers.knowledge.lint_reports import finding_label

    print_table(["check", "severity", "found", "example", "fixed by"], [row_of(one) for one in reports])
    if not any(one.total for one in reports):
        say("No findings.")
    if count := sum(one.muted_total for one in reports):
        say(f"{count} muted." if is_showing_muted else f"{count} muted. List them with --muted.")
    if is_showing_muted:
        for one in (found for report in reports for found in report.muted):
            assert one.mute is not None
            until = f", until {one.mute.until:%Y-%m-%d}" if one.mute.until else ""
            say(f"- {finding_label(one)}: {one.mute.reason} ({one.mute.author_id}{until})")


def is_as_bad(severity: str, limit: Severity) -> bool:
    """Return whether a severity is the limit or worse."""
    order = list(Severity)
    return order.index(Severity(severity)) <= order.index(limit)


def data_of(report: "Report") -> dict[str, Any]:
    return {
        **asdict(report.check),
        "total": report.total,
        "findings": list(map(asdict, report.findings)),
        "mutedTotal": report.muted_total,
        "muted": list(map(asdict, report.muted)),
    }


def row_of(report: "Report") -> tuple[object, ...]:
    from resolvers.knowledge.lint_reports import finding_label

    found = report.findings
    examples = "; ".join(map(finding_label, found[:SHOWN])) or "No findings."
    return report.check.name, report.check.severity, report.total, examples, found[0].fix if found else ""


def sarif(reports: list["Report"], wiki: str) -> dict[str, Any]:
    """Return the reports as SARIF 2.1.0: each check is a rule, and a muted finding is a result with a suppression."""
    from importlib.metadata import version

    rules = [
        {
            "id": one.check.name,
            "shortDescription": {"text": one.check.about},
            "help": {"text": one.check.fix},
            "defaultConfiguration": {"level": LEVELS[one.check.severity]},
        }
        for one in reports
    ]
    results = [result(one, index, found) for index, one in enumerate(reports) for found in (*one.findings, *one.muted)]
    driver = {"name": "cairn lint", "semanticVersion": version("cairn-wiki"), "rules": rules}
    ran = {"tool": {"driver": driver}, "automationDetails": {"id": f"cairn/{wiki}/"}, "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [ran]}


def result(report: "Report", index: int, found: "Finding") -> dict[str, Any]:
    name = f"{found.type}/{found.slug}" if found.page_id else found.title
    place: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": name}]}
    if found.page_id:
        place["physicalLocation"] = {"artifactLocation": {"uri": f"{name}.md"}}
    said = f"{found.title}: {found.detail}" if found.detail else f"{found.title}. {report.check.about}"
    mute = found.mute
    return {
        "ruleId": report.check.name,
        "ruleIndex": index,
        "level": LEVELS[report.check.severity],
        "message": {"text": said},
        "locations": [place],
        "properties": {"fix": found.fix},
        "suppressions": [{"kind": "external", "status": "accepted", "justification": mute.reason}] if mute else [],
    }


Check = Annotated[str, typer.Argument(metavar="CHECK", help="Name of the check, as listed by `cairn lint`.")]
Subject = Annotated[str, typer.Argument(metavar="TYPE/SLUG", help="Page, or with --name a name that has no page.")]
ByName = Annotated[bool, typer.Option("--name", help="Treat the argument as a name that has no page.")]


@app.command(
    "mute",
    cls=TextCommand,
    epilog="Example: cairn lint mute orphans topic/austin 'An entry page' --tenant acme --owner mara",
)
def mute(
    check: Check,
    subject: Subject,
    reason: Annotated[str, typer.Argument(metavar="REASON", help="Reason why the finding is not a problem.")],
    tenant: Tenant,
    owner: Owner,
    by_name: ByName = False,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            parser=parse_time,
            help="Time until which the finding is muted, such as 2026-12-31. Defaults to forever.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Mute a finding of a check for a page or a name. Muted findings are counted separately."""
    from datetime import datetime

    from resolvers.knowledge.lint_reports import mute_finding

    end = None if until is None else datetime.fromisoformat(until)

    async def work(database: "Database", scope: "Scope", page_id: "UUID | None") -> bool:
        name = None if page_id else subject
        return await mute_finding(database, scope, check, page_id=page_id, name=name, reason=reason, until=end)

    changed = on_subject(subject, by_name, tenant, owner, work)
    if as_json:
        print_json({"changed": changed})
    else:
        say("Muted the finding." if changed else "The finding is already muted this way.")


@app.command("unmute", epilog="Example: cairn lint unmute orphans topic/austin --tenant acme --owner mara")
def unmute(
    check: Check, subject: Subject, tenant: Tenant, owner: Owner, by_name: ByName = False, as_json: AsJson = False
) -> None:
    """Unmute a finding of a check for a page or a name."""
    from resolvers.knowledge.lint_reports import unmute_finding

    async def work(database: "Database", scope: "Scope", page_id: "UUID | None") -> bool:
        return await unmute_finding(database, scope, check, page_id=page_id, name=None if page_id else subject)

    changed = on_subject(subject, by_name, tenant, owner, work)
    if as_json:
        print_json({"changed": changed})
    else:
        say("Unmuted the finding." if changed else "The finding was not muted.")


def on_subject(subject: str, by_name: bool, tenant: str, owner: str, work: Any) -> bool:
    """Run `work` on the page TYPE/SLUG, or with `by_name` on a name that has no page."""
    from ..session import find_wiki, run_in_session

    if not by_name:
        page_name(subject)

    async def run(database: "Database") -> bool:
        from db.scope import Role

        scope = (await find_wiki(database, tenant, owner)).scope(Role.MEMBER)
        page_id = None if by_name else await find_page_id(database, scope, subject)
        changed: bool = await work(database, scope, page_id)
        return changed

    return run_in_session(run)


@app.command("reports", epilog="Example: cairn lint reports --tenant acme --owner mara")
def reports(tenant: Tenant, owner: Owner, limit: Limit = 20, after: After = None, as_json: AsJson = False) -> None:
    """List the reports of earlier runs, newest first."""
    found = run_query("lint_reports", "wikiLintReports", tenant, owner, limit=limit, after=after)
    if as_json:
        print_json(found)
        return
    rows = [(one["createdAt"], one["trigger"], one["found"], one["muted"], most_of(one)) for one in found["nodes"]]
    print_table(["when", "asked by", "found", "muted", "most of"], rows)
    say_rest(found)


def most_of(report: dict[str, Any]) -> str:
    """Return the checks with the most findings, and their numbers."""
    found = sorted((one for one in report["counts"] if one["total"]), key=lambda one: -one["total"])
    return ", ".join(f"{one['name']} {one['total']}" for one in found[:SHOWN])
