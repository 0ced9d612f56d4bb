"""Links between pages."""

from datetime import datetime

import strawberry

from db import relations
from db.access import BY_ID

from .connections import PageInfo
from .enums import WikiLinkKind, WikiPageType
from .fields import column, part, relation, source
from .nodes import Node
from .pages import WikiPage

links = relations.links


@strawberry.type(description="A directed link; the same two pages may have one of each kind.")
class WikiLink(Node):
    kind: WikiLinkKind = column("What it says.")
    reasons: list[str] = column("Everything it was asserted for: it lasts as long as one of them does.")
    created_at: datetime = column("When it was first asserted.")
    from_page: WikiPage = relation(links.from_page, "Where it starts.")
    to_page: WikiPage = relation(links.to_page, "Where it leads.")


@strawberry.type(description="What a page's text points at.")
class WikiLinkTarget:
    target: str = column("As the text names it.")
    space: str | None = column("The shared space it names, if it does.")
    type: WikiPageType | None = column("The type it names, if it does.")
    slug: str = column("The slug that would answer to it.")


@strawberry.type(description="A page that links here, and how.")
class WikiBacklinkEdge:
    cursor: str = part("The place of the page in this list.")
    node: WikiPage = part("The page that links here.")
    kinds: list[WikiLinkKind] = column("The kinds of its links to here.")


@strawberry.type(description="The pages that link to one page.")
class WikiBacklinkConnection:
    edges: list[WikiBacklinkEdge] = part("The pages with how they link.")
    nodes: list[WikiPage] = part("The pages alone.")
    page_info: PageInfo = part("Where this page of the list lies.")
    total_count: int = part("How many pages link here; counted only when asked for.")


@strawberry.type
class LinkQueries:
    @source(links.backlinks_of, "Active pages that link to a page, each once.", access=BY_ID, limit=100)
    def wiki_backlinks(page_id: strawberry.ID) -> list[WikiPage]: ...

    @source(
        links.connected_with,
        "Active pages connected with a page in either direction, each once.",
        access=BY_ID,
        limit=100,
    )
    def wiki_connected_pages(page_id: strawberry.ID) -> list[WikiPage]: ...
