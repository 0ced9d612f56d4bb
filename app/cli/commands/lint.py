"""`cairn lint`: reports problems of a wiki as a table, JSON, SARIF or Markdown, and mutes findings."""

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import After, AsJson, Limit, Owner, Tenant, TextCommand, parse_time
from ..output import print_json, print_table, say
from .pages import check_page_name, find_page_id, run_query, say_next_page

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
            "--sweep", help="Queue the sweep, which promotes names with enough evidence from three sources to pages."
        ),
    ] = False,
    fail_on: Annotated[
        Severity | None,
        typer.Option("--fail-on", help="Exit with 1 if there are findings of this severity or a higher one."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format. SARIF is version 2.1.0.")] = Format.TEXT,
    muted: Annotated[bool, typer.Option("--muted", help="Also list muted findings with their reasons.")] = False,
    stores_report: Annotated[
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
    if as_json and form not in (Format.TEXT, Format.JSON):
        raise typer.BadParameter("give --json or --format")
    reports, job_id, report_id = run(
        tenant, owner, sweep, stores_report, max_findings=100 if form is Format.SARIF else 20
    )
    if form is Format.SARIF:
        print_json(sarif(reports, f"{tenant}/{owner}"))
    elif form is Format.JSON or as_json:
        print_json({"checks": list(map(report_to_dict, reports)), "jobId": job_id, "reportId": report_id})
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
    if fail_on and any(report.total and is_as_bad(report.check.severity, fail_on) for report in reports):
        raise typer.Exit(1)


def run(
    tenant: str, owner: str, sweep: bool, stores_report: bool, max_findings: int
) -> tuple[list["Report"], "UUID | None", "UUID | None"]:
    """Run lint and return its reports, the id of the queued sweep job, and the id of the stored report."""
    from db.scope import Role
    from resolvers.knowledge.lint import lint
    from resolvers.knowledge.lint_reports import report_lint
    from resolvers.sources.compile_requests import sweep as ask_for_sweep

    from ..session import find_wiki, run_in_session

    async def work(database: "Database") -> tuple[list["Report"], Any, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        if stores_report:
            reports, report_id = await report_lint(database, scope, TRIGGER, limit=max_findings)
        else:
            reports = await lint(database, scope, limit=max_findings)
            report_id = None
        return reports, await ask_for_sweep(database, scope) if sweep else None, report_id

    return run_in_session(work)


def say_text(reports: list["Report"], is_showing_muted: bool) -> None:
    from resolvers.knowledge.lint_reports import finding_label

    print_table(["check", "severity", "found", "example", "fixed by"], [report_row(report) for report in reports])
    if not any(report.total for report in reports):
        say("No findings.")
    if count := sum(report.muted_total for report in reports):
        say(f"{count} muted." if is_showing_muted else f"{count} muted. List them with --muted.")
    if is_showing_muted:
        for finding in (muted for report in reports for muted in report.muted):
            assert finding.mute is not None
            until = f", until {finding.mute.until:%Y-%m-%d}" if finding.mute.until else ""
            say(f"- {finding_label(finding)}: {finding.mute.reason} ({finding.mute.author_id}{until})")


def is_as_bad(severity: str, limit: Severity) -> bool:
    """Return whether a severity is the limit or worse."""
    order = list(Severity)
    return order.index(Severity(severity)) <= order.index(limit)


def report_to_dict(report: "Report") -> dict[str, Any]:
    return {
        **asdict(report.check),
        "total": report.total,
        "findings": list(map(asdict, report.findings)),
        "mutedTotal": report.muted_total,
        "muted": list(map(asdict, report.muted)),
    }


def report_row(report: "Report") -> tuple[object, ...]:
    from resolvers.knowledge.lint_reports import finding_label

    found = report.findings
    examples = "; ".join(map(finding_label, found[:SHOWN])) or "No findings."
    return report.check.name, report.check.severity, report.total, examples, found[0].fix if found else ""


def sarif(reports: list["Report"], wiki: str) -> dict[str, Any]:
    """Return the reports as SARIF 2.1.0: each check is a rule, and a muted finding is a result with a suppression."""
    from importlib.metadata import version

    rules = [
        {
            "id": report.check.name,
            "shortDescription": {"text": report.check.about},
            "help": {"text": report.check.fix},
            "defaultConfiguration": {"level": LEVELS[report.check.severity]},
        }
        for report in reports
    ]
    results = [
        sarif_result(report, index, found)
        for index, report in enumerate(reports)
        for found in (*report.findings, *report.muted)
    ]
    driver = {"name": "cairn lint", "semanticVersion": version("cairn-wiki"), "rules": rules}
    ran = {"tool": {"driver": driver}, "automationDetails": {"id": f"cairn/{wiki}/"}, "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [ran]}


def sarif_result(report: "Report", index: int, finding: "Finding") -> dict[str, Any]:
    name = f"{finding.type}/{finding.slug}" if finding.page_id else finding.title
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": name}]}
    if finding.page_id:
        location["physicalLocation"] = {"artifactLocation": {"uri": f"{name}.md"}}
    message = f"{finding.title}: {finding.detail}" if finding.detail else f"{finding.title}. {report.check.about}"
    mute = finding.mute
    return {
        "ruleId": report.check.name,
        "ruleIndex": index,
        "level": LEVELS[report.check.severity],
        "message": {"text": message},
        "locations": [location],
        "properties": {"fix": finding.fix},
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

    changed = run_on_subject(subject, by_name, tenant, owner, work)
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

    changed = run_on_subject(subject, by_name, tenant, owner, work)
    if as_json:
        print_json({"changed": changed})
    else:
        say("Unmuted the finding." if changed else "The finding was not muted.")


def run_on_subject(subject: str, by_name: bool, tenant: str, owner: str, work: Any) -> bool:
    """Run `work` on the page TYPE/SLUG, or with `by_name` on a name that has no page."""
    from ..session import find_wiki, run_in_session

    if not by_name:
        check_page_name(subject)

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
    rows = [
        (report["createdAt"], report["trigger"], report["found"], report["muted"], format_top_checks(report))
        for report in found["nodes"]
    ]
    print_table(["when", "asked by", "found", "muted", "most of"], rows)
    say_next_page(found)


def format_top_checks(report: dict[str, Any]) -> str:
    """Return the checks with the most findings, and their numbers."""
    counts = sorted((count for count in report["counts"] if count["total"]), key=lambda count: -count["total"])
    return ", ".join(f"{count['name']} {count['total']}" for count in counts[:SHOWN])
