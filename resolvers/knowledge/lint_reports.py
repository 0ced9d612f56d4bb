"""Mute findings of lint, store a report of each run, enqueue runs, and render reports as Markdown."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from uuid import UUID

from content.limits import REASON, TITLE
from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput, NotFound, Unavailable
from ..jobs.queue import enqueue
from ..model.pages import find_page
from ..permissions import Withheld, check_sees
from ..tenants.tenants import list_tenants
from ..transactions.transaction import NO_PAGE, read_connection, writing
from ..transactions.writer import Writer, record
from .lint import BY_NAME, Finding, Report, lint, no_check

LINTING = statements("review/lint_reports")
MAX_REPORTS = 200  # stored reports of a wiki
TRIGGER, SCHEDULE, AFTER_SOURCES = "lint", "schedule", "sources"
LINTER = Actor(ActorKind.COMPILER, "cairn")


async def mute_finding(
    database: Database,
    scope: Scope,
    check: str,
    *,
    reason: str,
    page_id: UUID | None = None,
    name: str | None = None,
    until: datetime | None = None,
) -> bool:
    """Mute the finding of a check about a page, or about a name without a page. Return false if nothing changed."""
    reason = validation.line(reason, "reason", REASON.maximum)
    until = None if until is None else validation.timestamp(until, "until")
    if until is not None and until <= datetime.now(UTC):
        raise BadInput("This time is in the past. Give a later one, or none to mute the finding forever.", "until")
    subject, name = subject_of(check, page_id, name)
    async with writing(database, scope) as writer:
        await check_page(writer, page_id)
        actor = scope.actor
        changed = bool(
            await writer.run(
                LINTING["mute"],
                check_name=check,
                subject=subject,
                page_id=page_id,
                name=name,
                reason=reason,
                until=until,
                author_kind=actor.kind.value,
                author_id=actor.id,
            )
        )
        if changed:
            await record(writer, "lint.muted", check=check, pageId=page_id, name=name)
        return changed


async def unmute_finding(
    database: Database, scope: Scope, check: str, *, page_id: UUID | None = None, name: str | None = None
) -> bool:
    """Unmute the finding of a check about a page or name. Return false if it was not muted."""
    subject, _ = subject_of(check, page_id, name)
    async with writing(database, scope) as writer:
        await check_page(writer, page_id)
        changed = bool(await writer.run(LINTING["unmute"], check_name=check, subject=subject))
        if changed:
            await record(writer, "lint.unmuted", check=check, pageId=page_id, name=name)
        return changed


async def check_page(writer: Writer, page_id: UUID | None) -> None:
    """Raise NotFound if the page does not exist, or is hidden from the caller as a whole."""
    if page_id is None:
        return
    if await find_page(writer, page_id) is None:
        raise NotFound(NO_PAGE)
    with suppress(Withheld):  # parts of it may be hidden
        await check_sees(writer, writer.scope, [page_id], NO_PAGE)


def subject_of(check: str, page_id: UUID | None, name: str | None) -> tuple[str, str | None]:
    """Return the key of a mute, and the name to show: for a page the key is its id and the name is None."""
    if check not in BY_NAME:
        raise no_check(check)
    if (page_id is None) is (name is None):
        raise BadInput("Give either a page, or a name that has no page.", "name")
    if page_id is not None:
        return str(page_id), None
    name = validation.line(name or "", "name", TITLE.maximum)
    return name.lower(), name


async def report_lint(database: Database, scope: Scope, trigger: str, *, limit: int = 20) -> tuple[list[Report], UUID]:
    """Run all checks, and store a report with the number of findings of each. Return the results and its id."""
    reports = await lint(database, scope, limit=limit)
    async with writing(database, scope) as writer:
        return reports, await write_report(writer, reports, trigger)


async def write_report(writer: Writer, reports: Collection[Report], trigger: str) -> UUID:
    """Store and log the report of a run, and delete the oldest reports above MAX_REPORTS. Return its id."""
    counts = [{"name": report.check.name, "total": report.total, "muted": report.muted_total} for report in reports]
    found = sum(report.total for report in reports)
    muted = sum(report.muted_total for report in reports)
    report_id = new_id()
    await writer.run(LINTING["add_report"], id=report_id, trigger=trigger, found=found, muted=muted, counts=counts)
    await writer.run(LINTING["drop_old_reports"], kept=MAX_REPORTS)
    await record(writer, "lint.reported", trigger=trigger, found=found, muted=muted)
    return report_id


async def ask_for_lint(writer: Writer, trigger: str) -> UUID:
    """Enqueue the job that lints the wiki, or return the open one."""
    wiki = writer.scope
    return await enqueue(writer, wiki.tenant_id, wiki.owner_id, TRIGGER, options={"trigger": trigger}, subject=TRIGGER)


async def request_lint_if_due(writer: Writer) -> UUID | None:
    """Enqueue a lint if as many sources were added since the last report as the wiki's settings say. Return its id."""
    return await ask_for_lint(writer, AFTER_SOURCES) if await writer.value(LINTING["is_due"]) else None


async def lint_all(database: Database) -> bool:
    """Enqueue a lint of all wikis that are due by their settings. Return false if one of them was too busy."""
    wanted = [{"tenant_id": tenant.id, "now": datetime.now(UTC)} for tenant in await list_tenants(database)]
    async with read_connection(database) as connection:
        rows = await connection.all_of_each(LINTING["find_due"], wanted)
    done = True
    for row in rows:
        scope = Scope(row["tenant_id"], row["owner_id"], Role.SERVICE, LINTER, (row["owner_id"],))
        try:
            async with writing(database, scope) as writer:
                await ask_for_lint(writer, SCHEDULE)
        except Unavailable:
            done = False
    return done


def as_markdown(reports: Iterable[Report], *, is_showing_muted: bool = False) -> str:
    """Return the reports as Markdown: all checks with their findings, and the command that fixes each finding."""
    parts = ["# Lint"]
    for report in reports:
        muted = f", {report.muted_total} muted" if report.muted_total else ""
        parts.append(f"## {report.check.name} ({report.check.severity}): {report.total}{muted}\n\n{report.check.about}")
        shown = [*report.findings, *(report.muted if is_showing_muted else ())]
        parts.append("\n".join(map(line, shown)) or "No findings.")
        if report.total > len(report.findings):
            parts.append(f"The first {len(report.findings)} of {report.total}.")
    return "\n\n".join(parts)


def line(found: Finding) -> str:
    """Return a finding as a line of Markdown. Content of the wiki is in code spans, so it is not read as Markdown."""
    why = "" if found.mute is None else f" Muted: {code(found.mute.reason)}"
    return f"- {code(finding_label(found))} Fix: {code(found.fix)}{why}"


def finding_label(found: Finding) -> str:
    """Return a short label of a finding: its page or name, and the detail."""
    name = f"{found.type}/{found.slug}" if found.page_id else found.title
    return f"{name} ({found.detail})" if found.detail else name


def code(text: str) -> str:
    """Return a text as a Markdown code span on one line. The text may contain backticks."""
    text = " ".join(text.split())
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if text.startswith("`") or text.endswith("`") else f"{fence}{text}{fence}"
