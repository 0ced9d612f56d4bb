"""Findings of lint that are none, and runs of lint that are kept."""

from datetime import datetime
from typing import Any
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput
from resolvers.knowledge import lint_reports

from ..fields import source
from ..lint import WikiLintReport
from .payloads import UserError, private_id, user_error
from .scoping import InWiki, Request, optional_id, scope_in

REQUEST = "request"


@strawberry.input(description="A finding of lint that is none: of a page, or of a name that has no page.")
class MuteWikiLintFindingInput(InWiki):
    check: str = strawberry.field(description="The check, as wikiLint names it.")
    page_id: strawberry.ID | None = strawberry.field(default=None, description="The page that it found.")
    name: str | None = strawberry.field(default=None, description="The name that it found, where there is no page.")
    reason: str = strawberry.field(description="Why it is none, for those who read it later.")
    until: datetime | None = strawberry.field(default=None, description="Until when; for good when left out.")


@strawberry.input(description="A finding of lint that is one again.")
class UnmuteWikiLintFindingInput(InWiki):
    check: str = strawberry.field(description="The check, as wikiLint names it.")
    page_id: strawberry.ID | None = strawberry.field(default=None, description="The page that it found.")
    name: str | None = strawberry.field(default=None, description="The name that it found, where there is no page.")


@strawberry.input(description="A run of lint that is kept.")
class ReportWikiLintInput(InWiki):
    pass


@strawberry.type(description="A finding after it was muted, or was not any more.")
class WikiLintMutePayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    changed: bool = strawberry.field(default=False, description="False when it was so before.")


@strawberry.type(description="A report of a run of lint.")
class WikiLintReportPayload:
    report_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    report: WikiLintReport | None = source(
        relations.jobs.lint_report_by_ids, "The report.", access=BY_ID, step=private_id("report_id")
    )


@strawberry.type
class LintMutations:
    @strawberry.mutation(
        description="Mute what a check of wikiLint finds of a page or name. It is counted apart, with the reason; a "
        "second mute replaces the first."
    )
    async def mute_wiki_lint_finding(self, info: Request, input: MuteWikiLintFindingInput) -> WikiLintMutePayload:
        scope, page_id = await scope_in(info, input), optional_id(input.page_id)
        why: dict[str, Any] = {"name": input.name, "reason": input.reason, "until": input.until}
        try:
            changed = await lint_reports.mute_finding(info.context.database, scope, input.check, page_id=page_id, **why)
        except BadInput as error:
            return WikiLintMutePayload(user_errors=[user_error(error)])
        return WikiLintMutePayload(changed=changed)

    @strawberry.mutation(description="Let a check of wikiLint find this page or name again.")
    async def unmute_wiki_lint_finding(self, info: Request, input: UnmuteWikiLintFindingInput) -> WikiLintMutePayload:
        scope, page_id = await scope_in(info, input), optional_id(input.page_id)
        try:
            changed = await lint_reports.unmute_finding(
                info.context.database, scope, input.check, page_id=page_id, name=input.name
            )
        except BadInput as error:
            return WikiLintMutePayload(user_errors=[user_error(error)])
        return WikiLintMutePayload(changed=changed)

    @strawberry.mutation(
        description="Run every check of wikiLint, and keep how much each found: wikiLintReports lists it. No page is "
        "edited."
    )
    async def report_wiki_lint(self, info: Request, input: ReportWikiLintInput) -> WikiLintReportPayload:
        scope = await scope_in(info, input)
        _, report_id = await lint_reports.report_lint(info.context.database, scope, REQUEST, most=1)
        return WikiLintReportPayload(report_id=report_id)
