"""Mutations that rename pages, merge them, change their aliases, or transfer them to another wiki."""

import strawberry

from resolvers import validation
from resolvers.errors import BadInput
from resolvers.model.pages import Saved
from resolvers.pages import aliases, merging, renaming, transferring

from .edit_payloads import WikiRenamePayload, rename_payload
from .payloads import WikiPagePayload, page_payload
from .scoping import Request, id_of, non_null


@strawberry.input(description="A page's new title, new slug, or both.")
class RenameWikiPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    title: strawberry.Maybe[str | None] = strawberry.field(description="New title. The old one becomes an alias.")
    slug: strawberry.Maybe[str | None] = strawberry.field(
        description="New slug. The old one still resolves to the page."
    )
    expected_version: int | None = strawberry.field(
        default=None, description="Version that the page must have. Otherwise the change is refused."
    )
    summary: str | None = strawberry.field(default=None, description="Summary of the change for the history.")


@strawberry.input(description="Pages to merge. They must be in the same wiki; the remaining page keeps its type.")
class MergeWikiPagesInput:
    from_page_id: strawberry.ID | None = strawberry.field(
        default=None,
        description="Id of the page to merge. It is archived, and its slugs resolve to the remaining page.",
    )
    from_page_ids: list[strawberry.ID] | None = strawberry.field(
        default=None,
        description="Ids of several pages to merge, in this order, 20 at most. All of them are merged, or none.",
    )
    into_page_id: strawberry.ID = strawberry.field(description="Id of the remaining page.")
    expected_version: int | None = strawberry.field(
        default=None, description="Version that the remaining page must have. Otherwise the merge is refused."
    )
    from_expected_version: int | None = strawberry.field(
        default=None, description="Version that the merged page must have. Otherwise the merge is refused."
    )


@strawberry.input(description="Page to move to another wiki of the tenant.")
class TransferWikiPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    to_owner: str = strawberry.field(description="Slug or id of the new owner.")
    expected_version: int | None = strawberry.field(
        default=None, description="Version that the page must have. Otherwise the change is refused."
    )


@strawberry.type
class NameMutations:
    @strawberry.mutation(description="Rename a page and update the links to it on other pages.")
    async def rename_wiki_page(self, info: Request, input: RenameWikiPageInput) -> WikiRenamePayload:
        async def saving() -> renaming.Renamed:
            return await renaming.rename_page(
                info.context.database,
                info.context.scope,
                id_of(input.page_id),
                title=non_null(input.title, "title"),
                slug=non_null(input.slug, "slug"),
                expected_version=input.expected_version,
                summary=input.summary,
            )

        return await rename_payload(saving())

    @strawberry.mutation(
        description="Merge one or more pages into another: texts, aliases, citations, links, children and tags."
    )
    async def merge_wiki_pages(self, info: Request, input: MergeWikiPagesInput) -> WikiPagePayload:
        async def saving() -> Saved:
            database, scope, into_id = info.context.database, info.context.scope, id_of(input.into_page_id)
            named = [*(input.from_page_ids or ()), *filter(None, [input.from_page_id])]
            if input.from_page_id is None or len(named) > 1:
                if input.from_expected_version is not None:
                    raise BadInput("fromExpectedVersion is for one page: fromPageId alone.", "fromExpectedVersion")
                ids = [id_of(id) for id in validation.check_count(named, merging.MAX_MERGED, "fromPageIds")]
                return await merging.merge_many(database, scope, ids, into_id, expected_version=input.expected_version)
            return await merging.merge_pages(
                database,
                scope,
                id_of(input.from_page_id),
                into_id,
                expected_version=input.expected_version,
                from_expected_version=input.from_expected_version,
            )

        return await page_payload(saving())

    @strawberry.mutation(
        description=(
            "Move a page to another wiki in which the caller can write, with its history, aliases and "
            "sources. The payload has its new id. Links across the two wikis name the other wiki; "
            "parent and children are not moved."
        )
    )
    async def transfer_wiki_page(self, info: Request, input: TransferWikiPageInput) -> WikiPagePayload:
        return await page_payload(
            transferring.transfer_page(
                info.context.database,
                info.context.scope,
                id_of(input.page_id),
                input.to_owner,
                expected_version=input.expected_version,
            )
        )


@strawberry.input(description="Alias of a page.")
class WikiAliasInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    name: str = strawberry.field(description="Name as people write it. Its normalized form is used for matching.")


@strawberry.type
class AliasMutations:
    @strawberry.mutation(description="Add an alias to a page.")
    async def add_wiki_alias(self, info: Request, input: WikiAliasInput) -> WikiPagePayload:
        saving = aliases.add_alias(info.context.database, info.context.scope, id_of(input.page_id), name=input.name)
        return await page_payload(saving)

    @strawberry.mutation(description="Remove an alias from a page. The title cannot be removed.")
    async def remove_wiki_alias(self, info: Request, input: WikiAliasInput) -> WikiPagePayload:
        saving = aliases.remove_alias(info.context.database, info.context.scope, id_of(input.page_id), name=input.name)
        return await page_payload(saving)
