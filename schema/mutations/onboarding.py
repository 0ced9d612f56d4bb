"""The tenant's own affairs, for its admins: owners, who may use whose wiki, and API keys."""

from dataclasses import fields
from datetime import datetime, timedelta
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID, OF_TENANT_AS_ADMIN
from db.scope import ActorKind, Role
from resolvers.auth import api_keys, oauth, owners
from resolvers.auth.owners import WikiSettings, set_wiki_language, update_wiki_settings
from resolvers.errors import BadInput
from resolvers.permissions import Action, require_admin
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole

from ..enums import (
    WikiAuthorKind,
    WikiGrantRole,
    WikiOwnerKind,
    WikiPageType,
    WikiRole,
    WikiSensitivity,
    WikiSignificance,
    WikiWritePolicy,
    WikiWriterRole,
)
from ..fields import source
from ..owners import WikiApiKey, WikiOwner
from .payloads import UserError, private_id, user_error
from .scoping import InWiki, Request, id_of, scope_in


@strawberry.input(description="A new owner with an empty wiki.")
class CreateWikiOwnerInput:
    kind: WikiOwnerKind = strawberry.field(description="An agent, a user, or a space that several share.")
    slug: str = strawberry.field(description="Its name in commands and URLs, unique in the tenant.")
    name: str | None = strawberry.field(default=None, description="Its name for people; the slug when left out.")
    language: str = strawberry.field(
        default=owners.ENGLISH, description="What its pages are written in, like german, de or de-AT."
    )


@strawberry.input(description="What one owner may do in another owner's wiki.")
class GrantWikiAccessInput:
    owner: str = strawberry.field(description="Whose wiki it is: the owner's slug or id.")
    grantee: str = strawberry.field(description="The owner who may use it: its slug or id.")
    role: WikiGrantRole = strawberry.field(description="It replaces the role of a grant that exists.")


@strawberry.input(description="A grant that is to be taken back.")
class RevokeWikiAccessInput:
    owner: str = strawberry.field(description="Whose wiki it is: the owner's slug or id.")
    grantee: str = strawberry.field(description="The owner who may use it no longer: its slug or id.")


@strawberry.input(description="A new API key.")
class CreateApiKeyInput:
    name: str = strawberry.field(description="What the key is for; history shows it as the author.")
    owners: list[str] = strawberry.field(
        description="The owners that it speaks for, by slug or id; the first is whose wiki it works in."
    )
    role: WikiRole | None = strawberry.field(
        default=None,
        description="What the key may do at most; no more than the caller itself. That of its scopes when left out.",
    )
    scopes: list[str] | None = strawberry.field(
        default=None, description="Of wiki:read, wiki:write and wiki:admin: they take away what the role may besides."
    )
    networks: list[str] | None = strawberry.field(
        default=None,
        description="Networks from which it is accepted, like 203.0.113.0/24 or 2001:db8::/32; all when left out.",
    )
    expires_at: datetime | None = strawberry.field(default=None, description="When it ends by itself; null for never.")
    actor: WikiAuthorKind | None = strawberry.field(
        default=None,
        description="The kind of author that history names: AGENT, USER or SERVICE. What its first owner is when "
        "left out.",
    )


@strawberry.input(description="An API key that gets another secret.")
class RotateApiKeyInput:
    id: strawberry.ID = strawberry.field(description="The id of the key, not the key.")
    overlap_seconds: int = strawberry.field(
        default=int(api_keys.OVERLAP.total_seconds()),
        description="For how long the secret that it has now is accepted still: a day, 0 for no longer, 90 days at "
        "most.",
    )


@strawberry.input(description="An API key that is to be revoked.")
class RevokeApiKeyInput:
    id: strawberry.ID = strawberry.field(description="The id of the key, not the key.")


@strawberry.type(description="An owner after it was made.")
class WikiOwnerPayload:
    owner_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    owner: WikiOwner | None = source(relations.owners.by_ids, "The owner.", access=BY_ID, step=private_id("owner_id"))


@strawberry.type(description="What one owner may do in another owner's wiki now.")
class WikiAccessPayload:
    owner_id: strawberry.Private[UUID | None] = None
    grantee_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    role: WikiGrantRole | None = strawberry.field(default=None, description="Of the grant; null when there is none.")
    revoked: bool = strawberry.field(default=False, description="Whether a grant was taken back by this.")
    owner: WikiOwner | None = source(
        relations.owners.by_ids, "Whose wiki it is.", access=BY_ID, step=private_id("owner_id")
    )
    grantee: WikiOwner | None = source(
        relations.owners.by_ids, "The owner who may use it.", access=BY_ID, step=private_id("grantee_id")
    )


@strawberry.type(description="An API key after it was made or revoked.")
class WikiApiKeyPayload:
    key_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    key: str | None = strawberry.field(
        default=None,
        description="The key itself, from createApiKey alone and this once: it is stored as a hash and cannot be "
        "shown again.",
    )
    api_key: WikiApiKey | None = source(
        relations.api_keys.by_ids, "What may be known of it.", access=OF_TENANT_AS_ADMIN, step=private_id("key_id")
    )


@strawberry.type
class OnboardingMutations:
    @strawberry.mutation(description="Make an owner with an empty wiki; for admins.")
    async def create_wiki_owner(self, info: Request, input: CreateWikiOwnerInput) -> WikiOwnerPayload:
        tenant_id = require_admin(info.context.scope)
        try:
            owner = await owners.create_owner(
                info.context.database,
                tenant_id,
                owners.OwnerKind(input.kind),
                input.slug,
                input.slug if input.name is None else input.name,
                input.language,
                by=info.context.scope.actor,
            )
        except BadInput as error:
            return WikiOwnerPayload(user_errors=[user_error(error)])
        return WikiOwnerPayload(owner_id=owner.id)

    @strawberry.mutation(
        description="Let one owner into another owner's wiki; a second grant replaces the first. For admins."
    )
    async def grant_wiki_access(self, info: Request, input: GrantWikiAccessInput) -> WikiAccessPayload:
        scope, database = info.context.scope, info.context.database
        tenant_id = require_admin(scope)
        owner, grantee = await owners.find_owners(database, tenant_id, [input.owner, input.grantee])
        role = WikiGrantRole(input.role)
        try:
            await owners.grant(
                database,
                tenant_id,
                owner_id=owner.id,
                grantee_id=grantee.id,
                role=owners.Grant(str(role.value)),
                by=scope.actor,
            )
        except BadInput as error:
            return WikiAccessPayload(user_errors=[user_error(error)])
        return WikiAccessPayload(owner_id=owner.id, grantee_id=grantee.id, role=role)

    @strawberry.mutation(
        description="Take a grant back; it is no error when there is none. What spans the tenant needs no grant and "
        "keeps its access. For admins."
    )
    async def revoke_wiki_access(self, info: Request, input: RevokeWikiAccessInput) -> WikiAccessPayload:
        scope, database = info.context.scope, info.context.database
        tenant_id = require_admin(scope)
        owner, grantee = await owners.find_owners(database, tenant_id, [input.owner, input.grantee])
        revoked = await owners.revoke(database, tenant_id, owner_id=owner.id, grantee_id=grantee.id, by=scope.actor)
        return WikiAccessPayload(owner_id=owner.id, grantee_id=grantee.id, revoked=revoked)

    @strawberry.mutation(
        description="Make an API key and show it, this once. An Idempotency-Key is refused, because the answer would "
        "be stored. For admins."
    )
    async def create_api_key(self, info: Request, input: CreateApiKeyInput) -> WikiApiKeyPayload:
        scope, database = info.context.scope, info.context.database
        tenant_id = require_admin(scope)
        try:
            named = await owners.find_owners(database, tenant_id, api_keys.few_owners(input.owners))
            issued = await api_keys.create_api_key(
                database,
                tenant_id,
                input.name,
                None if input.role is None else Role(input.role),
                [owner.id for owner in named],
                input.expires_at,
                None if input.actor is None else ActorKind(input.actor),
                limits=api_keys.KeyLimits(input.scopes or (), input.networks or ()),
                maker=scope.role,
                by=scope.actor,
            )
        except BadInput as error:
            return WikiApiKeyPayload(user_errors=[user_error(error)])
        return WikiApiKeyPayload(key_id=issued.id, key=issued.key)

    @strawberry.mutation(
        description="Give an API key another secret and show it, this once; the one before is accepted for a while. An "
        "Idempotency-Key is refused. For admins."
    )
    async def rotate_api_key(self, info: Request, input: RotateApiKeyInput) -> WikiApiKeyPayload:
        scope, key_id = info.context.scope, id_of(input.id)
        tenant_id, overlap = require_admin(scope), timedelta(seconds=input.overlap_seconds)
        try:
            issued = await api_keys.rotate_api_key(info.context.database, tenant_id, key_id, overlap, by=scope.actor)
        except BadInput as error:
            return WikiApiKeyPayload(user_errors=[user_error(error)])
        return WikiApiKeyPayload(key_id=key_id, key=issued.key)

    @strawberry.mutation(
        description="End an API key from the next request on. Revoking it again changes nothing. For admins."
    )
    async def revoke_api_key(self, info: Request, input: RevokeApiKeyInput) -> WikiApiKeyPayload:
        tenant_id, key_id = require_admin(info.context.scope), id_of(input.id)
        await api_keys.revoke_api_key(info.context.database, tenant_id, key_id, by=info.context.scope.actor)
        return WikiApiKeyPayload(key_id=key_id)


@strawberry.input(description="A program that is to be let in no longer.")
class DisconnectWikiProgramInput(InWiki):
    id: strawberry.ID = strawberry.field(description="The id that wikiConnectedPrograms gives.")


@strawberry.type(description="A program after it was disconnected.")
class WikiProgramPayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    disconnected_id: strawberry.ID | None = strawberry.field(default=None, description="What was ended.")


@strawberry.type
class ProgramMutations:
    @strawberry.mutation(
        description="Let a program into a wiki no longer: it gets no more tokens, and the last one ends within 15 "
        "minutes. For admins of the tenant, and for its owner with a credential that may write."
    )
    async def disconnect_wiki_program(self, info: Request, input: DisconnectWikiProgramInput) -> WikiProgramPayload:
        scope = await scope_in(info, input)
        await oauth.disconnect_program(info.context.database, scope, id_of(input.id), least=Action.WRITE)
        return WikiProgramPayload(disconnected_id=input.id)


@strawberry.input(description="The language of a wiki.")
class SetWikiLanguageInput(InWiki):
    language: str = strawberry.field(
        description="Like german, de or de-AT: any that Postgres has a configuration for, and simple for none."
    )


@strawberry.type(description="A wiki after it was said what it is written in.")
class WikiLanguagePayload:
    owner_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    changed: bool = strawberry.field(default=False, description="False when it was written in that before.")
    compile_job_id: strawberry.ID | None = strawberry.field(
        default=None,
        description="The job that reads its pages again for search; its metrics count them as pages_reindexed.",
    )
    owner: WikiOwner | None = source(
        relations.owners.by_ids, "Whose wiki it is.", access=BY_ID, step=private_id("owner_id")
    )


@strawberry.input(description="A rule of a write policy. One for a type of pages goes before that for all types.")
class WikiWriteRuleInput:
    role: WikiWriterRole = strawberry.field(description="Whose writes.")
    page_type: WikiPageType | None = strawberry.field(default=None, description="Of which pages; of all if left out.")
    policy: WikiWritePolicy = strawberry.field(description="What becomes of them.")

    def rule(self) -> PolicyRule:
        role, policy = WriterRole(self.role.value), Policy(str(WikiWritePolicy(self.policy).value))
        return PolicyRule(role, policy, self.page_type and self.page_type.value)


@strawberry.input(description="The settings of a wiki. What is left out stays as it is.")
class UpdateWikiSettingsInput(InWiki):
    score_boost: float | None = strawberry.field(
        default=None,
        description="By what the scores of its pages are multiplied where evidence is searched beside them: 0 to 10. "
        "Under 1 the evidence leads when both answer alike.",
    )
    min_sources_for_synthesis: int | None = strawberry.field(
        default=None,
        description="How many sources a page has to cite before a model writes its text, from 1 to 100. Themes are "
        "made from so many sources only.",
    )
    stale_after_days: int | None = strawberry.field(
        default=None, description="After how many days without a change lint calls a page stale, from 1 to 3,650."
    )
    oversize_characters: int | None = strawberry.field(
        default=None, description="From how many characters on lint calls a page too long, from 1,000 to 1,000,000."
    )
    lint_min_pages: int | None = strawberry.field(
        default=None, description="On how many pages a name has to stand for lint to ask for its page, 1 to 1,000."
    )
    lint_every_days: int | None = strawberry.field(
        default=None, description="After how many days a worker lints the wiki again, up to 365; 0 for never."
    )
    lint_after_sources: int | None = strawberry.field(
        default=None, description="After how many new sources a worker lints the wiki, up to 1,000; 0 for never."
    )
    requires_sensitivity: bool | None = strawberry.field(
        default=None, description="Whether lint asks for a sensitivity of every page."
    )
    reader_ceiling: WikiSensitivity | None = strawberry.field(
        default=None, description="The most sensitive that readers see; PUBLIC is refused: a page is internal at least."
    )
    member_ceiling: WikiSensitivity | None = strawberry.field(
        default=None, description="The most sensitive that members by grant see."
    )
    decision_threshold: WikiSignificance | None = strawberry.field(
        default=None, description="The least significance of a decision that gets a page."
    )
    write_policy: list[WikiWriteRuleInput] | None = strawberry.field(
        default=None, description="All rules of the write policy anew. Writes that no rule is about are written."
    )


@strawberry.type(description="A wiki after its settings were changed.")
class WikiSettingsPayload:
    owner_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    changed: bool = strawberry.field(default=False, description="False when every setting had that value before.")
    owner: WikiOwner | None = source(
        relations.owners.by_ids, "Whose wiki it is.", access=BY_ID, step=private_id("owner_id")
    )


@strawberry.type
class WikiSettingMutations:
    @strawberry.mutation(description="Change settings of a wiki, for admins.")
    async def update_wiki_settings(self, info: Request, input: UpdateWikiSettingsInput) -> WikiSettingsPayload:
        scope = await scope_in(info, input)
        given = {one.name: getattr(input, one.name) for one in fields(WikiSettings)}
        for name in ("reader_ceiling", "member_ceiling", "decision_threshold"):
            given[name] = given[name] and given[name].value
        if input.write_policy is not None:
            given["write_policy"] = [one.rule() for one in input.write_policy]
        settings = WikiSettings(**given)
        try:
            changed = await update_wiki_settings(info.context.database, scope, settings)
        except BadInput as error:
            return WikiSettingsPayload(user_errors=[user_error(error)])
        return WikiSettingsPayload(owner_id=scope.owner_id, changed=changed)

    @strawberry.mutation(
        description="Say what a wiki is written in, so that search takes its words by it; for admins. Pages that say "
        "their own language keep it."
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
