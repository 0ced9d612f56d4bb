"""Lint of a wiki: its findings, the muted findings, and the reports of its runs."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from db import relations
from db.access import CHECKED_BY_STEP
from resolvers.knowledge.lint import FINDINGS_MAX, Finding, Report, lint
from selection import Step

from .enums import WikiLintSeverity, WikiPageType
from .fields import Connection, Node, OlderOwner, OwnerName, column, relation, source, whole
from .pages.pages import WikiPage

checks = relations.jobs
COST = 100  # rows that all checks together may have to read


@strawberry.type(description="A finding of a check.")
class WikiLintFinding:
    title: str = column("Title of the page, or the name without a page.")
    type: WikiPageType | None = column("Type of the page, or the type that it would have.")
    slug: str | None = column("Slug of the page, or the slug that it would have.")
    detail: str | None = column("Details of the finding.")
    fix: str = column("Command that fixes it. Words in capitals are placeholders.")
    page: WikiPage | None = relation(checks.page, "Page of the finding, if any.")
    mute_reason: str | None = column("Reason for the mute. Null if it is not muted.")
    muted_by: str | None = column("Id of the person or program that muted it, as the credential names it.")
    muted_at: datetime | None = column("Time of the mute.")
    muted_until: datetime | None = column("Time until which it is muted. Null for forever.")


@strawberry.type(description="A check of lint with its findings. Checks without findings are included.")
class WikiLintCheck:
    name: str = column("Name of the check.")
    severity: WikiLintSeverity = column("Severity of the check.")
    about: str = column("Description of the check.")
    total: int = column("Number of findings that are not muted.")
    muted_total: int = column("Number of muted findings.")
    findings: list[WikiLintFinding] = relation(checks.findings, "First findings.", limit=20, max_limit=FINDINGS_MAX)
    muted: list[WikiLintFinding] = relation(
        checks.muted_findings, "First muted findings.", limit=20, max_limit=FINDINGS_MAX
    )


@strawberry.type(description="Number of findings of a check in one run.")
class WikiLintCount:
    name: str = column("Name of the check.")
    total: int = column("Number of findings that are not muted.")
    muted: int = column("Number of muted findings.")


@strawberry.type(description="A report of lint: the number of findings of each check.")
class WikiLintReport(Node):
    trigger: str = column("Trigger of the run: command, request, schedule, or sources (after a number of new sources).")
    found: int = column("Number of findings that are not muted.")
    muted: int = column("Number of muted findings.")
    counts: list[WikiLintCount] = whole(checks.lint_counts, "Numbers of findings by check.")
    created_at: datetime = column("Time of the run.")


async def find_faults(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    limit: int | None = None,
    names: list[str] | None = None,
    **where: str | None,
) -> list[tuple[Any, ...]]:
    scope = await context.scope_in(where)
    return [row_of(report) for report in await lint(context.database, scope, limit=FINDINGS_MAX, checks=names)]


def row_of(report: Report) -> tuple[Any, ...]:
    check = report.check
    lists = {"findings": list(map(finding_row, report.findings)), "muted": list(map(finding_row, report.muted))}
    return check.name, check.severity, check.about, report.total, report.muted_total, lists


def finding_row(found: Finding) -> dict[str, Any]:
    mute = found.mute
    return {
        "page_id": found.page_id and str(found.page_id),
        "type": found.type,
        "slug": found.slug,
        "title": found.title,
        "detail": found.detail,
        "fix": found.fix,
        "mute_reason": mute and mute.reason,
        "muted_by": mute and mute.author_id,
        "muted_at": mute and mute.muted_at.isoformat(),
        "muted_until": mute and mute.until and mute.until.isoformat(),
    }


@strawberry.type
class LintQueries:
    @source(
        checks.report_rows,
        "The problems of a wiki that the checks of lint find. Nothing is edited. Requires write access.",
        access=CHECKED_BY_STEP,
        step=Step(find_faults, checks.REPORTED, cost=COST),
        limit=50,
    )
    def wiki_lint(
        names: Annotated[
            list[str] | None, strawberry.argument(description="Names of the checks to run. Defaults to all.")
        ] = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiLintCheck]: ...

    @source(checks.lint_reported, "The reports of earlier runs of lint, newest first. The last 200 are stored.")
    def wiki_lint_reports(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiLintReport]: ...
