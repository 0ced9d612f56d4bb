"""The same change to many pages at once."""

import strawberry

from resolvers.pages import batches

from ..edit_payloads import WikiPagesPayload, pages_payload
from .scoping import Request, id_of


@strawberry.input(description="Pages, a hundred at most.")
class WikiPageIdsInput:
    page_ids: list[strawberry.ID] = strawberry.field(description="The pages.")


@strawberry.input(description="Tags for pages, a hundred at most.")
class TagWikiPagesInput(WikiPageIdsInput):
    add: list[str] = strawberry.field(default_factory=list, description="Tags that each of them shall have.")
    remove: list[str] = strawberry.field(default_factory=list, description="Tags that none of them shall have.")


@strawberry.type
class BatchMutations:
    @strawberry.mutation(description="Put pages away, each by itself.")
    async def archive_wiki_pages(self, info: Request, input: WikiPageIdsInput) -> WikiPagesPayload:
        ids = [id_of(one) for one in input.page_ids]
        return await pages_payload(batches.archive_pages(info.context.database, info.context.scope, ids))

    @strawberry.mutation(description="Bring archived pages back, each by itself.")
    async def unarchive_wiki_pages(self, info: Request, input: WikiPageIdsInput) -> WikiPagesPayload:
        ids = [id_of(one) for one in input.page_ids]
        return await pages_payload(batches.unarchive_pages(info.context.database, info.context.scope, ids))

    @strawberry.mutation(description="Put tags on pages and take others off, each page by itself.")
    async def tag_wiki_pages(self, info: Request, input: TagWikiPagesInput) -> WikiPagesPayload:
        ids = [id_of(one) for one in input.page_ids]
        saving = batches.tag_pages(info.context.database, info.context.scope, ids, add=input.add, remove=input.remove)
        return await pages_payload(saving)
