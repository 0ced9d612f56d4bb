"""Other names of pages."""

import strawberry

from resolvers.pages import aliases

from ..payloads import WikiPagePayload, page_payload
from .scoping import Request, id_of


@strawberry.input(description="A name of a page.")
class WikiAliasInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    name: str = strawberry.field(description="The name as people write it; it is compared in its normalised form.")


@strawberry.type
class AliasMutations:
    @strawberry.mutation(description="Let a page answer to another name.")
    async def add_wiki_alias(self, info: Request, input: WikiAliasInput) -> WikiPagePayload:
        saving = aliases.add_alias(info.context.database, info.context.scope, id_of(input.page_id), name=input.name)
        return await page_payload(saving)

    @strawberry.mutation(description="Take a name from a page; its title always names it.")
    async def remove_wiki_alias(self, info: Request, input: WikiAliasInput) -> WikiPagePayload:
        saving = aliases.remove_alias(info.context.database, info.context.scope, id_of(input.page_id), name=input.name)
        return await page_payload(saving)
