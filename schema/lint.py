"""Lint of a wiki: what could be better in it, what of it is muted, and the reports of its runs."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from db import relations
from db.access import AS_CHECKED
from resolvers.knowledge.lint import FINDINGS_MAX, Finding, Report, lint
from selection import Step

from .enums import WikiLintSeverity, WikiPageType
from .fields import Connection, Node, OlderOwner, OwnerName, column, relation, source, whole
from .pages.pages import WikiPage
from .search.search_rows import owner_named

checks = relations.jobs
COST = 100  # rows that all checks together may have to read


@strawberry.type(description="Something that a check has found.")
class WikiLintFinding:
    title: str = column("Of the page, or the name that has none.")
    type: WikiPageType | None = column("Of the page, or the one that it would have.")
    slug: str | None = column("Of the page, or the one that it would have.")
    detail: str | None = column("What of it.")
    fix: str = column("The command that fixes it; words in capitals are for people to choose.")
    page: WikiPage | None = relation(checks.page, "The page, if there is one.")
    mute_reason: str | None = column("Why it is muted; null where it is not.")
    muted_by: str | None = column("Who muted it, as the credential named them.")
    muted_at: datetime | None = column("When it was muted.")
    muted_until: datetime | None = column("Until when it is muted; null for good.")


@strawberry.type(description="A check of a wiki. Each reports, also when it finds nothing.")
class WikiLintCheck:
    name: str = column("Which one.")
    severity: WikiLintSeverity = column("How bad it is.")
    about: str = column("What it looks for.")
    total: int = column("How much it found, without what is muted.")
    muted_total: int = column("How much of what it found is muted.")
    findings: list[WikiLintFinding] = relation(checks.findings, "The first of that.", limit=20, most=FINDINGS_MAX)
    muted: list[WikiLintFinding] = relation(
        checks.muted_findings, "The first that are muted.", limit=20, most=FINDINGS_MAX
    )


@strawberry.type(description="The findings of a check in one run.")
class WikiLintCount:
    name: str = column("The check.")
    total: int = column("How much it found, without what is muted.")
    muted: int = column("How much of what it found is muted.")


@strawberry.type(description="A report of a run of lint: how much each check found.")
class WikiLintReport(Node):
    trigger: str = column("Who asked for it: command, request, schedule, or sources after so many new ones.")
    found: int = column("How much all checks found, without what is muted.")
    muted: int = column("How much of what they found is muted.")
    counts: list[WikiLintCount] = whole(checks.lint_counts, "By check, in their order.")
    created_at: datetime = column("When it ran.")


async def find_faults(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    limit: int | None = None,
    names: list[str] | None = None,
    **where: str | None,
) -> list[tuple[Any, ...]]:
    owner_id = await owner_named(context, where)
    scope = context.scope if owner_id is None else context.scope.in_owner(owner_id)
    return [row_of(report) for report in await lint(context.database, scope, most=FINDINGS_MAX, checks=names)]


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
        "What could be better in a wiki, for those who may write in it. Nothing is edited.",
        access=AS_CHECKED,
        step=Step(find_faults, checks.REPORTED, cost=COST),
        limit=50,
    )
    def wiki_lint(
        names: Annotated[
            list[str] | None, strawberry.argument(description="The checks to run; all when left out.")
        ] = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiLintCheck]: ...

    @source(checks.lint_reported, "The reports of earlier runs of lint, the newest first; the last 200 are kept.")
    def wiki_lint_reports(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiLintReport]: ...
