"""Parameters that paths share, such as limit and cursor, and the documented statuses of responses."""

from typing import Annotated, Any

from fastapi import Depends, Path, Query

from content.limits import SLUG
from schema.enums import WikiPageType

from ..moments import Moment
from .endpoint import Call, call_of
from .problems import PROBLEM

Caller = Annotated[Call, Depends(call_of)]
Slug = Annotated[
    str, Path(max_length=SLUG.maximum, description="Slug of the page, or a former slug.", examples=["austin-texas"])
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

COMMON_STATUSES = (401, 403, 422, 429, 503, 504)
STATUS_DESCRIPTIONS = {
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
PAGE_STATUSES = (404, 409)
BODY_STATUSES = (400, 408, 409, 413, 415)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problem responses of a path for OpenAPI: those with these statuses and the common ones."""
    content = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    every = sorted({*statuses, *COMMON_STATUSES})
    return {status: {"description": STATUS_DESCRIPTIONS[status], "content": content} for status in every}


def read_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problem responses of a path that reads, and its 304."""
    return {
        304: {"description": "Not modified: the response has the ETag in If-None-Match."},
        **problem_responses(*statuses),
    }


def redirect_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the responses of a path that reads and may redirect, with its 301."""
    return {301: {"description": STATUS_DESCRIPTIONS[301]}, **read_responses(*statuses)}
