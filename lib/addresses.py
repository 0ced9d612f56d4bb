"""Resolves the host of a URL once and checks its IP addresses, so that a connection goes to a checked address.

The connection uses the IP address and not the name, so a DNS answer that changes after the check has no effect.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import httpx

TRANSLATED = ip_network("64:ff9b::/96")  # an IPv4 address in its last 32 bits
UNICAST = ip_network("2000::/3")  # global unicast; local translation and other embeddings of IPv4 lie outside of it
SPECIAL = [ip_network(network) for network in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")]
"""Special networks whose addresses `is_global` of older Python versions takes for global."""
PORTS = {"http": 80, "https": 443}

Address = IPv4Address | IPv6Address
LookUp = Callable[[str, int], Awaitable[Sequence[str]]]


class AddressRefused(Exception):
    """The host cannot be resolved, or has an address that is not allowed. `reason` is a clause, not a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def resolve_host(host: str, port: int) -> list[str]:
    """Return the IP addresses that a host name has now."""
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in infos))


def is_public(address: Address) -> bool:
    """Return whether an address, and an IPv4 address embedded in it, belongs to the public internet."""
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not any(address in network for network in SPECIAL)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in TRANSLATED:
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if address.sixtofour is not None and not is_public(address.sixtofour):
        return False
    return address in UNICAST and address.is_global and not any(address in network for network in SPECIAL)


async def pin_address(parts: httpx.URL, look_up: LookUp, is_allowed: Callable[[Address], bool]) -> str:
    """Return the IP address to connect to. Raises AddressRefused if any address of the host is not allowed."""
    host, port = parts.raw_host.decode("ascii"), parts.port or PORTS[parts.scheme]
    try:
        addresses = [ip_address(text.partition("%")[0]) for text in await look_up(host, port)]
    except (OSError, UnicodeError, ValueError):
        addresses = []
    if not addresses:
        raise AddressRefused("there is no such host")
    if not all(map(is_allowed, addresses)):
        raise AddressRefused("its host is not on the public internet")
    return str(addresses[0])
