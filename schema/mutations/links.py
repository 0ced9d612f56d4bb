"""References between pages."""

from collections.abc import Awaitable

import strawberry

from resolvers.errors import BadInput
from resolvers.links import links
from resolvers.model.pages import Saved

from ..enums import WikiLinkKind
from .payloads import UserError, WikiPagePayload, page_payload, user_error
from .scoping import InWiki, Request, id_of, scope_in


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


@strawberry.input(description="A kind of links that follow from evidence alone, in the caller's own wiki or another.")
class DropWikiLinksInput(InWiki):
    kind: str = strawberry.field(
        description="`deterministic:city:*`, `deterministic:journal:austin-trip`, `deterministic:*`, `co_mention:*`."
    )
    dry_run: bool = strawberry.field(default=False, description="Only say how many there are.")


@strawberry.type(description="Links that lost a reason; in a dry run, that would.")
class WikiLinksPayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    links: int = strawberry.field(default=0, description="How many links lost a reason.")
    deleted: int = strawberry.field(default=0, description="How many of them had no other.")


@strawberry.type
class LinkKindMutations:
    @strawberry.mutation(description="Take back links of a kind that follows from evidence alone; for admins.")
    async def drop_wiki_links(self, info: Request, input: DropWikiLinksInput) -> WikiLinksPayload:
        scope = await scope_in(info, input)
        try:
            done = await links.drop_link_kind(info.context.database, scope, input.kind, dry_run=input.dry_run)
        except BadInput as error:
            return WikiLinksPayload(user_errors=[user_error(error)])
        return WikiLinksPayload(links=done.links, deleted=done.deleted)
