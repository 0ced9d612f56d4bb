"""Pages under other names: renamed, merged into one, and transferred to another wiki."""

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
    title: strawberry.Maybe[str | None] = strawberry.field(description="A new title; the old one stays an alias.")
    slug: strawberry.Maybe[str | None] = strawberry.field(description="A new slug; the old one keeps resolving.")
    expected_version: int | None = strawberry.field(default=None, description="Refuse if it has another version.")
    summary: str | None = strawberry.field(default=None, description="What to say of it in the history.")


@strawberry.input(description="Pages of one type and wiki that are about one thing.")
class MergeWikiPagesInput:
    from_page_id: strawberry.ID | None = strawberry.field(
        default=None, description="The page that is archived; its slugs lead to the other."
    )
    from_page_ids: list[strawberry.ID] | None = strawberry.field(
        default=None, description="Several such pages, twenty at most, in this order: all of them, or none."
    )
    into_page_id: strawberry.ID = strawberry.field(description="The page that stays.")
    expected_version: int | None = strawberry.field(
        default=None, description="Refuse if the one that stays has another."
    )
    from_expected_version: int | None = strawberry.field(default=None, description="Refuse if the other has another.")


@strawberry.input(description="A page that is given to another wiki of the tenant.")
class TransferWikiPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    to_owner: str = strawberry.field(description="The slug or the id of the owner whose wiki it goes to.")
    expected_version: int | None = strawberry.field(default=None, description="Refuse if it has another version.")


@strawberry.type
class NameMutations:
    @strawberry.mutation(description="Give a page another name, also in the texts of the pages that link to it.")
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
        description="Put one page, or several, into another: texts, names, evidence, links, children and tags."
    )
    async def merge_wiki_pages(self, info: Request, input: MergeWikiPagesInput) -> WikiPagePayload:
        async def saving() -> Saved:
            database, scope, into_id = info.context.database, info.context.scope, id_of(input.into_page_id)
            named = [*(input.from_page_ids or ()), *filter(None, [input.from_page_id])]
            if input.from_page_id is None or len(named) > 1:
                if input.from_expected_version is not None:
                    raise BadInput("fromExpectedVersion is for one page: fromPageId alone.", "fromExpectedVersion")
                ids = [id_of(id) for id in validation.check_count(named, merging.MOST, "fromPageIds")]
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
        description="Give a page to another wiki in which the caller may write as well, with its history, names and "
        "evidence. The payload shows it there, under its new id. Links that cross the wikis name the other one; its "
        "children and its parent stay behind."
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
