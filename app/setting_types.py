"""The types of settings: how the value of an environment variable is parsed and validated."""

import re
from datetime import time
from ipaddress import ip_address, ip_network
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator

from db.scope import Role

HOST_NAME = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)*\.?")
DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def origins(given: list[str] | None) -> list[str] | None:
    """Return the origins in lower case. Raise ValueError for an origin that browsers do not send in this form.

    An origin such as `https://app.example.org` is ASCII, without a path, a final slash or the default port.
    """
    given = given and [origin.lower() for origin in given]
    for origin in given or ():
        parts = urlsplit(origin)
        expected = f"{parts.scheme}://{parts.netloc.removesuffix(DEFAULT_PORTS.get(parts.scheme, ' '))}"
        if origin != "*" and (origin != expected or not parts.netloc or not origin.isascii()):
            raise ValueError(f"{origin} is not an origin as browsers send it, such as https://app.example.org")
    return given


def hosts(given: list[str] | None) -> list[str] | None:
    """Return the host names in lower case. Raise ValueError for an invalid name."""
    for host in given or ():
        if not (HOST_NAME.fullmatch(host) or is_bracketed(host)):
            raise ValueError(
                f"{host} is not a host name such as wiki.example.org, *.example.org or [::1], without a port"
            )
    return given and [host.lower() for host in given]


def is_bracketed(host: str) -> bool:
    """Return whether this is an IPv6 address in brackets, as in a Host header."""
    try:
        return host[0] == "[" and host[-1] == "]" and ip_address(host[1:-1]).version == 6
    except ValueError:
        return False


def networks(given: str | None) -> str | None:
    """Raise ValueError unless the text is a comma-separated list of addresses and networks, or `*`."""
    for part in filter(None, map(str.strip, (given or "").split(","))):
        try:
            _ = part == "*" or ip_network(part)
        except ValueError as error:
            raise ValueError(f"{error}; write 10.0.0.7 or 10.0.0.0/8") from None
    return given


PRICE = re.compile(r"([^=\s]+)=(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")


def split_at_commas(given: object) -> object:
    """Split the comma-separated list of an environment variable."""
    return [part.strip() for part in given.split(",") if part.strip()] if isinstance(given, str) else given


DSN = re.compile(r"postgres(?:ql)?://\S+")


def dsns(given: object) -> object:
    """Split DSNs at the commas between them, but not at those between the hosts of a DSN. Raise ValueError."""
    if not isinstance(given, str):
        return given
    parts = [part.strip(" ,") for part in re.split(r",(?=\s*postgres(?:ql)?://)", given) if part.strip(" ,")]
    if not all(map(DSN.fullmatch, parts)):
        raise ValueError("each needs the form postgresql://user:password@host:5432/cairn")
    return parts


def parse_price(given: list[str] | None) -> list[str] | None:
    """Raise ValueError unless each price has a form such as `provider:model=2.50/10`.

    The numbers are US dollars for a million input tokens and for a million output tokens.
    """
    for price in given or ():
        if not PRICE.fullmatch(price):
            raise ValueError(f"{price} is not a price such as openai:gpt-5=1.25/10, in dollars for a million tokens")
    return given


def in_utc(given: time) -> time:
    """Return the time without an offset of zero. Raise ValueError for any other offset, because workers use UTC."""
    if given.utcoffset():
        raise ValueError(f"{given.isoformat()} is not in UTC: say the hour there, without an offset")
    return given.replace(tzinfo=None)


def origin(given: str | None) -> str | None:
    """Return a single origin in lower case. Raise ValueError if it is invalid."""
    return given and (origins([given]) or [""])[0]


def issuer(given: str | None) -> str | None:
    """Raise ValueError unless this is the URL of an issuer: with HTTPS, or with HTTP on this machine."""
    parts = urlsplit(given or "https://issuer")
    is_local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if not parts.netloc or parts.query or parts.fragment or not (parts.scheme == "https" or is_local):
        raise ValueError(f"{given} is not the address of an issuer, such as https://login.example.org/realms/acme")
    return given


def role_names(given: list[str] | None) -> list[str] | None:
    """Raise ValueError unless each pair is a value of a claim and the role that it gives, as `wiki-admins=admin`."""
    for pair in given or ():
        value, _, role = pair.rpartition("=")
        if not value or role not in (Role.READER, Role.MEMBER, Role.ADMIN):
            raise ValueError(f"{pair} is not a pair such as wiki-admins=admin, of the roles reader, member and admin")
    return given


Names = Annotated[list[str] | None, BeforeValidator(split_at_commas)]
Dsns = Annotated[list[str] | None, BeforeValidator(dsns)]
Hosts = Annotated[Names, AfterValidator(hosts)]
Origins = Annotated[Names, AfterValidator(origins)]
Origin = Annotated[str | None, AfterValidator(origin)]
Issuer = Annotated[str | None, AfterValidator(issuer)]
RoleNames = Annotated[Names, AfterValidator(role_names)]
Networks = Annotated[str | None, AfterValidator(networks)]
Prices = Annotated[Names, AfterValidator(parse_price)]
Hour = Annotated[time, AfterValidator(in_utc)]
Toolset = Literal[
    "pages", "history", "links", "knowledge", "curation", "chat", "older-names", "default", "all", "output-schemas"
]  # fmt: skip
Toolsets = Annotated[list[Toolset] | None, BeforeValidator(split_at_commas)]
