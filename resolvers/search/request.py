"""The request and the result of a search of pages."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from content.search.snippets import Snippet

DEFAULT, MAX_HITS = 20, 50  # hits of one result: by default, and at most
DEEPEST = 200  # hits that a client can read of one search by its cursors


@dataclass(frozen=True, slots=True)
class Filter:
    """The conditions that a page must satisfy besides having the words.

    An empty field is no condition, except that without `statuses` only active pages are found. `strict` demotes pages
    by the share of their sentences that no cited source supports.
    """

    types: tuple[str, ...] = ()
    excluded_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    excluded_tags: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    title_only: bool = False
    strict: bool = False


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search of pages that satisfy `text`, in the grammar of content.search.search_query, and `filter`."""

    text: str
    first: int = DEFAULT
    after: str | None = None
    filter: Filter = Filter()
    owner_id: UUID | None = None
    with_snippets: bool = False
    with_counts: bool = False
    explained: bool = False
    with_cursors: bool = True


class SearchHit(NamedTuple):
    """A page that was found. `matched_alias` is the name that matched, and `section_id` the section of the snippet.

    `cursor` is empty if the request did not ask for cursors.
    """

    page_id: UUID
    score: float
    cursor: str
    matched_alias: str | None = None
    section_id: UUID | None = None
    snippet: Snippet | None = None
    explanation: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a search, the best first. If `total` is not exact, it is a lower bound."""

    hits: tuple[SearchHit, ...] = ()
    has_next_page: bool = False
    did_you_mean: str | None = None
    total: int = 0
    total_is_exact: bool = True
    finds_names: bool = True
    """Whether words of the query are a name of the best page."""
    types: tuple[tuple[str, int], ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    prepared: Any = None
    """The interpreted query: a PreparedQuery of query_cache."""
