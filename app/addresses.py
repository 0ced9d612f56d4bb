"""Addresses as they may stand in settings: what could never match anything is refused at the start.

A browser and a proxy write them in one way alone, and a rule for another way would be there and do nothing.
"""

import re
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

NAME = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)*\.?")
USUAL = {"http": ":80", "https": ":443"}


def origins(given: list[str] | None) -> list[str] | None:
    """A browser sends `https://app.example.org`: small letters of ASCII, no path, no slash, no usual port."""
    given = given and [origin.lower() for origin in given]
    for origin in given or ():
        parts = urlsplit(origin)
        shown = f"{parts.scheme}://{parts.netloc.removesuffix(USUAL.get(parts.scheme, ' '))}"
        if origin != "*" and (origin != shown or not parts.netloc or not origin.isascii()):
            raise ValueError(
                f"{origin} is not an origin as browsers send it, such as https://app.example.org, and not *"
            )
    return given


def hosts(given: list[str] | None) -> list[str] | None:
    """In small letters, as they are compared."""
    for host in given or ():
        if not (NAME.fullmatch(host) or is_bracketed(host)):
            raise ValueError(
                f"{host} is not a host name such as wiki.example.org, *.example.org or [::1], without a port;"
                " leave the variable out to answer for any"
            )
    return given and [host.lower() for host in given]


def is_bracketed(host: str) -> bool:
    """Is this an IPv6 address as it stands in a Host header?"""
    try:
        return host[0] == "[" and host[-1] == "]" and ip_address(host[1:-1]).version == 6
    except ValueError:
        return False


def networks(given: str | None) -> str | None:
    """Addresses and networks by commas, or `*`."""
    for part in filter(None, map(str.strip, (given or "").split(","))):
        try:
            _ = part == "*" or ip_network(part)
        except ValueError as error:
            raise ValueError(f"{error}; write 10.0.0.7 or 10.0.0.0/8") from None
    return given
