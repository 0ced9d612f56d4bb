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


@strawberry.type(description="A directed link. Two pages can have one link of each kind.")
class WikiLink(Node):
    kind: WikiLinkKind = column("Kind of the link.")
    reasons: list[str] = column("Reasons of the link. It exists as long as it has one.")
    text: str | None = expression(
        links.text,
        (
            "Link text as written, 500 characters at most. Null if the text does not contain the "
            "link, or if an old text has not been indexed yet."
        ),
    )
    created_at: datetime = column("Time of the first reason.")
    sections: list[Annotated["WikiSection", strawberry.lazy(".sections")]] = relation(
        links.linked_sections,
        (
            "Sections of the page whose text contains the link, in order. Empty if none does, or if "
            "an old text has not been indexed yet."
        ),
        limit=10,
        max_limit=50,
        per_row=10,
    )
    from_page: WikiPage = relation(links.from_page, "Page with the link.")
    to_page: WikiPage = relation(links.to_page, "Page that the link points to.")


@strawberry.type(
    description="Target of a link that does not resolve to a page, in the text or the frontmatter of an imported file."
)
class WikiLinkTarget:
    target: str = column("Target as written.")
    relation: str = column("Origin of the link: `text`, or the frontmatter field `related` or `parent`.")
    space: str | None = column("Shared space that it names, if any.")
    type: WikiPageType | None = column("Type that it names, if any.")
    slug: str = column("Slug that would resolve it.")
    text: str | None = column("Link text. Null if an old text has not been indexed yet.")


@strawberry.type(description="A link into another wiki of the tenant: `[[space:name]]`.")
class WikiSpaceLink:
    target: str = column("Target as written.")
    space: str = column("Slug of the owner of the other wiki.")
    type: WikiPageType | None = column("Type that it names, if any.")
    slug: str = column("Slug that would resolve it.")
    page: WikiPage | None = relation(
        links.page_in_space,
        "Active page that it resolves to, if the caller can read it. Shared wikis have no links into private ones.",
    )


@strawberry.type(description="A page that links here, with the kinds of its links.")
class WikiBacklinkEdge:
    cursor: str = part("Cursor of the page in this list.")
    node: WikiPage = part("The page that links here.")
    kinds: list[WikiLinkKind] = column("Kinds of its links to this page.")
    sections: list[Annotated["WikiSection", strawberry.lazy(".sections")]] = relation(
        links.linking_sections,
        (
            "Sections of the page whose text links here, in order. Empty if none does, or if an old "
            "text has not been indexed yet."
        ),
        limit=10,
        max_limit=50,
        per_row=10,
    )


@strawberry.type(description="The pages that link to one page.")
class WikiBacklinkConnection:
    edges: list[WikiBacklinkEdge] = part("The pages with their cursors and links.")
    nodes: list[WikiPage] = part("The pages without their cursors.")
    page_info: PageInfo = part("Position of this page in the list.")
    total_count: int = part("Number of pages that link here. It is counted only if it is selected.")


@strawberry.type
class LinkQueries:
    @source(links.backlinks_of, "Active pages that link to a page.", access=BY_ID, limit=100)
    def wiki_backlinks(page_id: strawberry.ID) -> list[WikiPage]: ...

    @source(
        links.connected_with,
        "Active pages that a page links to, or that link to it with another `direction`.",
        access=BY_ID,
        limit=100,
    )
    def wiki_connected_pages(
        page_id: strawberry.ID, direction: WikiLinkDirection = WikiLinkDirection.OUTGOING
    ) -> list[WikiPage]: ...
