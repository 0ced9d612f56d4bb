"""`cairn lint`: what could be better in a wiki."""

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show, table

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.knowledge.lint import Report

SHOWN = 3  # findings of a check in the table


class Severity(StrEnum):
    """How bad a finding is, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


def add_to(parent: typer.Typer) -> None:
    parent.command("lint", epilog="Example: cairn lint --tenant acme --owner mara")(lint_wiki)


def lint_wiki(
    tenant: Tenant,
    owner: Owner,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Let names become pages that were seen in three sources within 30 days.")
    ] = False,
    fail_on: Annotated[
        Severity | None,
        typer.Option("--fail-on", help="Exit with 1 when a check of this severity, or a worse one, has findings."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what could be better: broken links, orphans, stale pages and more. No page is edited."""
    from db.scope import Role
    from resolvers.knowledge.lint import lint
    from resolvers.sources.compile_requests import sweep as ask_for_sweep

    from .session import session
    from .wikis import find_wiki

    async def work(database: "Database") -> tuple[list["Report"], Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        reports = await lint(database, scope)
        return reports, await ask_for_sweep(database, scope) if sweep else None

    reports, job_id = session(work)
    if as_json:
        checks = [
            asdict(one.check) | {"total": one.total, "findings": list(map(asdict, one.findings))} for one in reports
        ]
        show({"checks": checks, "jobId": job_id})
    else:
        table(["check", "severity", "found", "for example"], [row_of(one) for one in reports])
        if sweep:
            say(f"The job {job_id} is run by: cairn worker" if job_id else "No name has earned a page.")
    if fail_on and any(one.total and is_as_bad(one.check.severity, fail_on) for one in reports):
        raise typer.Exit(1)


def is_as_bad(severity: str, limit: Severity) -> bool:
    """Whether a severity is the limit or worse."""
    order = list(Severity)
    return order.index(Severity(severity)) <= order.index(limit)


def data_of(report: "Report") -> dict[str, Any]:
    return asdict(report.check) | {"total": report.total, "findings": list(map(asdict, report.findings))}


def row_of(report: "Report") -> tuple[object, ...]:
    return report.check.name, report.check.severity, report.total, "; ".join(map(named, report.findings[:SHOWN]))


def named(finding: Any) -> str:
    name = f"{finding.type}/{finding.slug}" if finding.page_id else finding.title
    return f"{name} ({finding.detail})" if finding.detail else name
