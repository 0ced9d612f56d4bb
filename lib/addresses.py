"""The machines that an address means: looked up once and checked, so that a connection goes where was looked.

A name that means another machine a moment later leads nowhere else.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import httpx

TRANSLATED = ip_network("64:ff9b::/96")  # an IPv4 address in its last 32 bits
UNICAST = ip_network("2000::/3")  # all that is given out of IPv6: local translation and other embeddings lie outside
SPECIAL = [ip_network(one) for one in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")]  # which old Pythons call global
PORTS = {"http": 80, "https": 443}

Address = IPv4Address | IPv6Address
LookUp = Callable[[str, int], Awaitable[Sequence[str]]]


class AddressRefused(Exception):
    """An address that means no machine, or one that may not be reached. `reason` is no whole sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def resolve_host(host: str, port: int) -> list[str]:
    """Return the addresses that a name has now."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def is_public(address: Address) -> bool:
    """Return whether an address is one of the public internet, and so is every other that it stands for."""
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not any(address in one for one in SPECIAL)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in TRANSLATED:
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if address.sixtofour is not None and not is_public(address.sixtofour):
        return False
    return address in UNICAST and address.is_global and not any(address in one for one in SPECIAL)


async def pin_address(parts: httpx.URL, look_up: LookUp, is_allowed: Callable[[Address], bool]) -> str:
    """Return the one machine to connect to. Raises AddressRefused where the name means any that is not allowed."""
    host, port = parts.raw_host.decode("ascii"), parts.port or PORTS[parts.scheme]
    try:
        found = [ip_address(one.partition("%")[0]) for one in await look_up(host, port)]
    except (OSError, UnicodeError, ValueError):
        found = []
    if not found:
        raise AddressRefused("there is no such host")
    if not all(map(is_allowed, found)):
        raise AddressRefused("its host is not on the public internet")
    return str(found[0])
