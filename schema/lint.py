"""Lint of a wiki: what could be better in it."""

from typing import Any

import strawberry

from db import relations
from db.access import AS_CHECKED
from resolvers.knowledge.lint import FINDINGS_MAX, Report, lint
from selection import Step

from .enums import WikiLintSeverity, WikiPageType
from .fields import OlderOwner, OwnerName, column, relation, source
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
    page: WikiPage | None = relation(checks.page, "The page, if there is one.")


@strawberry.type(description="A check of a wiki. Each reports, also when it finds nothing.")
class WikiLintCheck:
    name: str = column("Which one.")
    severity: WikiLintSeverity = column("How bad it is.")
    about: str = column("What it looks for.")
    total: int = column("How much it found.")
    findings: list[WikiLintFinding] = relation(checks.findings, "The first of that.", limit=20, most=FINDINGS_MAX)


async def find_faults(
    context: Any, parent: Any, wanted: frozenset[str], limit: int | None = None, **where: str | None
) -> list[tuple[Any, ...]]:
    owner_id = await owner_named(context, where)
    scope = context.scope if owner_id is None else context.scope.in_owner(owner_id)
    return [row_of(report) for report in await lint(context.database, scope, most=FINDINGS_MAX)]


def row_of(report: Report) -> tuple[Any, ...]:
    findings = [
        {
            "page_id": found.page_id and str(found.page_id),
            "type": found.type,
            "slug": found.slug,
            "title": found.title,
            "detail": found.detail,
        }
        for found in report.findings
    ]
    return report.check.name, report.check.severity, report.check.about, report.total, {"findings": findings}


@strawberry.type
class LintQueries:
    @source(
        checks.reported,
        "What could be better in a wiki, for those who may write in it. Nothing is edited.",
        access=AS_CHECKED,
        step=Step(find_faults, checks.REPORTED, cost=COST),
        limit=50,
    )
    def wiki_lint(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiLintCheck]: ...
