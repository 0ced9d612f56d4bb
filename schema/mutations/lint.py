"""Mutations that mute findings of lint, and that store the report of a run."""

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


@strawberry.input(description="Finding to mute, of a page or of a name without a page.")
class MuteWikiLintFindingInput(InWiki):
    check: str = strawberry.field(description="Name of the check, as in wikiLint.")
    page_id: strawberry.ID | None = strawberry.field(default=None, description="Page of the finding.")
    name: str | None = strawberry.field(default=None, description="Name of the finding, if it has no page.")
    reason: str = strawberry.field(description="Reason why the finding is not a problem.")
    until: datetime | None = strawberry.field(
        default=None, description="Time until which the finding is muted. Defaults to forever."
    )


@strawberry.input(description="Finding to unmute.")
class UnmuteWikiLintFindingInput(InWiki):
    check: str = strawberry.field(description="Name of the check, as in wikiLint.")
    page_id: strawberry.ID | None = strawberry.field(default=None, description="Page of the finding.")
    name: str | None = strawberry.field(default=None, description="Name of the finding, if it has no page.")


@strawberry.input(description="Wiki to run lint on.")
class ReportWikiLintInput(InWiki):
    pass


@strawberry.type(description="Payload of muting or unmuting a finding.")
class WikiLintMutePayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    changed: bool = strawberry.field(default=False, description="False if nothing was changed.")


@strawberry.type(description="A report of a run of lint.")
class WikiLintReportPayload:
    report_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    report: WikiLintReport | None = source(
        relations.jobs.lint_report_by_ids, "The report.", access=BY_ID, step=private_id("report_id")
    )


@strawberry.type
class LintMutations:
    @strawberry.mutation(
        description=(
            "Mute a finding of wikiLint for a page or a name. Muted findings are counted separately. "
            "A second mute replaces the first."
        )
    )
    async def mute_wiki_lint_finding(self, info: Request, input: MuteWikiLintFindingInput) -> WikiLintMutePayload:
        scope, page_id = await scope_in(info, input), optional_id(input.page_id)
        why: dict[str, Any] = {"name": input.name, "reason": input.reason, "until": input.until}
        try:
            changed = await lint_reports.mute_finding(info.context.database, scope, input.check, page_id=page_id, **why)
        except BadInput as error:
            return WikiLintMutePayload(user_errors=[user_error(error)])
        return WikiLintMutePayload(changed=changed)

    @strawberry.mutation(description="Unmute a finding of wikiLint for a page or a name.")
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
        description=("Run all checks of wikiLint and store a report with the number of findings. No page is edited.")
    )
    async def report_wiki_lint(self, info: Request, input: ReportWikiLintInput) -> WikiLintReportPayload:
        scope = await scope_in(info, input)
        _, report_id = await lint_reports.report_lint(info.context.database, scope, REQUEST, limit=1)
        return WikiLintReportPayload(report_id=report_id)
