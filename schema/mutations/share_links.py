"""Mutations that create and withdraw share links."""

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


@strawberry.input(description="Page to share by a link.")
class ShareWikiPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    expires_at: datetime | None = strawberry.field(
        default=None, description="Time at which the link expires, within a year. Defaults to 30 days from now."
    )


@strawberry.input(description="Share link to withdraw.")
class WithdrawWikiShareLinkInput:
    share_link_id: strawberry.ID = strawberry.field(description="Id of the link, not the link itself.")


@strawberry.type(description="Payload with the share link.")
class WikiShareLinkPayload:
    link_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    path: str | None = strawberry.field(
        default=None,
        description=(
            "Path of the shared page at this service. Only shareWikiPage returns it, once: it is stored as a hash."
        ),
    )
    changed: bool = strawberry.field(default=False, description="False if the link was already withdrawn.")
    share_link: WikiShareLink | None = source(
        relations.share_links.by_ids,
        "The share link, without the link itself.",
        access=BY_ID,
        step=private_id("link_id"),
    )


@strawberry.type
class ShareLinkMutations:
    @strawberry.mutation(
        description=(
            "Create a share link, with which anybody can read one page without a credential. It is "
            "shown only once, so that an Idempotency-Key is refused. For admins of the wiki."
        )
    )
    async def share_wiki_page(self, info: Request, input: ShareWikiPageInput) -> WikiShareLinkPayload:
        database, scope = info.context.database, info.context.scope
        try:
            issued = await sharing.share_page(database, scope, id_of(input.page_id), expires_at=input.expires_at)
        except BadInput as error:
            return WikiShareLinkPayload(user_errors=[user_error(error)])
        return WikiShareLinkPayload(link_id=issued.id, path=f"/shared/{issued.token}", changed=True)

    @strawberry.mutation(description="Withdraw a share link, effective from the next request. For admins of the wiki.")
    async def withdraw_wiki_share_link(self, info: Request, input: WithdrawWikiShareLinkInput) -> WikiShareLinkPayload:
        link_id = id_of(input.share_link_id)
        changed = await sharing.withdraw_share_link(info.context.database, info.context.scope, link_id)
        return WikiShareLinkPayload(link_id=link_id, changed=changed)
