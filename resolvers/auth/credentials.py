"""Authentication of requests by signed tokens and API keys: from the Authorization header to the scope."""

import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import jwt

from content.limits import AUTHOR
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from lib.lru import LRU
from observability.trace import record_caller

from ..errors import BadInput, Forbidden, NoCredential, NotFound, Unauthenticated
from ..permissions import Action, authorise, covers
from ..transactions.audit import CredentialLog, Event
from ..transactions.db_errors import translated_db_errors
from .api_keys import PREFIX, KeyRefused, NetworkRefused, find_key, role_of_scopes, scope_of_key
from .jwks import ALGORITHMS, Jwks
from .owners import Owner, usual_actor

SECRET_MIN = 32  # bytes, the length of a hash of HS256
LEEWAY = 30.0  # seconds that an issuer's clock may run ahead of ours
TTL_MAX = 10 * 365 * 86_400
CACHE_SIZE = 4096  # tokens
CACHE_TTL = 60.0  # seconds for which a credential may still be accepted after it was withdrawn

REASONS: Mapping[type[jwt.PyJWTError], str] = {
    jwt.ExpiredSignatureError: "The token has expired.",
    jwt.ImmatureSignatureError: "The token is not valid yet.",
    jwt.InvalidSignatureError: "The token's signature is wrong.",
    jwt.InvalidAlgorithmError: "The token is signed in a way that is not accepted here.",
    jwt.InvalidAudienceError: "The token is meant for another audience.",
    jwt.InvalidIssuerError: "The token comes from an issuer that is not accepted here.",
    jwt.InvalidKeyError: "The token is signed with a key that is too weak.",
}
MALFORMED: Final = "The token is malformed."

Choice = TypeVar("Choice", Role, ActorKind)


class Verified(NamedTuple):
    """The scope of a verified token. It need not be verified again until `until`, in seconds since 1970."""

    scope: Scope
    until: float
    resource: str | None
    """The only part of the service that accepts it, such as `https://wiki.example.org/mcp`; None stands for all."""


class Tokens:
    """Verifies tokens by our own secret, an issuer's public keys, or both; each key has its own algorithm.

    Verified tokens are cached, because verifying a signature takes longer than a typical request.
    """

    def __init__(
        self,
        *,
        secret: str | None = None,
        jwks: Jwks | None = None,
        issuer: str | None = None,
        audience: str | None = None,
        resource: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Accept tokens for the `audience` everywhere, and tokens for the `resource` only at this resource (RFC 8707).

        `clock` returns seconds since 1970.
        """
        self.secret = None if secret is None else secret_key(secret)
        self.jwks, self.issuer, self.audience, self.resource = jwks, issuer, audience, resource
        self.clock = clock
        self.verified: LRU[Verified] = LRU(CACHE_SIZE)

    async def scope(self, token: str) -> Scope:
        """Return the scope of a token. Raises Unauthenticated with the reason if it is not valid."""
        return (await self.find(token)).scope

    async def find(self, token: str) -> Verified:
        """Return the scope of a token, and the time until which it need not be verified again."""
        found = self.verified.get(token)
        if found is not None and found.until > self.clock():
            return found
        claims = await self.claims(token)
        scope, resource = scope_of(claims), self.resource_of(claims)
        return self.verified.put(token, Verified(scope, min(int(claims["exp"]), self.clock() + CACHE_TTL), resource))

    def resource_of(self, claims: Mapping[str, Any]) -> str | None:
        """Return the only resource that a token is valid for, or None if it is valid for the whole service."""
        audiences = claims.get("aud")
        named = [audiences] if isinstance(audiences, str) else list(audiences or ())
        return self.resource if self.resource in named and self.audience not in named else None

    async def claims(self, token: str) -> dict[str, Any]:
        """Verify a token and return its claims. Raises Unauthenticated."""
        try:
            key = await self.key(jwt.get_unverified_header(token))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                issuer=self.issuer,
                audience=self.audiences(token),
                leeway=LEEWAY,
                options={"require": ["exp"], "enforce_minimum_key_length": True},
            )
        except jwt.PyJWTError as error:
            raise Unauthenticated(reason(error)) from None
        # The leeway is meant for `nbf` and `iat` only: an expired token is refused at once.
        if int(claims["exp"]) <= self.clock():
            raise Unauthenticated(REASONS[jwt.ExpiredSignatureError])
        return claims

    def audiences(self, token: str) -> list[str] | None:
        """Return the audiences of which a token must name at least one; None to accept only tokens without one.

        A token without an audience is accepted if no audience is configured.
        """
        if self.audience is None and "aud" not in jwt.decode(token, options={"verify_signature": False}):
            return None
        return [audience for audience in (self.audience, self.resource) if audience] or None

    async def key(self, header: Mapping[str, Any]) -> jwt.PyJWK:
        """Return the key that the header of a token selects. Each key is bound to one algorithm."""
        algorithm = header.get("alg")
        if algorithm == "HS256" and self.secret is not None:
            return self.secret
        if algorithm in ALGORITHMS and self.jwks is not None:
            return await self.jwks.key(header.get("kid"), algorithm)
        raise jwt.InvalidAlgorithmError


def mint(
    secret: str,
    *,
    tenant_id: UUID,
    owner_id: UUID,
    role: Role,
    ttl: float,
    actor: Actor | None = None,
    issuer: str | None = None,
    audience: str | None = None,
) -> str:
    """Sign a token that is valid for `ttl` seconds. Without an actor it acts as its owner."""
    if not 1 <= ttl <= TTL_MAX:
        raise BadInput("The lifetime of a token must be between 1 second and 10 years.", "ttl")
    now = time.time()
    claims = {
        "tenant": str(tenant_id),
        "owner": str(owner_id),
        "role": role.value,
        "iat": int(now),
        "exp": int(now + ttl),
        "iss": issuer,
        "aud": audience,
        "sub": actor.id if actor else None,
        "actor_kind": actor.kind.value if actor else None,
    }
    set_claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(set_claims, secret_key(secret).key, algorithm="HS256")


class Signing(NamedTuple):
    """The settings for signing tokens. The secret is None if all tokens come from another issuer."""

    secret: str | None
    issuer: str | None
    audience: str | None


def issue_token(signing: Signing, owner: Owner, role: Role, ttl: float, actor_kind: ActorKind | None = None) -> str:
    """Sign a token for an owner that is valid for `ttl` seconds. Raises Forbidden if this service does not sign tokens.

    In the history the owner is the author, of the kind `actor_kind` or by default of its own kind.
    """
    if signing.secret is None:
        raise Forbidden("Tokens come from the issuer behind CAIRN_JWKS_URL. Set CAIRN_JWT_SECRET to sign some here.")
    if actor_kind is ActorKind.COMPILER:
        raise BadInput("The actor of a token must be an agent, a user or a service.", "actor")
    return mint(
        signing.secret,
        tenant_id=owner.tenant_id,
        owner_id=owner.id,
        role=role,
        ttl=ttl,
        actor=Actor(actor_kind or usual_actor(owner.kind, role), str(owner.id)),
        issuer=signing.issuer,
        audience=signing.audience,
    )


def secret_key(secret: str) -> jwt.PyJWK:
    """Return the signing key of a secret. Raises BadInput for a weak secret, so that no server starts with one."""
    data = secret.encode(errors="surrogateescape")
    if len(data) < SECRET_MIN:
        raise BadInput(
            f"The secret that signs tokens has {len(data)} bytes and needs at least {SECRET_MIN}. "
            "`openssl rand -base64 48` prints a good one.",
            "secret",
        )
    key = jwt.PyJWK({"kty": "oct", "alg": "HS256", "k": urlsafe_b64encode(data).decode().rstrip("=")})
    try:
        key.Algorithm.prepare_key(key.key)
    except jwt.InvalidKeyError:
        raise BadInput(
            "The secret that signs tokens must be random text, not a key of another kind.", "secret"
        ) from None
    return key


def reason(error: jwt.PyJWTError) -> str:
    """Return the reason why a token is refused, without any part of the token."""
    if isinstance(error, jwt.MissingRequiredClaimError):
        return f"The token lacks the claim `{error.claim}`."
    return next((words for kind, words in REASONS.items() if isinstance(error, kind)), MALFORMED)


def scope_of(claims: Mapping[str, Any]) -> Scope:
    """Return the scope of the claims tenant, owner and role. The claims actor_kind and sub set another author.

    Known OAuth scopes in `scope` or `scp` limit the role, or replace a missing role.
    """
    owner_id = identifier(claims, "owner")
    scope_role = role_of_scopes(claims.get("scope") or claims.get("scp") or ())
    role = one_of(claims, "role", Role) if scope_role is None or "role" in claims else scope_role
    if scope_role is not None and not covers(scope_role, role):
        role = scope_role
    otherwise = ActorKind.SERVICE if role is Role.SERVICE else ActorKind.USER
    kind = one_of(claims, "actor_kind", ActorKind) if "actor_kind" in claims else otherwise
    return Scope(
        tenant_id=identifier(claims, "tenant"),
        owner_id=owner_id,
        role=role,
        actor=Actor(kind, subject(claims.get("sub", str(owner_id)))),
        owners=(owner_id,),
    )


def identifier(claims: Mapping[str, Any], name: str) -> UUID:
    try:
        return UUID(claims[name])
    except (KeyError, ValueError, TypeError, AttributeError):
        raise Unauthenticated(f"The token's claim `{name}` must be a UUID.") from None


def one_of(claims: Mapping[str, Any], name: str, kind: type[Choice]) -> Choice:
    try:
        return kind(claims[name])
    except (KeyError, ValueError):
        raise Unauthenticated(f"The token's claim `{name}` must be one of {', '.join(kind)}.") from None


def subject(value: str) -> str:
    """Return the id of the author, which is stored in the history and must therefore be printable and short."""
    if not 0 < len(value) <= AUTHOR.maximum or not value.isprintable():
        raise Unauthenticated(f"The token's claim `sub` must be 1 to {AUTHOR.maximum} printable characters.")
    return value


HEADER_MAX = 8192  # characters
NOT_YOURS = "X-Cairn-Owner names no owner whose wiki this credential may read."


class Credentials:
    """Authenticates callers by a signed token, which takes no statement, or by an API key, which takes one."""

    def __init__(self, database: Database, tokens: Tokens) -> None:
        self.database, self.tokens, self.log = database, tokens, CredentialLog(database)

    async def scope(self, authorization: str | None, owner: str | None = None, resource: str | None = None) -> Scope:
        """Return the scope of the credential, in the wiki of the owner with the id `owner` if that is given.

        `resource` is the part of the service that got the request; a token for another part is refused. Raises
        Unauthenticated, or Forbidden for a wiki that the credential may not read. Refusals are logged.
        """
        try:
            scope = await self.authenticate(authorization, resource)
        except (KeyRefused, NetworkRefused) as refusal:
            self.log.refuse(refusal.message, Event.KEY_USED, refusal.tenant_id, refusal.key_id)
            raise
        except NoCredential:
            raise
        except Unauthenticated as refusal:
            self.log.refuse(refusal.message)
            raise
        record_caller(scope)
        return scope if owner is None else await self.at_work(scope, owner)

    async def authenticate(self, authorization: str | None, resource: str | None = None) -> Scope:
        shown = bearer(authorization)
        if shown.startswith(PREFIX):
            with translated_db_errors():
                scope = await scope_of_key(self.database, shown)
            self.log.use(scope.tenant_id, UUID(scope.actor.id))
            return scope
        found = await self.tokens.find(shown)
        if found.resource is not None and found.resource != resource:
            raise Unauthenticated(REASONS[jwt.InvalidAudienceError])
        return found.scope

    async def valid_until(self, authorization: str | None) -> float:
        """Return the time, in seconds since 1970, until which the credential need not be verified again.

        Raises Unauthenticated if it is not valid any more.
        """
        shown = bearer(authorization)
        if not shown.startswith(PREFIX):
            return (await self.tokens.find(shown)).until
        row = await find_key(self.database, shown)
        left: list[float] = [
            (moment - row["now"]).total_seconds()
            for moment in (row["expires_at"], row["former_until"])
            if moment is not None
        ]
        return time.time() + min([CACHE_TTL, *left])

    async def at_work(self, scope: Scope, owner: str) -> Scope:
        """Return the scope in another owner's wiki. Raises Forbidden, with the same message for an unknown owner."""
        try:
            owner_id = UUID(owner)
            with translated_db_errors():
                async with self.database.connection() as connection:
                    await authorise(connection, scope, owner_id, Action.READ)
        except (ValueError, NotFound):
            raise Forbidden(NOT_YOURS) from None
        return scope.in_owner(owner_id)


def bearer(authorization: str | None) -> str:
    """Return the credential after the word Bearer. Raises NoCredential or Unauthenticated."""
    if not authorization:
        raise NoCredential("A credential is needed: send `Authorization: Bearer` with a token or an API key.")
    if len(authorization) > HEADER_MAX:
        raise Unauthenticated(f"The Authorization header is longer than {HEADER_MAX:,} characters.")
    kind, _, shown = authorization.strip(" ").partition(" ")
    shown = shown.strip(" ")
    if kind.lower() != "bearer" or not shown:
        raise Unauthenticated("The Authorization header must be the word Bearer and a token or an API key.")
    if not shown.isprintable() or " " in shown:
        raise Unauthenticated("The Authorization header holds characters that no credential has.")
    return shown
