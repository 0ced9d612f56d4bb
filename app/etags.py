"""Validators of answers: a client that has an answer already is told so instead of being sent it again."""

from base64 import urlsafe_b64encode
from hashlib import sha256


def etag(body: bytes) -> str:
    """Strong: the same for the same bytes, and for no others."""
    return f'"{urlsafe_b64encode(sha256(body).digest()[:18]).decode()}"'


def matches(if_none_match: str | None, own: str) -> bool:
    """Compared weakly, as RFC 9110 has it for If-None-Match: the form that a proxy or we compressed is the same."""
    if if_none_match is None:
        return False
    known = [one.strip().removeprefix("W/") for one in if_none_match.split(",")]
    return own in known or known == ["*"]
