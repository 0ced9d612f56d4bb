"""Tokens of an issuer that publishes its keys, served here by a small HTTP server."""

import asyncio
import json
import ssl
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from db.ids import new_id
from db.scope import Scope
from resolvers.auth.credentials import Tokens
from resolvers.auth.jwks import KEEP, PAUSE, TTL, Jwks
from resolvers.errors import BadInput, CairnError, Unauthenticated, Unavailable

SECRET = "a secret of forty characters for the test"
CLAIMS = {"tenant": str(new_id()), "owner": str(new_id()), "role": "member"}


@cache
def private_key(name: str) -> Any:
    if name.startswith("rsa"):
        return rsa.generate_private_key(public_exponent=65537, key_size=1024 if name == "rsa-weak" else 2048)
    return ec.generate_private_key(ec.SECP256R1())


def published(name: str, **more: Any) -> dict[str, Any]:
    algorithm = jwt.get_algorithm_by_name("RS256" if name.startswith("rsa") else "ES256")
    return {**algorithm.to_jwk(private_key(name).public_key(), as_dict=True), "kid": name, **more}


def token(name: str, kid: str | None = "same", algorithm: str | None = None) -> str:
    headers = {} if kid is None else {"kid": name if kid == "same" else kid}
    algorithm = algorithm or ("RS256" if name.startswith("rsa") else "ES256")
    return jwt.encode({**CLAIMS, "exp": time.time() + 60}, private_key(name), algorithm, headers)


class Issuer:
    """An issuer that publishes `document` and counts the requests."""

    def __init__(self) -> None:
        self.document: object = {"keys": [published("rsa"), published("ec")]}
        self.status = "200 OK"
        self.delay = 0.0
        self.requests = 0
        self.now = 1000.0
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.requests += 1
        await asyncio.sleep(self.delay)
        body = self.document if isinstance(self.document, bytes) else json.dumps(self.document).encode()
        writer.write(
            f"HTTP/1.1 {self.status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
        )
        await writer.drain()
        writer.close()

    def jwks(self) -> Jwks:
        return Jwks(self.url, clock=lambda: self.now)


@pytest.fixture
async def issuer(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Issuer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    issuer = Issuer()
    server = await asyncio.start_server(issuer.answer, "127.0.0.1")
    issuer.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/keys"
    async with server:
        yield issuer


async def scope(jwks: Jwks, credential: str, **settings: Any) -> Scope:
    """Return the scope of a token in a process that has not seen it before."""
    return await Tokens(jwks=jwks, **settings).scope(credential)


async def refusal(jwks: Jwks, credential: str, **settings: Any) -> CairnError:
    with pytest.raises(CairnError) as refused:
        await scope(jwks, credential, **settings)
    return refused.value


@pytest.mark.parametrize("name", ["rsa", "ec"])
async def test_a_token_signed_with_a_published_key_is_accepted(issuer: Issuer, name: str) -> None:
    assert str((await scope(issuer.jwks(), token(name))).owner_id) == CLAIMS["owner"]


async def test_keys_are_fetched_once_for_concurrent_requests(issuer: Issuer) -> None:
    jwks = issuer.jwks()
    issuer.delay = 0.05
    await asyncio.gather(*(scope(jwks, token(name)) for name in ("rsa", "ec") * 8))
    assert issuer.requests == 1


async def test_a_cancelled_request_does_not_cancel_the_shared_fetch(issuer: Issuer) -> None:
    jwks = issuer.jwks()
    issuer.delay = 0.1
    leaving = asyncio.create_task(scope(jwks, token("rsa")))
    staying = asyncio.create_task(scope(jwks, token("ec")))
    await asyncio.sleep(0.02)
    leaving.cancel()
    assert await staying
    assert issuer.requests == 1


async def test_keys_are_fetched_again_for_an_unknown_key_only_after_a_pause(issuer: Issuer) -> None:
    jwks = issuer.jwks()
    await scope(jwks, token("rsa"))
    issuer.document = {"keys": [published("ec-new")]}
    assert "unknown key" in str(await refusal(jwks, token("ec-new")))
    issuer.now += PAUSE
    assert await scope(jwks, token("ec-new"))
    for _ in range(5):
        assert "unknown key" in str(await refusal(jwks, token("ec", kid="made up")))
    assert issuer.requests == 2


async def test_a_withdrawn_key_is_refused_after_its_ttl(issuer: Issuer) -> None:
    jwks = issuer.jwks()
    await scope(jwks, token("rsa"))
    issuer.document = {"keys": [published("ec")]}
    assert await scope(jwks, token("rsa"))
    issuer.now += TTL + 1
    assert "unknown key" in str(await refusal(jwks, token("rsa")))


async def test_cached_keys_are_used_for_a_while_when_the_issuer_is_unavailable(issuer: Issuer) -> None:
    jwks = issuer.jwks()
    await scope(jwks, token("rsa"))
    issuer.status = "503 Service Unavailable"
    issuer.now += TTL + 1
    assert await scope(jwks, token("rsa"))
    issuer.now += KEEP
    assert isinstance(await refusal(jwks, token("rsa")), Unavailable)
    issuer.status = "200 OK"
    issuer.now += PAUSE
    assert await scope(jwks, token("rsa"))


@pytest.mark.parametrize(
    "document",
    [b"", b"<html>", b"\xff", b"[" * 100_000, b"null", [], {}, {"keys": {}}, {"keys": "rsa"}],
    ids=["empty", "html", "not text", "deep", "null", "list", "no keys", "keys are no list", "keys are a text"],
)
async def test_an_issuer_without_a_valid_key_set_is_unavailable(issuer: Issuer, document: object) -> None:
    issuer.document = document
    assert isinstance(await refusal(issuer.jwks(), token("rsa")), Unavailable)


async def test_an_issuer_that_cannot_be_reached_is_unavailable() -> None:
    assert isinstance(await refusal(Jwks("http://127.0.0.1:9/keys"), token("rsa")), Unavailable)


async def test_keys_that_are_not_public_signing_keys_are_skipped(issuer: Issuer) -> None:
    symmetric = {"kty": "oct", "kid": "oct", "alg": "HS256", "k": "c2VjcmV0" * 8}
    private = jwt.get_algorithm_by_name("ES256").to_jwk(private_key("ec-open"), as_dict=True)
    broken = [
        None,
        7,
        {},
        {"kty": "RSA"},
        {"kty": "RSA", "n": 1, "e": []},
        {"kty": "EC", "crv": "P-256", "x": "?", "y": "?"},
    ]
    unfit = [published("ec-other", use="enc"), published("rsa-pss", alg="PS256"), {**private, "kid": "ec-open"}]
    issuer.document = {"keys": [*broken, symmetric, *unfit, published("ec")]}
    jwks = issuer.jwks()
    assert await scope(jwks, token("ec"))
    assert [key.key_id for key in jwks.keys] == ["ec"]


async def test_a_token_need_not_name_the_only_key_of_its_algorithm(issuer: Issuer) -> None:
    assert await scope(issuer.jwks(), token("rsa", kid=None))
    issuer.document = {"keys": [published("rsa"), published("rsa-second")]}
    assert "unknown key" in str(await refusal(issuer.jwks(), token("rsa", kid=None)))


async def test_a_published_key_is_never_used_as_a_shared_secret(issuer: Issuer) -> None:
    public = private_key("rsa").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signer = jwt.get_algorithm_by_name("HS256")
    parts = jwt.encode(CLAIMS, SECRET, "HS256", {"kid": "rsa"}).rpartition(".")[0]
    signature = urlsafe_b64encode(signer.sign(parts.encode(), public)).decode().rstrip("=")
    assert "not accepted" in str(await refusal(issuer.jwks(), f"{parts}.{signature}"))
    assert "signature" in str(await refusal(issuer.jwks(), f"{parts}.{signature}", secret=SECRET))


async def test_tokens_of_a_secret_and_of_an_issuer_are_accepted_together(issuer: Issuer) -> None:
    ours = jwt.encode({**CLAIMS, "exp": time.time() + 60}, SECRET, "HS256")
    assert await scope(issuer.jwks(), ours, secret=SECRET)
    assert issuer.requests == 0
    assert await scope(issuer.jwks(), token("ec"), secret=SECRET)
    assert "not accepted" in str(await refusal(issuer.jwks(), ours))


async def test_a_token_is_not_accepted_under_another_algorithm_of_the_same_key(issuer: Issuer) -> None:
    assert "not accepted" in str(await refusal(issuer.jwks(), token("rsa", algorithm="RS512")))


async def test_another_key_with_a_published_key_id_is_a_wrong_signature(issuer: Issuer) -> None:
    assert "signature" in str(await refusal(issuer.jwks(), token("rsa-second", kid="rsa")))


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
async def test_a_token_signed_with_a_weak_key_is_refused(issuer: Issuer) -> None:
    issuer.document = {"keys": [published("rsa-weak")]}
    refused = await refusal(issuer.jwks(), token("rsa-weak"))
    assert isinstance(refused, Unauthenticated)
    assert "weak" in str(refused)


@pytest.mark.parametrize(
    "url",
    ["", "keys", "/keys", "ftp://id.example/keys", "file:///etc/passwd", "http://", "http://id.example:port/", "a\0b"],
)
def test_an_invalid_jwks_url_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(BadInput) as refused:
        Jwks(url)
    assert refused.value.field == "jwksUrl"


async def test_keys_are_unavailable_if_the_issuer_breaks_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    async def break_off(*_: object) -> None:
        raise ssl.SSLError(1, "[SSL: DECRYPTION_FAILED_OR_BAD_RECORD_MAC] decryption failed or bad record mac")

    monkeypatch.setattr("httpx.AsyncHTTPTransport.handle_async_request", break_off)
    with pytest.raises(Unavailable):
        await Jwks("https://issuer.example/keys").key("rsa", "RS256")
