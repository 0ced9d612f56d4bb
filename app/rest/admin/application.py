"""The API for operators at /api/admin: tenants, owners, API keys and tokens. Off unless CAIRN_ADMIN_TOKEN is set."""

import hmac
import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson
from starlette.responses import Response

from db.database import Database
from db.scope import ActorKind, Role, Scope
from resolvers.auth import api_keys, owners
from resolvers.auth.credentials import Signing, bearer, issue_token
from resolvers.auth.wiki_settings import WikiSettings
from resolvers.errors import BadInput, Unauthenticated
from resolvers.rate_limits import Account, Bucket, Lease, Rate, Share, Throttle
from resolvers.tenants import tenants
from resolvers.transactions.audit import CredentialLog, Event, audit_in_own_transaction

from ...http.limits import Admission, Bounds
from ...http.request import Bodies
from ...settings import Settings, signing_secret
from ..application import ContractApplication, set_summary
from ..endpoint import RestEndpoint
from ..parameters import BODY_STATUSES, Caller, Limit, problem_responses, read_responses
from ..responses import answer, answer_write
from . import models as admin_models
from . import webhooks as admin_webhooks
from .paths import (
    OPERATOR_ACTOR,
    PATH,
    AfterId,
    AfterSlug,
    OwnerName,
    TenantName,
    answer_created,
    check_cursor,
    check_no_idempotency_key,
    find_tenant_id,
    list_body,
    routes,
)

DESCRIPTION = (
    "API for operators: tenants, owners, API keys, tokens and webhooks. It is served only if "
    "`CAIRN_ADMIN_TOKEN` is set. Errors are problems (RFC 9457). To continue a list, pass its `next` "
    "as `cursor`. `Idempotency-Key` is refused: slugs are unique, and responses with a secret are "
    "never stored."
)
BEARER = {"type": "http", "scheme": "bearer", "description": "Token of the operator: CAIRN_ADMIN_TOKEN."}
NO_ID = UUID(int=0)
OPERATOR_SCOPE = Scope(NO_ID, NO_ID, Role.ADMIN, OPERATOR_ACTOR, ())
"""The scope of the operator, which only the limits use. No tenant has this id, so it can read and write nothing."""


class OperatorToken:
    """The authenticator of the admin API, which accepts only the operator's token."""

    def __init__(self, token: str, log: CredentialLog) -> None:
        self.digest, self.log = sha256(token.encode()).digest(), log

    async def scope(self, authorization: str | None, owner: str | None = None) -> Scope:
        """Return the operator's scope. Raises Unauthenticated for another token, in constant time."""
        if not hmac.compare_digest(sha256(bearer(authorization).encode()).digest(), self.digest):
            self.log.refuse("Not the operators' token.")
            raise Unauthenticated("This is not the operators' token, which CAIRN_ADMIN_TOKEN sets.")
        return OPERATOR_SCOPE


class OperatorThrottle(Throttle):
    """The rate limit of the operator. Each process has its own bucket, because shared buckets belong to tenants."""

    def open(self, scope: Scope) -> Account:
        rate = self.credential
        return Account((Share(rate, local_lease(rate)),) if rate.per_second else (), self.max_concurrent)


def local_lease(rate: Rate) -> Callable[[float, float], Any]:
    """Return a function that leases from a bucket of this process."""
    bucket = Bucket(rate, rate.burst, time.monotonic())

    async def lease(wanted: float, owed: float) -> Lease:
        now = time.monotonic()
        return Lease(bucket.take(wanted, owed, now), bucket.level(now))

    return lease


class AdminApplication(ContractApplication):
    """The application at /api/admin."""

    bearer = BEARER

    def complete_operation(self, operation: dict[str, Any], path: str, method: str) -> None:
        set_summary(operation)
        operation["security"] = [{"bearer": []}]


def admin_application(settings: Settings, database: Database, bounds: Bounds, log: CredentialLog) -> AdminApplication:
    """Return the application, with the same limits of bodies, rates and time as the REST API of wikis."""
    assert settings.admin_token is not None
    application = make_application()
    throttle = OperatorThrottle(
        database,
        credential=Rate(settings.credential_rate, settings.credential_burst),
        tenant=Rate(0, 1),
        max_concurrent=settings.max_concurrent,
    )
    application.state.signing = Signing(signing_secret(settings), settings.jwt_issuer, settings.jwt_audience)
    application.state.endpoint = RestEndpoint(
        database,
        OperatorToken(settings.admin_token.get_secret_value(), log),
        replace(bounds, admission=Admission(database, throttle, 2 * settings.pool_size)),
        Bodies(settings.max_body),
        settings.compress_over,
        settings.max_import,
    )
    return application


def make_application() -> AdminApplication:
    """Return the application with all routes, but without a database. Its contract is complete."""
    application = AdminApplication("Cairn for operators", DESCRIPTION, PATH)
    application.add_routes(routes)
    application.add_routes(admin_webhooks.routes)
    return application


def contract_text() -> str:
    """Return the OpenAPI document as JSON text, in the form in which it is committed."""
    return json.dumps(make_application().openapi(), indent=2, ensure_ascii=False)


@routes.get("/tenants", operation_id="listTenants", response_model=admin_models.Tenants, responses=read_responses())
async def list_tenants(call: Caller, limit: Limit = 50, cursor: AfterSlug = None) -> Response:
    """List the tenants of the service by slug."""
    check_cursor(cursor)
    found = await tenants.list_tenants(call.endpoint.database, after=cursor, limit=limit + 1)
    return await answer(call, list_body(found, limit, tenant_to_dict, "slug"))


@routes.post(
    "/tenants",
    operation_id="createTenant",
    status_code=201,
    response_model=admin_models.Tenant,
    responses=problem_responses(*BODY_STATUSES),
)
async def create_tenant(call: Caller, body: admin_models.NewTenant) -> Response:
    """Create a tenant. Fails with 409 `SLUG_TAKEN` if the slug is taken."""
    check_no_idempotency_key(call)
    created = await tenants.create_tenant(call.endpoint.database, body.slug, body.name or body.slug, by=OPERATOR_ACTOR)
    return await answer_created(call, tenant_to_dict(created))


@routes.get(
    "/tenants/{tenant}/owners",
    operation_id="listOwners",
    response_model=admin_models.Owners,
    responses=read_responses(404),
)
async def list_owners(call: Caller, tenant: TenantName, limit: Limit = 50, cursor: AfterSlug = None) -> Response:
    """List the owners of a tenant by slug."""
    check_cursor(cursor)
    tenant_id = await find_tenant_id(call, tenant)
    found = await owners.list_owners(call.endpoint.database, tenant_id, after=cursor, limit=limit + 1)
    return await answer(call, list_body(found, limit, owner_to_dict, "slug"))


@routes.post(
    "/tenants/{tenant}/owners",
    operation_id="createOwner",
    status_code=201,
    response_model=admin_models.Owner,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def create_owner(call: Caller, tenant: TenantName, body: admin_models.NewOwner) -> Response:
    """Create an owner with an empty wiki. Fails with 409 `SLUG_TAKEN` if the slug is taken."""
    check_no_idempotency_key(call)
    tenant_id, kind = await find_tenant_id(call, tenant), owners.OwnerKind(body.kind.value)
    name = body.name or body.slug
    created = await owners.create_owner(
        call.endpoint.database, tenant_id, kind, body.slug, name, body.language, by=OPERATOR_ACTOR
    )
    return await answer_created(call, owner_to_dict(created))


@routes.patch(
    "/tenants/{tenant}/owners/{owner}",
    operation_id="updateOwner",
    response_model=admin_models.Owner,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def update_owner(call: Caller, tenant: TenantName, owner: OwnerName, body: admin_models.OwnerUpdate) -> Response:
    """Update the settings of an owner's wiki. Omitted settings are unchanged."""
    check_no_idempotency_key(call)
    rules = None if body.write_policy is None else [rule.rule() for rule in body.write_policy]
    tenant_id, database = await find_tenant_id(call, tenant), call.endpoint.database
    found = await owners.find_owner(database, tenant_id, owner)
    settings = WikiSettings(**body.model_dump(exclude={"write_policy"}), write_policy=rules)
    if settings == WikiSettings():
        raise BadInput("Give at least one setting to change.", "score_boost")
    changed = await owners.set_owner_settings(database, tenant_id, found.id, settings, by=OPERATOR_ACTOR)
    return await answer_write(call, orjson.dumps(owner_to_dict(changed)), 200)


@routes.get(
    "/tenants/{tenant}/keys",
    operation_id="listApiKeys",
    response_model=admin_models.ApiKeys,
    responses=read_responses(404),
)
async def list_keys(call: Caller, tenant: TenantName, limit: Limit = 50, cursor: AfterId = None) -> Response:
    """List the API keys of a tenant, oldest first, without the keys themselves."""
    tenant_id = await find_tenant_id(call, tenant)
    found = await api_keys.list_api_keys(call.endpoint.database, tenant_id, after=cursor, limit=limit + 1)
    return await answer(call, list_body(found, limit, key_to_dict, "id"))


@routes.post(
    "/tenants/{tenant}/keys",
    operation_id="createApiKey",
    status_code=201,
    response_model=admin_models.IssuedKey,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def create_key(call: Caller, tenant: TenantName, body: admin_models.NewKey) -> Response:
    """Create an API key. It is shown only once; if the response is lost, revoke it by its id and create another."""
    check_no_idempotency_key(call)
    tenant_id, database = await find_tenant_id(call, tenant), call.endpoint.database
    named = await owners.find_owners(database, tenant_id, body.owners)
    issued = await api_keys.create_api_key(
        database,
        tenant_id,
        body.name,
        Role(body.role.value) if body.role else None,
        [owner.id for owner in named],
        body.expires_at,
        ActorKind(body.actor) if body.actor else None,
        limits=api_keys.KeyLimits(body.scopes or (), body.networks or ()),
        by=OPERATOR_ACTOR,
    )
    return await answer_created(call, {"id": str(issued.id), "key": issued.key, "expires_at": body.expires_at})


@routes.post(
    "/tenants/{tenant}/keys/{id}/rotate",
    operation_id="rotateApiKey",
    response_model=admin_models.RotatedKey,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def rotate_key(call: Caller, tenant: TenantName, id: UUID, body: admin_models.KeyRotation) -> Response:
    """Replace the secret of an API key and show the new one, only once. The old secret is accepted until the overlap
    ends."""
    check_no_idempotency_key(call)
    tenant_id, overlap = await find_tenant_id(call, tenant), timedelta(seconds=body.overlap_seconds)
    issued = await api_keys.rotate_api_key(call.endpoint.database, tenant_id, id, overlap, by=OPERATOR_ACTOR)
    fields = {"id": str(issued.id), "key": issued.key, "former_until": issued.former_until}
    return await answer_write(call, orjson.dumps(fields), 200)


@routes.delete(
    "/tenants/{tenant}/keys/{id}", operation_id="revokeApiKey", status_code=204, responses=problem_responses(404)
)
async def revoke_key(call: Caller, tenant: TenantName, id: UUID) -> Response:
    """Revoke an API key, effective from the next request. Revoking it again changes nothing."""
    await api_keys.revoke_api_key(call.endpoint.database, await find_tenant_id(call, tenant), id, by=OPERATOR_ACTOR)
    return Response(status_code=204, headers={"Cache-Control": "no-store"})


@routes.post(
    "/tenants/{tenant}/tokens",
    operation_id="createToken",
    status_code=201,
    response_model=admin_models.IssuedToken,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def create_token(call: Caller, tenant: TenantName, body: admin_models.NewToken) -> Response:
    """Create a short-lived token for an owner. It cannot be revoked. Fails with 403 if tokens come from another
    issuer."""
    check_no_idempotency_key(call)
    tenant_id = await find_tenant_id(call, tenant)
    owner = await owners.find_owner(call.endpoint.database, tenant_id, body.owner)
    actor_kind = ActorKind(body.actor) if body.actor else None
    token = issue_token(call.request.app.state.signing, owner, Role(body.role.value), body.ttl, actor_kind)
    detail = {"role": body.role, "seconds": body.ttl}
    await audit_in_own_transaction(
        call.endpoint.database, tenant_id, OPERATOR_ACTOR, Event.TOKEN_CREATED, owner.id, **detail
    )
    fields = {"tenant_id": str(tenant_id), "owner_id": str(owner.id), "role": body.role, "expires_in": body.ttl}
    return await answer_created(call, {"token": token, **fields})


def tenant_to_dict(tenant: tenants.Tenant) -> dict[str, Any]:
    return {"id": str(tenant.id), "slug": tenant.slug, "name": tenant.name, "created_at": tenant.created_at}


def owner_to_dict(owner: owners.Owner) -> dict[str, Any]:
    return {
        "id": str(owner.id),
        "kind": owner.kind,
        "slug": owner.slug,
        "name": owner.name,
        "language": owner.language,
        **asdict(owner.settings),
        "write_policy": [rule._asdict() for rule in owner.settings.write_policy or ()],
        "created_at": owner.created_at,
    }


def key_to_dict(key: api_keys.ApiKey) -> dict[str, Any]:
    return {
        "id": str(key.id),
        "name": key.name,
        "role": key.role,
        "actor": key.actor_kind,
        "owners": key.owners,
        "state": key.state,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "scopes": key.scopes,
        "networks": key.networks,
        "used_at": key.used_at,
        "former_until": key.former_until,
    }
