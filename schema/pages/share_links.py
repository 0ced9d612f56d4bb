"""Share links: pages that are read without a credential by whoever has the link."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiAuthorKind
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from .pages import WikiPage

share_links = relations.share_links


@strawberry.type(description="A link by which one page is read without a credential. The link itself is shown once.")
class WikiShareLink:
    id: strawberry.ID = column("Of the link; it is no secret.")
    page: WikiPage | None = relation(share_links.page, "The page that it leads to.")
    is_open: bool = expression(share_links.is_open, "Does it lead there now?")
    author_kind: WikiAuthorKind = column("Who made it.")
    author_id: str = column("The author as the credential named it.")
    author_name: str = expression(share_links.author_name, "The author's display name.")
    created_at: datetime = column("When it was made.")
    expires_at: datetime = column("When it ends by itself.")
    withdrawn_at: datetime | None = column("When it was withdrawn.")


@strawberry.type
class ShareLinkQueries:
    @source(
        share_links.listed,
        "The share links of a wiki or of one of its pages, the newest first, ended ones too; for those who may write.",
    )
    def wiki_share_links(
        page_id: strawberry.ID | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiShareLink]: ...
