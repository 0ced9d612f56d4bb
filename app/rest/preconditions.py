"""The ETags of pages, and the versions that a write requires a page to have, from If-Match or from the body."""

import re
from typing import Any

from starlette.types import Scope

from resolvers.errors import BadInput, CairnError, Conflict

from ..http.request import header

ETAG_PATTERN = re.compile(r'\s*(?:W/)?"(\d{1,10})(?:\.[\w-]*)?"\s*')
NO_VERSION = 0  # no page has this version


class PreconditionFailed(CairnError):
    """The page does not have the version in If-Match. `current_version` is the version to read before a retry."""

    code = "PRECONDITION_FAILED"

    def __init__(self, conflict: Conflict, *, is_read: bool) -> None:
        super().__init__(
            conflict.message if is_read else "If-Match has no tag of this page. Read it, and send its ETag."
        )
        self.current_version = conflict.current_version

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "currentVersion": self.current_version}


def page_tag(version: int, digest: str) -> str:
    """Return the ETag of a page, which consists of its version and the ETag of the body, such as `"7.Zk…"`."""
    return f'"{version}.{digest.strip(chr(34))}"'


def if_match_version(scope: Scope) -> int | None:
    """Return the version in If-Match, or None if the header is absent or `*`.

    Of several versions the highest is returned: versions only grow, so only that one can be current.
    """
    value = header(scope, b"if-match")
    if value is None or value.strip() == "*":
        return None
    return max((int(tag[1]) for tag in map(ETAG_PATTERN.fullmatch, value.split(",")) if tag), default=NO_VERSION)


class Precondition:
    """The version that a page must have for a write, from If-Match or from the body."""

    def __init__(self, scope: Scope, body_version: int | None = None) -> None:
        """Read the versions. Raises BadInput if the header and the body name different versions."""
        self.header_version = if_match_version(scope)
        if None not in (self.header_version, body_version) and self.header_version != body_version:
            raise BadInput(
                "If-Match and expected_version name different versions; send one of them.", "expectedVersion"
            )
        self.version = body_version if self.header_version is None else self.header_version

    def error_for(self, error: Conflict) -> CairnError:
        """Return PreconditionFailed for a conflict with the version in If-Match, and other conflicts unchanged."""
        is_stale = error.current_version is not None and self.header_version is not None
        return PreconditionFailed(error, is_read=self.header_version != NO_VERSION) if is_stale else error
