"""Mutations for the admins of a tenant: the language and the other settings of a wiki."""

from dataclasses import fields
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.auth.wiki_settings import WikiSettings, set_wiki_language, update_wiki_settings
from resolvers.errors import BadInput
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole

from ..enums import WikiPageType, WikiSensitivity, WikiSignificance, WikiWritePolicy, WikiWriterRole
from ..fields import source
from ..owners import WikiOwner
from .payloads import UserError, private_id, user_error
from .scoping import InWiki, Request, scope_in


@strawberry.input(description="The language of a wiki.")
class SetWikiLanguageInput(InWiki):
    language: str = strawberry.field(
        description=(
            "Language such as german, de or de-AT, if Postgres has a configuration for it, or simple for none."
        )
    )


@strawberry.type(description="Payload with the language of a wiki.")
class WikiLanguagePayload:
    owner_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    changed: bool = strawberry.field(default=False, description="False if the language was already set.")
    compile_job_id: strawberry.ID | None = strawberry.field(
        default=None,
        description="Id of the job that indexes the pages again. Its metrics count them as pages_reindexed.",
    )
    owner: WikiOwner | None = source(
        relations.owners.by_ids, "Owner of the wiki.", access=BY_ID, step=private_id("owner_id")
    )


@strawberry.input(
    description="Rule of a write policy. A rule for one page type has precedence over a rule for all types."
)
class WikiWriteRuleInput:
    role: WikiWriterRole = strawberry.field(description="Role of the writer.")
    page_type: WikiPageType | None = strawberry.field(default=None, description="Type of the pages. Defaults to all.")
    policy: WikiWritePolicy = strawberry.field(description="Policy for these writes.")

    def rule(self) -> PolicyRule:
        role, policy = WriterRole(self.role.value), Policy(str(WikiWritePolicy(self.policy).value))
        return PolicyRule(role, policy, self.page_type and self.page_type.value)


@strawberry.input(description="Settings of a wiki. Omitted fields are unchanged.")
class UpdateWikiSettingsInput(InWiki):
    score_boost: float | None = strawberry.field(
        default=None,
        description="Factor for scores of its pages when pages and sources are searched together: 0 to 10.",
    )
    min_sources_for_synthesis: int | None = strawberry.field(
        default=None,
        description=(
            "Number of sources that a page must cite before a model writes its text, from 1 to 100. "
            "Themes need as many sources."
        ),
    )
    stale_after_days: int | None = strawberry.field(
        default=None, description="Days without a change after which lint reports a page as stale, from 1 to 3,650."
    )
    oversize_characters: int | None = strawberry.field(
        default=None,
        description="Number of characters from which lint reports a page as too long, from 1,000 to 1,000,000.",
    )
    lint_min_pages: int | None = strawberry.field(
        default=None,
        description="Number of pages that must mention a name before lint asks for a page, 1 to 1,000.",
    )
    lint_every_days: int | None = strawberry.field(
        default=None, description="Days between two runs of lint by a worker, up to 365, or 0 for never."
    )
    lint_after_sources: int | None = strawberry.field(
        default=None, description="Number of new sources after which a worker runs lint, up to 1,000, or 0 for never."
    )
    requires_sensitivity: bool | None = strawberry.field(
        default=None, description="Whether lint reports pages without a sensitivity."
    )
    reader_ceiling: WikiSensitivity | None = strawberry.field(
        default=None, description="Highest sensitivity that readers can read, at least INTERNAL."
    )
    member_ceiling: WikiSensitivity | None = strawberry.field(
        default=None, description="Highest sensitivity that members by grant can read."
    )
    decision_threshold: WikiSignificance | None = strawberry.field(
        default=None, description="Minimum significance of a decision that gets a page."
    )
    write_policy: list[WikiWriteRuleInput] | None = strawberry.field(
        default=None, description="Rules that replace the write policy. Writes without a matching rule are open."
    )


@strawberry.type(description="Payload with the settings of a wiki.")
class WikiSettingsPayload:
    owner_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    changed: bool = strawberry.field(default=False, description="False if nothing was changed.")
    owner: WikiOwner | None = source(
        relations.owners.by_ids, "Owner of the wiki.", access=BY_ID, step=private_id("owner_id")
    )


@strawberry.type
class WikiSettingMutations:
    @strawberry.mutation(description="Update the settings of a wiki. For admins.")
    async def update_wiki_settings(self, info: Request, input: UpdateWikiSettingsInput) -> WikiSettingsPayload:
        scope = await scope_in(info, input)
        values = {field.name: getattr(input, field.name) for field in fields(WikiSettings)}
        for name in ("reader_ceiling", "member_ceiling", "decision_threshold"):
            values[name] = values[name] and values[name].value
        if input.write_policy is not None:
            values["write_policy"] = [rule.rule() for rule in input.write_policy]
        settings = WikiSettings(**values)
        try:
            changed = await update_wiki_settings(info.context.database, scope, settings)
        except BadInput as error:
            return WikiSettingsPayload(user_errors=[user_error(error)])
        return WikiSettingsPayload(owner_id=scope.owner_id, changed=changed)

    @strawberry.mutation(
        description=(
            "Set the language of a wiki, by which search stems words. Pages with their own language "
            "keep it. For admins."
        )
    )
    async def set_wiki_language(self, info: Request, input: SetWikiLanguageInput) -> WikiLanguagePayload:
        scope = await scope_in(info, input)
        try:
            done = await set_wiki_language(info.context.database, scope, input.language)
        except BadInput as error:
            return WikiLanguagePayload(user_errors=[user_error(error)])
        return WikiLanguagePayload(
            owner_id=done.owner_id,
            changed=done.job_id is not None,
            compile_job_id=None if done.job_id is None else strawberry.ID(str(done.job_id)),
        )
