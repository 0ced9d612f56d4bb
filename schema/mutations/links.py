"""Mutations of references between pages."""

from collections.abc import Awaitable

import strawberry

from resolvers.errors import BadInput
from resolvers.links import links
from resolvers.model.pages import Saved

from ..enums import WikiLinkKind
from .payloads import UserError, WikiPagePayload, page_payload, user_error
from .scoping import InWiki, Request, id_of, scope_in


@strawberry.input(description="Link to add from one page to another.")
class LinkWikiPagesInput:
    from_page_id: strawberry.ID = strawberry.field(description="Id of the page with the link.")
    to_page_id: strawberry.ID = strawberry.field(
        description="Id of the page that the link points to, in the same wiki."
    )
    kind: WikiLinkKind = strawberry.field(
        default=WikiLinkKind.REFERENCE,
        description="Kind of the link. Only references are allowed; use setWikiParent for the hierarchy.",
    )
    reason: str = strawberry.field(
        default="manual", description="Reason for the link. A link exists as long as it has a reason."
    )


@strawberry.input(description="Link to remove.")
class UnlinkWikiPagesInput:
    from_page_id: strawberry.ID = strawberry.field(description="Id of the page with the link.")
    to_page_id: strawberry.ID = strawberry.field(description="Id of the page that the link points to.")
    kind: WikiLinkKind = strawberry.field(
        default=WikiLinkKind.REFERENCE, description="Kind of the link. Only references are allowed."
    )
    reason: str | None = strawberry.field(
        default=None, description="Reason to remove. Defaults to all reasons except the text of the page."
    )


async def starting_page(saving: Awaitable[links.SavedLink]) -> Saved:
    link = await saving
    return Saved(link.from_page_id, version=0, changed=link.changed)


@strawberry.type
class LinkMutations:
    @strawberry.mutation(description="Link one page to another for a reason. Returns the page with the link.")
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

    @strawberry.mutation(description="Remove a reason of a link. The link is deleted with its last reason.")
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


@strawberry.input(description="Kind of derived links to delete.")
class DropWikiLinksInput(InWiki):
    kind: str = strawberry.field(
        description=(
            "Kind of links, such as `deterministic:city:*`, `deterministic:journal:austin-trip`, "
            "`deterministic:*` or `co_mention:*`."
        )
    )
    dry_run: bool = strawberry.field(default=False, description="Whether to count the links without deleting them.")


@strawberry.type(description="Payload of deleting derived links. In a dry run, nothing is deleted.")
class WikiLinksPayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    links: int = strawberry.field(default=0, description="Number of links that lost a reason.")
    deleted: int = strawberry.field(default=0, description="Number of links without any other reason.")


@strawberry.type
class LinkKindMutations:
    @strawberry.mutation(description="Delete all links of a kind that was derived from sources. For admins.")
    async def drop_wiki_links(self, info: Request, input: DropWikiLinksInput) -> WikiLinksPayload:
        scope = await scope_in(info, input)
        try:
            done = await links.drop_link_kind(info.context.database, scope, input.kind, dry_run=input.dry_run)
        except BadInput as error:
            return WikiLinksPayload(user_errors=[user_error(error)])
        return WikiLinksPayload(links=done.links, deleted=done.deleted)
