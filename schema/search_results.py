"""The results of a search as a whole: a page of them, and what all of them are like."""

import strawberry

from db import relations

from .connections import PageInfo
from .enums import WikiPageType
from .fields import column, relation, whole
from .pages import WikiPage
from .search_hits import WikiSearchEdge

search = relations.search


@strawberry.type(description="How many of the found pages are of one type.")
class WikiTypeCount:
    value: WikiPageType = column("The type, as `types` of a filter takes it.")
    count: int = column("How many.")


@strawberry.type(description="How many of the found pages have one tag.")
class WikiTagCount:
    value: str = column("The tag, as `tags` of a filter takes it.")
    count: int = column("How many.")


@strawberry.type(description="What the found pages are like, for narrowing a search.")
class WikiSearchFacets:
    types: list[WikiTypeCount] = whole(search.counts("types"), "By type, the most first.")
    tags: list[WikiTagCount] = whole(search.counts("tags"), "By tag, the most first.")


@strawberry.type(description="Some of what a search found, the best first: walked forward, with `first` and `after`.")
class WikiSearchConnection:
    edges: list[WikiSearchEdge] = whole(search.edges, "The found pages with their cursors, scores and snippets.")
    nodes: list[WikiPage] = whole(search.nodes, "The found pages alone.")
    page_info: PageInfo = relation(search.page_info, "Where this page of results lies.")
    total_count: int = column("How many pages are found in all, or at least so many; counted only when asked for.")
    total_is_exact: bool = column("Is totalCount the number, or are there at least so many?")
    facets: WikiSearchFacets = relation(search.facets, "What the found pages are like; counted only when asked for.")
    did_you_mean: str | None = column("What was searched for instead, when a word had to be corrected.")
