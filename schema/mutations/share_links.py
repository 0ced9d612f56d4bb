"""Share links that are made and withdrawn."""

from datetime import datetime
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput
from resolvers.pages import sharing

from ..fields import source
from ..pages.share_links import WikiShareLink
from .payloads import UserError, private_id, user_error
from .scoping import Request, id_of


@strawberry.input(description="A page that is to be read by whoever has a link.")
class ShareWikiPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    expires_at: datetime | None = strawberry.field(
        default=None, description="When the link ends by itself, within a year; after 30 days when left out."
    )


@strawberry.input(description="A share link that is to end.")
class WithdrawWikiShareLinkInput:
    share_link_id: strawberry.ID = strawberry.field(description="The id of the link, not the link.")


@strawberry.type(description="A share link after it was made or withdrawn.")
class WikiShareLinkPayload:
    link_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    path: str | None = strawberry.field(
        default=None,
        description="Where the page is read at this service, from shareWikiPage alone and this once: it is stored as "
        "a hash and cannot be shown again.",
    )
    changed: bool = strawberry.field(default=False, description="False when the link was withdrawn before.")
    share_link: WikiShareLink | None = source(
        relations.share_links.by_ids, "What may be known of it.", access=BY_ID, step=private_id("link_id")
    )


@strawberry.type
class ShareLinkMutations:
    @strawberry.mutation(
        description="Make a link by which one page, and nothing else, is read without a credential; for admins of the "
        "wiki. An Idempotency-Key is refused, because the answer would be stored."
    )
    async def share_wiki_page(self, info: Request, input: ShareWikiPageInput) -> WikiShareLinkPayload:
        database, scope = info.context.database, info.context.scope
        try:
            issued = await sharing.share_page(database, scope, id_of(input.page_id), expires_at=input.expires_at)
        except BadInput as error:
            return WikiShareLinkPayload(user_errors=[user_error(error)])
        return WikiShareLinkPayload(link_id=issued.id, path=f"/shared/{issued.token}", changed=True)

    @strawberry.mutation(description="End a share link from the next request on; for admins of the wiki.")
    async def withdraw_wiki_share_link(self, info: Request, input: WithdrawWikiShareLinkInput) -> WikiShareLinkPayload:
        link_id = id_of(input.share_link_id)
        changed = await sharing.withdraw_share_link(info.context.database, info.context.scope, link_id)
        return WikiShareLinkPayload(link_id=link_id, changed=changed)
