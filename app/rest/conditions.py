"""Conditional requests: a page's ETag is its version and a digest of what is shown of it.

What a reader has is compared as a whole, because names, links and status change without a new version. What a writer
has seen is compared by its version, like `expected_version`.
"""

import re
from typing import Any

from starlette.types import Scope

from resolvers.errors import BadInput, CairnError, Conflict

from ..request import header

TAG = re.compile(r'\s*(?:W/)?"(\d{1,10})(?:\.[\w-]*)?"\s*')
NEVER = 0  # no page has this version


class PreconditionFailed(CairnError):
    """The page is not the one that If-Match names. `current_version` is what to look at before trying again."""

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
    """`"7.Zk…"` of version 7 and the tag of the bytes."""
    return f'"{version}.{digest.strip(chr(34))}"'


def matched_version(scope: Scope) -> int | None:
    """What If-Match wants the version to be; None where any will do, or nothing is said.

    Versions only grow: of several that a client has seen, the last is the only one that can be there still.
    """
    given = header(scope, b"if-match")
    if given is None or given.strip() == "*":
        return None
    return max((int(tag[1]) for tag in map(TAG.fullmatch, given.split(",")) if tag), default=NEVER)


class Expected:
    """The version that a write builds upon, by If-Match or by the body."""

    def __init__(self, scope: Scope, given: int | None = None) -> None:
        self.matched = matched_version(scope)
        if None not in (self.matched, given) and self.matched != given:
            raise BadInput(
                "If-Match and expected_version name different versions; send one of them.", "expectedVersion"
            )
        self.version = given if self.matched is None else self.matched

    def refusal(self, error: Conflict) -> CairnError:
        """A stale version by the door that it came through."""
        is_stale = error.current_version is not None and self.matched is not None
        return PreconditionFailed(error, is_read=self.matched != NEVER) if is_stale else error
