"""Mutations that replace or append text of a page, change several pages, or restore an earlier version."""

from typing import Any

import strawberry

from resolvers.model.lookup import PageAddress
from resolvers.pages import batches, edits, history

from ..enums import WikiPageType
from .edit_payloads import WikiEditPayload, WikiPagesPayload, edit_payload, pages_payload
from .payloads import WikiPagePayload, page_payload
from .scoping import InWiki, Request, id_of, optional_id, scope_in


@strawberry.input(description="A page by its id, or else by type and slug in a wiki.")
class WikiPageInWikiInput(InWiki):
    page_id: strawberry.ID | None = strawberry.field(default=None, description="The page.")
    type: WikiPageType | None = strawberry.field(default=None, description="Type of the page. Required with slug.")
    slug: str | None = strawberry.field(default=None, description="Slug of the page, or one of its former slugs.")
    section_slug: str | None = strawberry.field(
        default=None, description="Slug of the section to change. Defaults to the whole page."
    )
    expected_version: int | None = strawberry.field(
        default=None, description="Version that the page must have. Otherwise the change is refused."
    )
    summary: str | None = strawberry.field(default=None, description="Summary of the change for the history.")

    def common(self) -> dict[str, Any]:
        """Return the arguments that all operations on a text have in common."""
        return {
            "section_slug": self.section_slug,
            "expected_version": self.expected_version,
            "summary": self.summary,
        }

    def address(self) -> PageAddress:
        return PageAddress(
            page_id=optional_id(self.page_id),
            type=self.type and self.type.value,
            slug=self.slug,
            in_wiki=self.owner_id is not None,
        )


@strawberry.input(description="Edit of a page: the old text is replaced by the new text.")
class EditWikiPageInput(WikiPageInWikiInput):
    old_text: str = strawberry.field(
        description=(
            "Text to replace. Differences in whitespace are ignored; in two or more lines, a few "
            "words can differ as well."
        )
    )
    new_text: str = strawberry.field(description="Replacement text. An empty string removes the old text.")
    replace_all: bool = strawberry.field(default=False, description="Whether to replace all occurrences.")


@strawberry.input(description="Text to append to a page. A section that does not exist is created.")
class AppendToWikiPageInput(WikiPageInWikiInput):
    text: str = strawberry.field(description="Markdown.")
    as_paragraph: bool = strawberry.field(default=True, description="Whether to insert a blank line before the text.")


@strawberry.input(description="Version of a page to restore.")
class RestoreWikiRevisionInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    version: int = strawberry.field(description="Version whose title, summary, text, tags and metadata to restore.")
    expected_version: int | None = strawberry.field(
        default=None, description="Version that the page must have. Otherwise the change is refused."
    )


@strawberry.type
class EditMutations:
    @strawberry.mutation(description="Replace text on a page.")
    async def edit_wiki_page(self, info: Request, input: EditWikiPageInput) -> WikiEditPayload:
        saving = edits.edit_page(
            info.context.database,
            await scope_in(info, input),
            input.address(),
            old_text=input.old_text,
            new_text=input.new_text,
            replace_all=input.replace_all,
            **input.common(),
        )
        return await edit_payload(saving)

    @strawberry.mutation(description="Append text to a page or to one of its sections.")
    async def append_to_wiki_page(self, info: Request, input: AppendToWikiPageInput) -> WikiEditPayload:
        saving = edits.append_to_page(
            info.context.database,
            await scope_in(info, input),
            input.address(),
            text=input.text,
            as_paragraph=input.as_paragraph,
            **input.common(),
        )
        return await edit_payload(saving)

    @strawberry.mutation(description="Restore an earlier version of a page as a new version.")
    async def restore_wiki_revision(self, info: Request, input: RestoreWikiRevisionInput) -> WikiPagePayload:
        saving = history.restore_state(
            info.context.database,
            info.context.scope,
            id_of(input.page_id),
            input.version,
            expected_version=input.expected_version,
        )
        return await page_payload(saving)


@strawberry.input(description="Pages, 100 at most.")
class WikiPageIdsInput:
    page_ids: list[strawberry.ID] = strawberry.field(description="The pages.")


@strawberry.input(description="Tags to add to pages or to remove from them, 100 pages at most.")
class TagWikiPagesInput(WikiPageIdsInput):
    add: list[str] = strawberry.field(default_factory=list, description="Tags to add.")
    remove: list[str] = strawberry.field(default_factory=list, description="Tags to remove.")


@strawberry.type
class BatchMutations:
    @strawberry.mutation(description="Archive pages, each in its own transaction.")
    async def archive_wiki_pages(self, info: Request, input: WikiPageIdsInput) -> WikiPagesPayload:
        ids = [id_of(page_id) for page_id in input.page_ids]
        return await pages_payload(batches.archive_pages(info.context.database, info.context.scope, ids))

    @strawberry.mutation(description="Unarchive pages, each in its own transaction.")
    async def unarchive_wiki_pages(self, info: Request, input: WikiPageIdsInput) -> WikiPagesPayload:
        ids = [id_of(page_id) for page_id in input.page_ids]
        return await pages_payload(batches.unarchive_pages(info.context.database, info.context.scope, ids))

    @strawberry.mutation(description="Add and remove tags of pages, each page in its own transaction.")
    async def tag_wiki_pages(self, info: Request, input: TagWikiPagesInput) -> WikiPagesPayload:
        ids = [id_of(page_id) for page_id in input.page_ids]
        saving = batches.tag_pages(info.context.database, info.context.scope, ids, add=input.add, remove=input.remove)
        return await pages_payload(saving)
