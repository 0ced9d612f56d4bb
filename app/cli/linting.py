"""`cairn lint`: what could be better in a wiki."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show, table

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.linting import Report

SHOWN = 3  # findings of a check in the table


def add_to(parent: typer.Typer) -> None:
    parent.command("lint", epilog="Example: cairn lint --tenant acme --owner mara")(lint_wiki)


def lint_wiki(
    tenant: Tenant,
    owner: Owner,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Let names become pages that were seen in three sources within 30 days.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what could be better: broken links, orphans, stale pages and more. No page is edited."""
    from db.scope import Role
    from resolvers.linting import lint
    from resolvers.sweeping import sweep as ask_for_sweep

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
        return
    table(["check", "severity", "found", "for example"], [row_of(one) for one in reports])
    if sweep:
        say(f"The job {job_id} is run by: cairn worker" if job_id else "No name has earned a page.")


def data_of(report: "Report") -> dict[str, Any]:
    return asdict(report.check) | {"total": report.total, "findings": list(map(asdict, report.findings))}


def row_of(report: "Report") -> tuple[object, ...]:
    return report.check.name, report.check.severity, report.total, "; ".join(map(named, report.findings[:SHOWN]))


def named(finding: Any) -> str:
    name = f"{finding.type}/{finding.slug}" if finding.page_id else finding.title
    return f"{name} ({finding.detail})" if finding.detail else name
