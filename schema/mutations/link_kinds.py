"""Links that follow from evidence, taken back by their kind."""

import strawberry

from resolvers.errors import BadInput
from resolvers.links import kinds

from ..payloads import UserError, user_error
from .scoping import InWiki, Request, scope_in


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
            done = await kinds.drop_link_kind(info.context.database, scope, input.kind, dry_run=input.dry_run)
        except BadInput as error:
            return WikiLinksPayload(user_errors=[user_error(error)])
        return WikiLinksPayload(links=done.links, deleted=done.deleted)
