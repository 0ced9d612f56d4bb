"""References between pages."""

from collections.abc import Awaitable

import strawberry

from resolvers.links import links
from resolvers.model.pages import Saved

from ..enums import WikiLinkKind
from ..payloads import WikiPagePayload, page_payload
from .scoping import Request, id_of


@strawberry.input(description="That one page refers to another.")
class LinkWikiPagesInput:
    from_page_id: strawberry.ID = strawberry.field(description="Where the link starts.")
    to_page_id: strawberry.ID = strawberry.field(description="Where it leads, in the same wiki.")
    kind: WikiLinkKind = strawberry.field(
        default=WikiLinkKind.REFERENCE, description="References only: hierarchy is set with setWikiParent."
    )
    reason: str = strawberry.field(default="manual", description="Why; a link is kept as long as it has a reason.")


@strawberry.input(description="That one page no longer refers to another.")
class UnlinkWikiPagesInput:
    from_page_id: strawberry.ID = strawberry.field(description="Where the link starts.")
    to_page_id: strawberry.ID = strawberry.field(description="Where it leads.")
    kind: WikiLinkKind = strawberry.field(default=WikiLinkKind.REFERENCE, description="References only.")
    reason: str | None = strawberry.field(
        default=None, description="The reason to take back; all but the text's own when left out."
    )


async def starting_page(saving: Awaitable[links.SavedLink]) -> Saved:
    link = await saving
    return Saved(link.from_page_id, version=0, changed=link.changed)


@strawberry.type
class LinkMutations:
    @strawberry.mutation(description="Link one page to another for a reason. Answers with the page it starts from.")
    async def link_wiki_pages(self, info: Request, input: LinkWikiPagesInput) -> WikiPagePayload:
        saving = links.link_pages(
            info.context.database,
            info.context.scope,
            id_of(input.from_page_id),
            id_of(input.to_page_id),
            kind=input.kind.value,
            reason=input.reason,
        )
        return await page_payload(starting_page(saving))

    @strawberry.mutation(description="Take back a reason of a link; the link goes with its last one.")
    async def unlink_wiki_pages(self, info: Request, input: UnlinkWikiPagesInput) -> WikiPagePayload:
        saving = links.unlink_pages(
            info.context.database,
            info.context.scope,
            id_of(input.from_page_id),
            id_of(input.to_page_id),
            kind=input.kind.value,
            reason=input.reason,
        )
        return await page_payload(starting_page(saving))
