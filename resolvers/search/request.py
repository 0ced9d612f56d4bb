"""The request of a search, and its result."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from content.search.snippets import Snippet

DEFAULT, MOST, DEEPEST = 20, 50, 200  # hits of one answer, and how far a search can be followed


@dataclass(frozen=True, slots=True)
class Filter:
    """The conditions on a page besides saying the words. Empty: anything goes; no status means active pages only.

    `strict` demotes pages by the share of their sentences that no cited source supports.
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
    """One question. `text` is in the grammar of content.search.search_query; it and `filter` hold together."""

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
    """A page that was found. `matched_alias` says by which name, `section_id` where the snippet stands.

    `cursor` is empty where none was asked for.
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
    """Hits, the best first. When `total` is not exact there are at least so many."""

    hits: tuple[SearchHit, ...] = ()
    has_next_page: bool = False
    did_you_mean: str | None = None
    total: int = 0
    total_is_exact: bool = True
    finds_names: bool = True
    """Whether the best page is called by words of the question."""
    types: tuple[tuple[str, int], ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    understood: Any = None
    """How the wiki understood the question: an Understood of query_cache."""
