"""Commands for agents and for upkeep: references, lint, MCP and its tools."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Owner, Tenant
from ..output import say, show, table
from .keys import Role, RoleOption

if TYPE_CHECKING:
    from db.database import Database

    from ...mcp.seed import Seeded

app = typer.Typer(help="The knowledge base of a wiki: its references, by topic.", no_args_is_help=True)


def add_knowledge(parent: typer.Typer) -> None:
    parent.add_typer(app, name="knowledge", epilog="Example: cairn knowledge seed --help")


@app.callback()
def group() -> None:
    """The knowledge base of a wiki: its references, by topic."""


@app.command("seed", epilog="Example: cairn knowledge seed ./knowledge --tenant acme --owner mara")
def seed(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Its *.md files; a first line may be `tags: a,b`.")],
    tenant: Tenant,
    owner: Owner,
    as_json: AsJson = False,
) -> None:
    """Make an entry of each file whose topic, the file's name, is not known yet. Exits with 1 when one was refused."""
    from ..session import session

    async def work(database: "Database") -> "Seeded":
        from ...mcp.seed import plant, seed_scope

        return await plant(database, await seed_scope(database, tenant, owner), folder)

    done = session(work)
    if as_json:
        refused = [{"file": file, "reason": reason} for file, reason in done.refused]
        show({"made": done.made, "known": done.known, "refused": refused})
    else:
        for file, reason in done.refused:
            say(f"{file}: {reason}")
        say(f"{len(done.made)} made, {done.known} known already, {len(done.refused)} refused.")
    if done.refused:
        raise typer.Exit(1)


if TYPE_CHECKING:
    from db.database import Database
    from resolvers.knowledge.lint import Report

SHOWN = 3  # findings of a check in the table


class Severity(StrEnum):
    """The severities of findings, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


def add_linting(parent: typer.Typer) -> None:
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

    from ..session import find_wiki, session

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
    """Return whether a severity is the limit or worse."""
    order = list(Severity)
    return order.index(Severity(severity)) <= order.index(limit)


def data_of(report: "Report") -> dict[str, Any]:
    return asdict(report.check) | {"total": report.total, "findings": list(map(asdict, report.findings))}


def row_of(report: "Report") -> tuple[object, ...]:
    return report.check.name, report.check.severity, report.total, "; ".join(map(named, report.findings[:SHOWN]))


def named(finding: Any) -> str:
    name = f"{finding.type}/{finding.slug}" if finding.page_id else finding.title
    return f"{name} ({finding.detail})" if finding.detail else name


if TYPE_CHECKING:
    from db.database import Database


def add_mcp(parent: typer.Typer) -> None:
    parent.command("mcp", epilog="Example: cairn mcp --tenant acme --owner mara --role reader")(mcp)


def mcp(tenant: Tenant, owner: Owner, role: RoleOption = Role.MEMBER) -> None:
    """Serve the tools for agents over stdio (MCP) until stdin ends. Over HTTP they are at /mcp of cairn serve."""
    from ...observability.logging import configure
    from ...settings import Settings
    from ..session import session

    settings = Settings()
    configure(settings)

    async def work(database: "Database") -> None:
        from dataclasses import replace

        from db import scope

        from ...mcp.server import serve
        from ..session import find_wiki

        found = (await find_wiki(database, tenant, owner)).scope(scope.Role(role))
        agent = scope.Actor(scope.ActorKind.AGENT, "cairn mcp")
        await serve(settings, database, replace(found, actor=agent))

    session(work)


def add_tools(parent: typer.Typer) -> None:
    parent.command("tools", epilog="Example: cairn tools --json")(tools)


def tools(as_json: AsJson = False) -> None:
    """List the tools for agents; with --json their schemas too, as MCP has them. Needs no database."""
    from ...mcp.catalogue import TOOLS

    listed = [tool.listed() for tool in TOOLS]
    if as_json:
        show([one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed])
        return
    for one in listed:
        taken = ", ".join(one.input_schema.get("properties", {}))
        say(f"{one.name}({taken})\n    {one.description}")


def add_to(parent: typer.Typer) -> None:
    add_knowledge(parent)
    add_linting(parent)
    add_mcp(parent)
    add_tools(parent)
