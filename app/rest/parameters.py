"""Parameters that the paths share, such as owner, limit and cursor, and the statuses that they may answer with."""

import re
from typing import Annotated, Any

from fastapi import Depends, Path, Query
from starlette.types import Scope

from content.limits import SLUG
from resolvers.errors import BadInput, CairnError, Conflict
from schema.enums import WikiPageType

from ..http.request import header
from .endpoint import Call, call_of
from .models import Moment
from .problems import PROBLEM

Caller = Annotated[Call, Depends(call_of)]
Slug = Annotated[
    str, Path(max_length=SLUG.most, description="Slug of the page, or a former slug.", examples=["austin-texas"])
]
Type = Annotated[
    WikiPageType | None, Query(description="Type of the page. Required if pages of several types share the slug.")
]
Types = Annotated[list[WikiPageType] | None, Query(alias="type", max_length=20, description="Types of the pages.")]
Tags = Annotated[
    list[Annotated[str, Query(max_length=200)]] | None,
    Query(alias="tag", max_length=50, description="Tags that the pages must all have."),
]
UpdatedSince = Annotated[
    Moment | None,
    Query(
        description=(
            "Only pages changed at or after this time, such as 2026-11-20T10:00:00Z. To keep a copy of "
            "the wiki, use /changes instead."
        )
    ),
]
Archived = Annotated[bool, Query(description="Whether to include archived pages, which are not found otherwise.")]
Limit = Annotated[int, Query(ge=1, le=100, description="Maximum number of items.")]
Cursor = Annotated[
    str | None, Query(max_length=4000, description="`next` of the previous response with the same parameters.")
]

ALWAYS = (401, 403, 422, 429, 503, 504)
SAID = {
    301: "The page was merged into the page at Location.",
    400: "The request is malformed.",
    401: "The credential is missing or invalid.",
    403: "The credential does not allow this request.",
    404: "The resource does not exist, or the caller cannot read it.",
    408: "The request was not received in time.",
    409: (
        "Conflict: the page was changed in the meantime, the text does not occur exactly once, the "
        "slug is ambiguous, or the write needs a review."
    ),
    410: "Gone: the source was forgotten, or the cursor is older than a restored backup.",
    412: "The page does not have the version in If-Match.",
    413: "The request is too large.",
    415: "The media type of the body is not supported, or the body is compressed.",
    422: "The request is invalid.",
    429: "The rate limit is exceeded.",
    503: "The service is temporarily unavailable.",
    504: "The request timed out.",
}
OF_PAGE = (404, 409)
SENT = (400, 408, 409, 413, 415)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the statuses that a path may answer with besides its own."""
    shape = {"schema": {"$ref": "#/components/schemas/Problem"}}
    named = sorted({*statuses, *ALWAYS})
    return {status: {"description": SAID[status], "content": {PROBLEM: shape}} for status in named}


def reading(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return `problems`, and the 304 of what a client may cache."""
    return {304: {"description": "Not modified: the response has the ETag in If-None-Match."}, **problems(*statuses)}


def redirect_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return `reading`, and the 301 of what may be elsewhere."""
    return {301: {"description": SAID[301]}, **reading(*statuses)}


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
    """Return the tag of a page: `"7.Zk…"` of version 7 and the tag of the bytes."""
    return f'"{version}.{digest.strip(chr(34))}"'


def if_match_version(scope: Scope) -> int | None:
    """Return the version that If-Match asks for; None if any will do, or the header is absent.

    Versions only grow: of several that a client has seen, the last is the only one that can be there still.
    """
    given = header(scope, b"if-match")
    if given is None or given.strip() == "*":
        return None
    return max((int(tag[1]) for tag in map(TAG.fullmatch, given.split(",")) if tag), default=NEVER)


class Expected:
    """The version that a write builds upon, by If-Match or by the body."""

    def __init__(self, scope: Scope, given: int | None = None) -> None:
        self.matched = if_match_version(scope)
        if None not in (self.matched, given) and self.matched != given:
            raise BadInput(
                "If-Match and expected_version name different versions; send one of them.", "expectedVersion"
            )
        self.version = given if self.matched is None else self.matched

    def refusal(self, error: Conflict) -> CairnError:
        """The error for a stale version, in the form of this transport."""
        is_stale = error.current_version is not None and self.matched is not None
        return PreconditionFailed(error, is_read=self.matched != NEVER) if is_stale else error
