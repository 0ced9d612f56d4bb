"""Mutations for the admins of a tenant: owners, grants, API keys, and the access of programs."""

from datetime import datetime, timedelta
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID, OF_TENANT_AS_ADMIN
from db.scope import ActorKind, Role
from resolvers.auth import api_keys, oauth, owners
from resolvers.errors import BadInput
from resolvers.permissions import Action, require_admin

from ..enums import WikiAuthorKind, WikiGrantRole, WikiOwnerKind, WikiRole
from ..fields import source
from ..owners import WikiApiKey, WikiOwner
from .payloads import UserError, private_id, user_error
from .scoping import InWiki, Request, id_of, scope_in


@strawberry.input(description="Owner to create, with an empty wiki.")
class CreateWikiOwnerInput:
    kind: WikiOwnerKind = strawberry.field(description="Kind of owner: an agent, a user or a shared space.")
    slug: str = strawberry.field(description="Slug for commands and URLs, unique in the tenant.")
    name: str | None = strawberry.field(default=None, description="Display name. Defaults to the slug.")
    language: str = strawberry.field(
        default=owners.ENGLISH, description="Language of the pages, such as german, de or de-AT."
    )


@strawberry.input(description="Grant to create or replace: the access of one owner to the wiki of another.")
class GrantWikiAccessInput:
    owner: str = strawberry.field(description="Slug or id of the owner of the wiki.")
    grantee: str = strawberry.field(description="Slug or id of the owner who gets access.")
    role: WikiGrantRole = strawberry.field(description="Role of the grant. It replaces the role of an existing grant.")


@strawberry.input(description="Grant to revoke.")
class RevokeWikiAccessInput:
    owner: str = strawberry.field(description="Slug or id of the owner of the wiki.")
    grantee: str = strawberry.field(description="Slug or id of the owner who loses access.")


@strawberry.input(description="API key to create.")
class CreateApiKeyInput:
    name: str = strawberry.field(description="Purpose of the key. The history shows it as the author.")
    owners: list[str] = strawberry.field(
        description="Slugs or ids of the owners that the key acts for. The wiki of the first one is the default."
    )
    role: WikiRole | None = strawberry.field(
        default=None,
        description="Maximum role of the key. Defaults to the role that the scopes allow.",
    )
    scopes: list[str] | None = strawberry.field(
        default=None, description="Scopes that limit the role: wiki:read, wiki:write and wiki:admin."
    )
    networks: list[str] | None = strawberry.field(
        default=None,
        description="Networks that can use the key, such as 203.0.113.0/24. Defaults to all.",
    )
    expires_at: datetime | None = strawberry.field(
        default=None, description="Time at which it expires. Null for never."
    )
    actor: WikiAuthorKind | None = strawberry.field(
        default=None,
        description="Kind of author in the history. Defaults to the kind of the first owner.",
    )


@strawberry.input(description="API key whose secret to replace.")
class RotateApiKeyInput:
    id: strawberry.ID = strawberry.field(description="Id of the key, not the key itself.")
    overlap_seconds: int = strawberry.field(
        default=int(api_keys.OVERLAP.total_seconds()),
        description=(
            "Seconds for which the old secret is still accepted. Defaults to a day; 0 for none, 90 days at most."
        ),
    )


@strawberry.input(description="API key to revoke.")
class RevokeApiKeyInput:
    id: strawberry.ID = strawberry.field(description="Id of the key, not the key itself.")


@strawberry.type(description="Payload with the owner.")
class WikiOwnerPayload:
    owner_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    owner: WikiOwner | None = source(relations.owners.by_ids, "The owner.", access=BY_ID, step=private_id("owner_id"))


@strawberry.type(description="Payload with the access of one owner to the wiki of another.")
class WikiAccessPayload:
    owner_id: strawberry.Private[UUID | None] = None
    grantee_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    role: WikiGrantRole | None = strawberry.field(default=None, description="Role of the grant. Null if there is none.")
    revoked: bool = strawberry.field(default=False, description="Whether a grant was revoked.")
    owner: WikiOwner | None = source(
        relations.owners.by_ids, "Owner of the wiki.", access=BY_ID, step=private_id("owner_id")
    )
    grantee: WikiOwner | None = source(
        relations.owners.by_ids, "Owner who has access.", access=BY_ID, step=private_id("grantee_id")
    )


@strawberry.type(description="Payload with the API key.")
class WikiApiKeyPayload:
    key_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    key: str | None = strawberry.field(
        default=None,
        description="The key itself. Only createApiKey and rotateApiKey return it, once: it is stored as a hash.",
    )
    api_key: WikiApiKey | None = source(
        relations.api_keys.by_ids,
        "The API key, without the key itself.",
        access=OF_TENANT_AS_ADMIN,
        step=private_id("key_id"),
    )


@strawberry.type
class OnboardingMutations:
    @strawberry.mutation(description="Create an owner with an empty wiki. For admins.")
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
        description=("Grant an owner access to the wiki of another. A second grant replaces the first. For admins.")
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
        description=(
            "Revoke a grant. It is not an error if there is none. Tenant-wide credentials need no "
            "grant and keep their access. For admins."
        )
    )
    async def revoke_wiki_access(self, info: Request, input: RevokeWikiAccessInput) -> WikiAccessPayload:
        scope, database = info.context.scope, info.context.database
        tenant_id = require_admin(scope)
        owner, grantee = await owners.find_owners(database, tenant_id, [input.owner, input.grantee])
        revoked = await owners.revoke(database, tenant_id, owner_id=owner.id, grantee_id=grantee.id, by=scope.actor)
        return WikiAccessPayload(owner_id=owner.id, grantee_id=grantee.id, revoked=revoked)

    @strawberry.mutation(
        description=("Create an API key. It is shown only once, so that an Idempotency-Key is refused. For admins.")
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
        description=(
            "Replace the secret of an API key and show the new one, only once. The old secret is "
            "accepted until the overlap ends. An Idempotency-Key is refused. For admins."
        )
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
        description=(
            "Revoke an API key, effective from the next request. Revoking it again changes nothing. For admins."
        )
    )
    async def revoke_api_key(self, info: Request, input: RevokeApiKeyInput) -> WikiApiKeyPayload:
        tenant_id, key_id = require_admin(info.context.scope), id_of(input.id)
        await api_keys.revoke_api_key(info.context.database, tenant_id, key_id, by=info.context.scope.actor)
        return WikiApiKeyPayload(key_id=key_id)


@strawberry.input(description="Program whose access to revoke.")
class DisconnectWikiProgramInput(InWiki):
    id: strawberry.ID = strawberry.field(description="Id as listed by wikiConnectedPrograms.")


@strawberry.type(description="Payload of disconnecting a program.")
class WikiProgramPayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    disconnected_id: strawberry.ID | None = strawberry.field(
        default=None, description="Id of the revoked authorization."
    )


@strawberry.type
class ProgramMutations:
    @strawberry.mutation(
        description=(
            "Revoke the access of a program to a wiki. Its last token expires within 15 minutes. For "
            "admins of the tenant, and for the owner with a credential that can write."
        )
    )
    async def disconnect_wiki_program(self, info: Request, input: DisconnectWikiProgramInput) -> WikiProgramPayload:
        scope = await scope_in(info, input)
        await oauth.disconnect_program(info.context.database, scope, id_of(input.id), least=Action.WRITE)
        return WikiProgramPayload(disconnected_id=input.id)
