"""Mutations of single sections. Each change makes a new version of the page."""

import strawberry

from resolvers.model.pages import Saved
from resolvers.pages import sections

from .payloads import WikiPagePayload, page_payload
from .scoping import Request, id_of, non_null


@strawberry.input(description="A section of a page.")
class WikiSectionOfPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    section_slug: str = strawberry.field(description="Slug of the section.")
    expected_version: int | None = strawberry.field(
        default=None, description="Version that the page must have. Otherwise the change is refused."
    )
    edit_summary: str | None = strawberry.field(default=None, description="Summary of the change for the history.")


@strawberry.input(description="New text or heading of a section. A section that does not exist is added at the end.")
class PatchWikiSectionInput(WikiSectionOfPageInput):
    body_md: strawberry.Maybe[str | None] = strawberry.field(description="The new text, without the heading.")
    heading: strawberry.Maybe[str | None] = strawberry.field(description="The new heading.")


@strawberry.input(description="Section to remove.")
class RemoveWikiSectionInput(WikiSectionOfPageInput):
    pass


@strawberry.input(description="New position of a section.")
class MoveWikiSectionInput(WikiSectionOfPageInput):
    position: int = strawberry.field(description="Position among the sections of the page, from 0.")


@strawberry.type
class SectionMutations:
    @strawberry.mutation(description="Update one section of a page.")
    async def patch_wiki_section(self, info: Request, input: PatchWikiSectionInput) -> WikiPagePayload:
        async def saving() -> Saved:
            return await sections.patch_section(
                info.context.database,
                info.context.scope,
                id_of(input.page_id),
                section_slug=input.section_slug,
                body=non_null(input.body_md, "bodyMd"),
                heading=non_null(input.heading, "heading"),
                expected_version=input.expected_version,
                edit_summary=input.edit_summary,
            )

        return await page_payload(saving())

    @strawberry.mutation(description="Remove a section and its citations from a page.")
    async def remove_wiki_section(self, info: Request, input: RemoveWikiSectionInput) -> WikiPagePayload:
        saving = sections.remove_section(
            info.context.database,
            info.context.scope,
            id_of(input.page_id),
            section_slug=input.section_slug,
            expected_version=input.expected_version,
            edit_summary=input.edit_summary,
        )
        return await page_payload(saving)

    @strawberry.mutation(description="Move a section to another position on its page.")
    async def move_wiki_section(self, info: Request, input: MoveWikiSectionInput) -> WikiPagePayload:
        saving = sections.move_section(
            info.context.database,
            info.context.scope,
            id_of(input.page_id),
            section_slug=input.section_slug,
            position=input.position,
            expected_version=input.expected_version,
            edit_summary=input.edit_summary,
        )
        return await page_payload(saving)
