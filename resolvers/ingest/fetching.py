"""Fetch addresses for ingest, if the operator allows it: only from allowed hosts, and only from public IP addresses.

The host of an address is resolved once, and the connection goes to the IP address that was checked, so a DNS record
that changes in between has no effect (DNS rebinding). Each redirect is checked like the first address.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urljoin

import httpx

from content.limits import ORIGINAL
from lib.addresses import Address, AddressRefused, LookUp, is_public, pin_address, resolve_host

from ..errors import BadInput

SECONDS = 15.0  # for the whole fetch, redirects included
REDIRECTS_MAX = 5
PORTS = range(65_536)
HEADERS = {"User-Agent": "cairn", "Accept": "text/html, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.1",
           "Accept-Encoding": "identity"}  # fmt: skip


class NotFetched(BadInput):
    """An address that may not be fetched, or that did not answer with a file."""

    code = "NOT_FETCHED"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The address was not fetched: {reason}. Give the file itself as content.", "address")


class Fetched(NamedTuple):
    """A fetched file, with the media type that its server sent."""

    data: bytes
    media_type: str | None


class Fetcher:
    """A client that fetches files from the hosts of an allow-list. `*.example.com` allows all hosts below the name."""

    def __init__(
        self,
        hosts: Sequence[str],
        *,
        look_up: LookUp = resolve_host,
        is_allowed: Callable[[Address], bool] = is_public,
        seconds: float = SECONDS,
    ) -> None:
        self.exact = {host for host in hosts if not host.startswith("*.")}
        self.below = tuple(host[1:] for host in hosts if host.startswith("*."))
        self.look_up, self.is_allowed, self.seconds = look_up, is_allowed, seconds

    async def fetch(self, url: str) -> Fetched:
        """Return the file at an address. Raises NotFetched."""
        try:
            async with asyncio.timeout(self.seconds):
                for _ in range(REDIRECTS_MAX + 1):
                    async with self.request(url) as answer:
                        if not answer.has_redirect_location:
                            return await read_response(answer)
                        url = redirect_target(url, answer.headers["location"])
                raise NotFetched(f"it leads on more than {REDIRECTS_MAX} times")
        except TimeoutError:
            raise NotFetched(f"it takes more than {self.seconds:g} seconds") from None
        except (httpx.HTTPError, ssl.SSLError) as error:
            raise NotFetched(f"its server does not answer ({type(error).__name__})") from None

    @asynccontextmanager
    async def request(self, url: str) -> AsyncIterator[httpx.Response]:
        """Send the request to the IP address that the host resolves to now, so that it cannot change in between."""
        parts = self.check_url(url)
        pinned = parts.copy_with(host=await self.pin_address(parts))
        headers = {**HEADERS, "Host": parts.netloc.decode("ascii")}
        async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=self.seconds) as client:
            extensions = {"sni_hostname": parts.raw_host.decode("ascii")}  # the certificate must be for this host
            async with client.stream("GET", pinned, headers=headers, extensions=extensions) as answer:
                yield answer

    def check_url(self, url: str) -> httpx.URL:
        """Return the parsed URL, if its scheme and host are allowed. Raises NotFetched."""
        try:
            parts = httpx.URL(url)
            if (parts.port or 0) not in PORTS:
                raise ValueError
        except (httpx.InvalidURL, ValueError):
            raise NotFetched("it is no address") from None
        if parts.scheme not in ("http", "https") or not parts.host:
            raise NotFetched("it is not of http or https")
        if parts.userinfo:
            raise NotFetched("it has a name and a password in it")
        host = parts.raw_host.decode("ascii").lower().rstrip(".")
        name = f"[{host}]" if ":" in host else host
        if name not in self.exact and not name.endswith(self.below or ("\n",)):
            raise NotFetched(f"the operator does not allow {name[:100]} (CAIRN_INGEST_HOSTS)")
        return parts

    async def pin_address(self, parts: httpx.URL) -> str:
        """Return the IP address to connect to. Raises NotFetched if the host resolves to any that is not public."""
        try:
            return await pin_address(parts, self.look_up, self.is_allowed)
        except AddressRefused as error:
            raise NotFetched(error.reason) from None


def redirect_target(url: str, location: str) -> str:
    """Return the URL of a redirect. Raises NotFetched for an invalid URL, and for one from https to another scheme."""
    try:
        target = urljoin(url, location)
    except ValueError:
        raise NotFetched("it leads to no address") from None
    if url.lower().startswith("https:") and not target.lower().startswith("https:"):
        raise NotFetched("it leads from https to another scheme")
    return target


async def read_response(answer: httpx.Response) -> Fetched:
    """Read the body of a response. Raises NotFetched as soon as it exceeds the size limit for files."""
    if answer.status_code != 200:
        raise NotFetched(f"its server answers {answer.status_code}")
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise NotFetched("its server sends it compressed, which it was asked not to")
    too_large = f"it has more than {ORIGINAL.maximum:,} bytes"
    declared = answer.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > ORIGINAL.maximum:
        raise NotFetched(too_large)
    data = bytearray()
    async for piece in answer.aiter_raw():
        data += piece
        if len(data) > ORIGINAL.maximum:
            raise NotFetched(too_large)
    return Fetched(bytes(data), answer.headers.get("content-type"))
