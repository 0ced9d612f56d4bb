"""The name of a document in a request: `documentId`, or the extension `persistedQuery` of Apollo's clients."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from resolvers.errors import BadInput

SYNTAX = re.compile(r"[A-Za-z0-9._~:-]{1,255}")
SHA256 = "sha256:"
HEX_SHA256 = re.compile(r"[0-9a-f]{64}")


class Name(NamedTuple):
    """An id without its prefix. `automatic` ones are hashes under which a client may register a text."""

    id: str
    automatic: bool


def name_of(given: Mapping[str, Any]) -> Name | None:
    """Return the name that the request gives for its document, or None."""
    if given.get("documentId") is not None:
        return Name(plain_id(given["documentId"]), automatic=False)
    extension = (given.get("extensions") or {}).get("persistedQuery")
    return None if extension is None else Name(registered_hash(extension), automatic=True)


def plain_id(given: Any) -> str:
    if not isinstance(given, str) or not SYNTAX.fullmatch(given):
        raise BadInput("An id is 1 to 255 letters, digits and - . _ ~ : and may begin with sha256:", "documentId")
    return given.removeprefix(SHA256)


def registered_hash(extension: Any) -> str:
    if isinstance(extension, dict) and extension.get("version") == 1:
        digest = extension.get("sha256Hash")
        if isinstance(digest, str) and HEX_SHA256.fullmatch(digest.lower()):
            return digest.lower()
    raise BadInput('This must be {"version": 1, "sha256Hash": "64 hex digits"}.', "extensions.persistedQuery")
