"""Links between pages."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from db import relations
from db.access import BY_ID

from ..enums import WikiLinkDirection, WikiLinkKind, WikiPageType
from ..fields import Node, PageInfo, column, expression, part, relation, source
from .pages import WikiPage

if TYPE_CHECKING:
    from .sections import WikiSection

links = relations.links


@strawberry.type(description="A directed link; the same two pages may have one of each kind.")
class WikiLink(Node):
    kind: WikiLinkKind = column("What it says.")
    reasons: list[str] = column("Everything it was asserted for: it lasts as long as one of them does.")
    text: str | None = expression(
        links.text,
        "What the text of the page shows for it, as it is written, 500 characters at most. Null where the text "
        "does not have it, or was saved before this was kept.",
    )
    created_at: datetime = column("When it was first asserted.")
    sections: list[Annotated["WikiSection", strawberry.lazy(".sections")]] = relation(
        links.linked_sections,
        "The sections of the page that it starts from whose text has it, in their order. None where no text has it, or "
        "that was saved before this was kept and no worker has looked at it since.",
        limit=10,
        most=50,
        per_row=10,
    )
    from_page: WikiPage = relation(links.from_page, "Where it starts.")
    to_page: WikiPage = relation(links.to_page, "Where it leads.")


@strawberry.type(description="What a page points at, in its text or in the header of the file that it came from.")
class WikiLinkTarget:
    target: str = column("As the page names it.")
    relation: str = column("Where it is named: in the `text`, or as `related` or `parent` in the header of its file.")
    space: str | None = column("The shared space it names, if it does.")
    type: WikiPageType | None = column("The type it names, if it does.")
    slug: str = column("The slug that would answer to it.")
    text: str | None = column("What the page shows for it; null in a text that was saved before this was kept.")


@strawberry.type(description="A link into another wiki of the tenant: `[[space:name]]`.")
class WikiSpaceLink:
    target: str = column("As the text names it.")
    space: str = column("The slug of the owner whose wiki it names.")
    type: WikiPageType | None = column("The type it names, if it does.")
    slug: str = column("The slug that would answer to it.")
    page: WikiPage | None = relation(
        links.page_in_space,
        "The active page that it means, for those who may read it. A shared wiki has no links into private ones.",
    )


@strawberry.type(description="A page that links here, and how.")
class WikiBacklinkEdge:
    cursor: str = part("The place of the page in this list.")
    node: WikiPage = part("The page that links here.")
    kinds: list[WikiLinkKind] = column("The kinds of its links to here.")
    sections: list[Annotated["WikiSection", strawberry.lazy(".sections")]] = relation(
        links.linking_sections,
        "Its sections whose text links here, in their order. None where no text does, or it was saved before this was "
        "kept and no worker has looked at it since.",
        limit=10,
        most=50,
        per_row=10,
    )


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
        "Active pages that a page links to, each once: the opposite of backlinks, unless `direction` says otherwise.",
        access=BY_ID,
        limit=100,
    )
    def wiki_connected_pages(
        page_id: strawberry.ID, direction: WikiLinkDirection = WikiLinkDirection.OUTGOING
    ) -> list[WikiPage]: ...
