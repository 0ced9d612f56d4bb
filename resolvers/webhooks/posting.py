"""The HTTP requests of webhooks, signed by the Standard Webhooks specification.

They are sent only to the public internet and to networks that the operator allows. Redirects are not followed, and only
the status of a response is used.
"""

import asyncio
import hmac
import ssl
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from hashlib import sha256
from ipaddress import ip_network
from typing import Any
from uuid import UUID

import httpx
import orjson

from lib.addresses import Address, AddressRefused, LookUp, is_public, pin_address, resolve_host

from ..transactions.outbox import ProposalKind
from .webhooks import SECRET_PREFIX, event_of

SECONDS = 15.0  # for a whole request
AGENT = "cairn-webhooks"
READ_MAX = 16_384  # bytes of a response that are read and discarded, so that the connection can be reused


class NotSent(Exception):
    """The receiver did not accept a request. `status` is that of its response, if there was one."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status


Post = Callable[[Mapping[str, str], bytes], Awaitable[int]]


class WebhookClient:
    """Sends the requests of webhooks. `networks` are allowed besides the public internet, and there also by http."""

    def __init__(
        self, networks: str | None = None, *, look_up: LookUp = resolve_host, seconds: float = SECONDS
    ) -> None:
        named = [part.strip() for part in (networks or "").split(",") if part.strip()]
        self.reaches_all = "*" in named
        self.networks = [ip_network(part) for part in named if part != "*"]
        self.look_up, self.seconds = look_up, seconds
        self.tls = ssl.create_default_context()  # created once, because that takes longer than most requests

    def is_allowed(self, scheme: str, address: Address) -> bool:
        mapped = getattr(address, "ipv4_mapped", None) or address
        if self.reaches_all or any(mapped in network for network in self.networks):
            return True
        return scheme == "https" and is_public(address)

    @asynccontextmanager
    async def to(self, url: str) -> AsyncIterator[Post]:
        """Resolve the host of a URL once, and yield a function that posts to that address. Raises NotSent."""
        try:
            parts = httpx.URL(url)
        except (httpx.InvalidURL, ValueError):
            raise NotSent("its URL is invalid") from None
        try:
            machine = await pin_address(parts, self.look_up, partial(self.is_allowed, parts.scheme))
        except AddressRefused as error:
            raise NotSent(self.refusal(parts.scheme, error.reason)) from None
        common_headers = {"Host": parts.netloc.decode("ascii"), "User-Agent": AGENT, "Content-Type": "application/json"}
        extensions = {"sni_hostname": parts.raw_host.decode("ascii")}  # the host that the certificate must name
        async with httpx.AsyncClient(
            trust_env=False, follow_redirects=False, timeout=self.seconds, verify=self.tls
        ) as client:

            async def post(headers: Mapping[str, str], body: bytes) -> int:
                request = client.stream(
                    "POST", parts.copy_with(host=machine), headers={**common_headers, **headers}, content=body,
                    extensions=extensions,
                )  # fmt: skip
                return await self.status_of(request)

            yield post

    async def status_of(self, request: Any) -> int:
        """Send a request and return the status of a successful response. Raises NotSent."""
        try:
            async with asyncio.timeout(self.seconds), request as answer:
                status: int = answer.status_code
                read = 0
                async for piece in answer.aiter_raw():
                    read += len(piece)
                    if read > READ_MAX:
                        break
        except TimeoutError:
            raise NotSent(f"the receiver took more than {self.seconds:g} seconds") from None
        except (httpx.HTTPError, ssl.SSLError) as error:
            raise NotSent(f"the receiver does not answer ({type(error).__name__})") from None
        if not 200 <= status < 300:
            led = ", and redirects are not followed" if 300 <= status < 400 else ""
            raise NotSent(f"the receiver answered {status}{led}", status)
        return status

    def refusal(self, scheme: str, reason: str) -> str:
        allowed = "an operator may allow networks with CAIRN_WEBHOOK_NETWORKS"
        if "public" not in reason:
            return reason
        return f"{reason}; {allowed}" if scheme == "https" else f"http is not sent to the public internet; {allowed}"


def headers_of(id: UUID, at: datetime, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers of the Standard Webhooks specification, with a signature by each secret."""
    seconds = str(int(at.timestamp()))
    signed = f"{id}.{seconds}.".encode() + body
    return {
        "webhook-id": str(id),
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{signature(secret, signed)}" for secret in secrets),
    }


def signature(secret: str, signed: bytes) -> str:
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    return b64encode(hmac.digest(key, signed, sha256)).decode()


def body_of(tenant: str, row: Mapping[str, Any]) -> bytes:
    """Return the body of the request for a change or a proposal. It has no text of the page."""
    event = event_of(row["kind"], row["page_id"])
    data = {
        "tenant": tenant,
        "owner": row["owner"],
        "kind": event.partition(".")[2],
        "pageId": row["page_id"] and str(row["page_id"]),
        "type": row["page_type"],
        "slug": row["slug"],
        "version": row["version"],
    }
    if row["proposal_id"]:
        data["proposal"] = {
            "id": str(row["proposal_id"]),
            "operation": row["operation"],
            "significance": row["significance"],
            "authorKind": row["author_kind"],
            "authorId": row["author_id"],
            "reason": None if event == ProposalKind.CREATED else row["reason"],
        }
    return orjson.dumps({"type": event, "timestamp": row["happened_at"], "data": data})
