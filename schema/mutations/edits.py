"""Edits of a page's text told as old words and new ones, what is appended to it, and an earlier state again."""

from typing import Any

import strawberry

from resolvers.model.lookup import PageAddress
from resolvers.pages import batches, edits, history

from ..enums import WikiPageType
from .edit_payloads import WikiEditPayload, WikiPagesPayload, edit_payload, pages_payload
from .payloads import WikiPagePayload, page_payload
from .scoping import InWiki, Request, id_of, optional_id, scope_in


@strawberry.input(description="A page by its id, or else by type and slug in the wiki that is named.")
class WikiPageInWikiInput(InWiki):
    page_id: strawberry.ID | None = strawberry.field(default=None, description="The page.")
    type: WikiPageType | None = strawberry.field(default=None, description="Its type, together with slug.")
    slug: str | None = strawberry.field(default=None, description="Its slug, or one that it once had.")
    section_slug: str | None = strawberry.field(default=None, description="One of its sections; else the whole text.")
    expected_version: int | None = strawberry.field(default=None, description="Refuse if it has another version.")
    summary: str | None = strawberry.field(default=None, description="What to say of it in the history.")

    def common(self) -> dict[str, Any]:
        """Return what every operation on a text takes besides its own arguments."""
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


@strawberry.input(description="An edit: the new text comes where the old text stands.")
class EditWikiPageInput(WikiPageInWikiInput):
    old_text: str = strawberry.field(
        description="What stands there: whitespace may differ, of two lines or more some words as well."
    )
    new_text: str = strawberry.field(description="Replacement text. An empty string removes the old text.")
    replace_all: bool = strawberry.field(default=False, description="Wherever it stands, not in one place alone.")


@strawberry.input(description="A text to be put behind what is there. A section that is not there yet is added.")
class AppendToWikiPageInput(WikiPageInWikiInput):
    text: str = strawberry.field(description="Markdown.")
    as_paragraph: bool = strawberry.field(default=True, description="After a blank line; else on the next line.")


@strawberry.input(description="An earlier version of a page.")
class RestoreWikiRevisionInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    version: int = strawberry.field(description="The version whose title, summary, text, tags and metadata come again.")
    expected_version: int | None = strawberry.field(default=None, description="Refuse if it has another version.")


@strawberry.type
class EditMutations:
    @strawberry.mutation(description="Replace a stretch of a page's text.")
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

    @strawberry.mutation(description="Put a text behind all that a page, or one of its sections, says.")
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

    @strawberry.mutation(description="Make a new version of a page that says what an earlier one said.")
    async def restore_wiki_revision(self, info: Request, input: RestoreWikiRevisionInput) -> WikiPagePayload:
        saving = history.restore_state(
            info.context.database,
            info.context.scope,
            id_of(input.page_id),
            input.version,
            expected_version=input.expected_version,
        )
        return await page_payload(saving)


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
