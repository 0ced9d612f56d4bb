"""Share links, with which anybody can read a page without a credential."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiAuthorKind
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from .pages import WikiPage

share_links = relations.share_links


@strawberry.type(
    description="A link with which anybody can read one page without a credential. The link itself is shown only once."
)
class WikiShareLink:
    id: strawberry.ID = column("Id of the link. It is not secret.")
    page: WikiPage | None = relation(share_links.page, "Page that the link shows.")
    is_open: bool = expression(share_links.is_open, "Whether the link works now.")
    author_kind: WikiAuthorKind = column("Kind of author.")
    author_id: str = column("Id of the author, as the credential names it.")
    author_name: str = expression(share_links.author_name, "The author's display name.")
    created_at: datetime = column("Time of creation.")
    expires_at: datetime = column("Time at which it expires.")
    withdrawn_at: datetime | None = column("Time of the withdrawal.")


@strawberry.type
class ShareLinkQueries:
    @source(
        share_links.listed,
        (
            "The share links of a wiki or of one of its pages, newest first, including expired ones. "
            "Requires write access."
        ),
    )
    def wiki_share_links(
        page_id: strawberry.ID | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiShareLink]: ...
