"""The required claims of a token, and the errors for tokens without them."""

import json
import time
from contextlib import suppress
from typing import Any

import jwt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.credentials import Tokens, mint
from resolvers.errors import BadInput, Unauthenticated

SECRET = "a secret of forty characters for the test"
# The first text that a new checkout draws waits for Hypothesis to write its tables of Unicode.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
TENANT, OWNER = new_id(), new_id()
CLAIMS = {"tenant": str(TENANT), "owner": str(OWNER), "role": "member"}
FAR = 4_000_000_000  # seconds since 1970: the year 2096


def token(secret: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    return jwt.encode({**CLAIMS, "exp": time.time() + 60, **claims}, secret, algorithm)


async def scope(credential: str, **settings: Any) -> Scope:
    return await Tokens(secret=SECRET, **settings).scope(credential)


async def refusal(credential: str, **settings: Any) -> str:
    with pytest.raises(Unauthenticated) as refused:
        await scope(credential, **settings)
    return refused.value.message


@pytest.mark.parametrize("role", Role)
async def test_a_minted_token_has_the_scope_of_its_owner(role: Role) -> None:
    minted = mint(SECRET, tenant_id=TENANT, owner_id=OWNER, role=role, ttl=60)
    found = await scope(minted)
    assert (found.tenant_id, found.owner_id, found.role, found.owners) == (TENANT, OWNER, role, (OWNER,))
    assert found.actor == Actor(ActorKind.SERVICE if role is Role.SERVICE else ActorKind.USER, str(OWNER))


async def test_a_token_may_name_another_author() -> None:
    actor = Actor(ActorKind.AGENT, "note-taker/7")
    minted = mint(SECRET, tenant_id=TENANT, owner_id=OWNER, role=Role.MEMBER, ttl=60, actor=actor)
    assert (await scope(minted)).actor == actor


async def test_issuer_and_audience_are_required_when_they_are_set() -> None:
    named = {"issuer": "https://id.example", "audience": "cairn"}
    minted = mint(SECRET, tenant_id=TENANT, owner_id=OWNER, role=Role.MEMBER, ttl=60, **named)
    assert (await scope(minted, **named)).owner_id == OWNER
    assert "issuer" in await refusal(minted, issuer="https://other.example", audience="cairn")
    assert "audience" in await refusal(minted, issuer="https://id.example", audience="other")
    assert "audience" in await refusal(minted)
    assert "`iss`" in await refusal(token(), issuer="https://id.example")


@pytest.mark.parametrize(
    ("claims", "word"),
    [
        ({"exp": 1}, "expired"),
        ({"exp": None}, "lacks the claim `exp`"),
        ({"exp": "soon"}, "malformed"),
        ({"exp": float("inf")}, "malformed"),
        ({"nbf": FAR}, "not valid yet"),
        ({"iat": FAR}, "not valid yet"),
        ({"tenant": "harbour"}, "`tenant`"),
        ({"owner": None}, "`owner`"),
        ({"owner": ["a"]}, "`owner`"),
        ({"role": "root"}, "`role`"),
        ({"role": {}}, "`role`"),
        ({"actor_kind": "ghost"}, "`actor_kind`"),
        ({"sub": ""}, "`sub`"),
        ({"sub": "nul\0"}, "`sub`"),
        ({"sub": "\ud800"}, "`sub`"),
        ({"sub": "x" * 201}, "`sub`"),
        ({"sub": 7}, "malformed"),
    ],
)
async def test_the_refusal_of_a_token_names_the_invalid_claim(claims: dict[str, Any], word: str) -> None:
    # jwt.encode refuses some of these itself, so the payload is signed as bytes.
    signed = jwt.PyJWS().encode(json.dumps({**CLAIMS, "exp": time.time() + 60, **claims}).encode(), SECRET, "HS256")
    assert word in await refusal(signed)


async def test_a_clock_may_run_half_a_minute_ahead() -> None:
    now = time.time()
    assert (await scope(token(iat=now + 25, nbf=now + 25))).owner_id == OWNER
    for claim in ("iat", "nbf"):
        assert "not valid yet" in await refusal(token(**{claim: now + 40}))


async def test_a_token_that_was_accepted_before_still_expires() -> None:
    now = time.time()
    clock = [now]
    checked = Tokens(secret=SECRET, clock=lambda: clock[0])
    minted = token(exp=int(now) + 20)
    assert await checked.scope(minted) == await checked.scope(minted)
    clock[0] = now + 21
    with pytest.raises(Unauthenticated, match="expired"):
        await checked.scope(minted)


async def test_another_secret_is_a_wrong_signature() -> None:
    assert "signature" in await refusal(token(secret=SECRET[::-1]))


async def test_a_changed_token_is_a_wrong_signature() -> None:
    head, _, signature = token().split(".")
    other = token(role="admin").split(".")[1]
    assert "signature" in await refusal(f"{head}.{other}.{signature}")


@pytest.mark.parametrize("algorithm", ["HS384", "HS512"])
async def test_tokens_of_other_algorithms_are_refused(algorithm: str) -> None:
    assert "not accepted" in await refusal(token(SECRET * 2, algorithm))


async def test_an_unsigned_token_is_not_accepted() -> None:
    unsigned = jwt.encode({**CLAIMS, "exp": time.time() + 60}, None, algorithm="none")
    assert "not accepted" in await refusal(unsigned)


async def test_without_a_secret_no_token_is_accepted() -> None:
    with pytest.raises(Unauthenticated, match="not accepted"):
        await Tokens().scope(token())


@pytest.mark.parametrize(
    "secret", ["", "x" * 31, "-----BEGIN PUBLIC KEY-----\n" + "A" * 64 + "\n-----END PUBLIC KEY-----"]
)
def test_a_weak_secret_is_refused_at_the_start(secret: str) -> None:
    with pytest.raises(BadInput) as refused:
        Tokens(secret=secret)
    assert refused.value.field == "secret"
    assert not secret or secret not in refused.value.message


@pytest.mark.parametrize("ttl", [0, -1, float("inf"), float("nan")])
def test_minting_a_token_with_an_invalid_ttl_is_refused(ttl: float) -> None:
    with pytest.raises(BadInput):
        mint(SECRET, tenant_id=TENANT, owner_id=OWNER, role=Role.MEMBER, ttl=ttl)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)
HEADERS = st.sampled_from(["alg", "kid", "crit", "b64", "typ"])
NAMES = st.sampled_from(["tenant", "owner", "role", "actor_kind", "exp", "nbf", "iat", "iss", "aud", "sub", "jti"])


@PATIENT
@given(st.dictionaries(HEADERS, JSON), st.dictionaries(NAMES, JSON))
async def test_random_headers_and_claims_cause_no_error_but_unauthenticated(
    header: dict[str, Any], claims: dict[str, Any]
) -> None:
    parts = ({"alg": "HS256", **header}, {**CLAIMS, "exp": FAR, **claims})
    signed = b".".join(jwt.utils.base64url_encode(json.dumps(part).encode()) for part in parts)
    signature = jwt.get_algorithm_by_name("HS256").sign(signed, SECRET.encode())
    with suppress(Unauthenticated):
        assert await scope(f"{signed.decode()}.{jwt.utils.base64url_encode(signature).decode()}")


async def test_a_refusal_repeats_nothing_of_the_credential() -> None:
    for credential in (token(exp=1), token(secret=SECRET[::-1]), token(role="root"), token(sub="")):
        message = await refusal(credential)
        assert not any(part in message for part in [*credential.split("."), "root"])
