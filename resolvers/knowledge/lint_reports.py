"""Mutes and reports of lint: findings that are none and why, a count of each run, and when a worker runs it."""

from collections.abc import Collection, Iterable
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
from ..tenants.tenants import list_tenants
from ..transactions.transaction import NO_PAGE, read_connection, writing
from ..transactions.writer import Writer, record
from .lint import BY_NAME, Finding, Report, lint, no_check

LINTING = statements("review/lint_reports")
KEPT = 200  # reports of a wiki
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
    """Mute what a check finds of a page, or of a name without one; false where it was muted so already."""
    reason = validation.line(reason, "reason", REASON.most)
    until = None if until is None else validation.timestamp(until, "until")
    if until is not None and until <= datetime.now(UTC):
        raise BadInput("This time is in the past. Give a later one, or none to mute the finding forever.", "until")
    subject, name = subject_of(check, page_id, name)
    async with writing(database, scope) as writer:
        await check_page(writer, page_id)
        actor = scope.actor
        given = {"check_name": check, "subject": subject, "page_id": page_id, "name": name, "reason": reason}
        by = {"until": until, "author_kind": actor.kind.value, "author_id": actor.id}
        changed = bool(await writer.run(LINTING["mute"], **given, **by))
        if changed:
            await record(writer, "lint.muted", check=check, pageId=page_id, name=name)
        return changed


async def unmute_finding(
    database: Database, scope: Scope, check: str, *, page_id: UUID | None = None, name: str | None = None
) -> bool:
    """Let a check find this page or name again; false where it was not muted."""
    subject, _ = subject_of(check, page_id, name)
    async with writing(database, scope) as writer:
        await check_page(writer, page_id)
        changed = bool(await writer.run(LINTING["unmute"], check_name=check, subject=subject))
        if changed:
            await record(writer, "lint.unmuted", check=check, pageId=page_id, name=name)
        return changed


async def check_page(writer: Writer, page_id: UUID | None) -> None:
    if page_id is not None and await find_page(writer, page_id) is None:
        raise NotFound(NO_PAGE)


def subject_of(check: str, page_id: UUID | None, name: str | None) -> tuple[str, str | None]:
    """Return by what a mute is found, and the name as it is shown: a page goes by its id."""
    if check not in BY_NAME:
        raise no_check(check)
    if (page_id is None) is (name is None):
        raise BadInput("Give either a page, or a name that has no page.", "name")
    if page_id is not None:
        return str(page_id), None
    name = validation.line(name or "", "name", TITLE.most)
    return name.lower(), name


async def report_lint(database: Database, scope: Scope, trigger: str, *, most: int = 20) -> tuple[list[Report], UUID]:
    """Run every check, and keep a report of how much each has found. The log says that it ran."""
    reports = await lint(database, scope, most=most)
    async with writing(database, scope) as writer:
        return reports, await write_report(writer, reports, trigger)


async def write_report(writer: Writer, reports: Collection[Report], trigger: str) -> UUID:
    """Write a report of a run and its line of the log; the oldest reports make way for it."""
    counts = [{"name": one.check.name, "total": one.total, "muted": one.muted_total} for one in reports]
    found, muted = sum(one.total for one in reports), sum(one.muted_total for one in reports)
    report_id = new_id()
    given = {"trigger": trigger, "found": found, "muted": muted, "counts": counts}
    await writer.run(LINTING["add_report"], id=report_id, **given)
    await writer.run(LINTING["drop_old_reports"], kept=KEPT)
    await record(writer, "lint.reported", trigger=trigger, found=found, muted=muted)
    return report_id


async def ask_for_lint(writer: Writer, trigger: str) -> UUID:
    """Enqueue the job that lints the wiki, unless it waits already."""
    wiki = writer.scope
    return await enqueue(writer, wiki.tenant_id, wiki.owner_id, TRIGGER, options={"trigger": trigger}, subject=TRIGGER)


async def ask_after_sources(writer: Writer) -> UUID | None:
    """Enqueue that job once as many sources came since the last report as the wiki's settings say."""
    return await ask_for_lint(writer, AFTER_SOURCES) if await writer.value(LINTING["is_due"]) else None


async def lint_all(database: Database) -> bool:
    """Ask for a lint of every wiki that had none for as long as its settings say; false when one was too busy."""
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
    """Return what was found as a page: every check, its findings, and the command that fixes each."""
    parts = ["# Lint"]
    for one in reports:
        muted = f", {one.muted_total} muted" if one.muted_total else ""
        parts.append(f"## {one.check.name} ({one.check.severity}): {one.total}{muted}\n\n{one.check.about}")
        shown = [*one.findings, *(one.muted if is_showing_muted else ())]
        parts.append("\n".join(map(line, shown)) or "No findings.")
        if one.total > len(one.findings):
            parts.append(f"The first {len(one.findings)} of {one.total}.")
    return "\n\n".join(parts)


def line(found: Finding) -> str:
    """Return a finding as a line of markdown. What a wiki says stands in code, so that it is nothing else."""
    why = "" if found.mute is None else f" Muted: {code(found.mute.reason)}"
    return f"- {code(finding_label(found))} Fix: {code(found.fix)}{why}"


def finding_label(found: Finding) -> str:
    """Return a finding in a few words: its page or name, and what of it."""
    name = f"{found.type}/{found.slug}" if found.page_id else found.title
    return f"{name} ({found.detail})" if found.detail else name


def code(text: str) -> str:
    """Return a text as a code span of one line, whatever backticks are in it."""
    text = " ".join(text.split())
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if text.startswith("`") or text.endswith("`") else f"{fence}{text}{fence}"
