"""Mutations that create, update, place, archive and delete pages."""

from datetime import datetime
from enum import Enum
from typing import Any, cast

import strawberry
from strawberry.scalars import JSON

from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.model.page_fields import NAMES
from resolvers.model.pages import Saved
from resolvers.pages import hierarchy, lifecycle, upsert
from resolvers.pages.stubs import stub_draft, write_stub

from ..enums import WikiConfidence, WikiPageStatus, WikiPageType, WikiSensitivity
from .payloads import UserError, WikiDeletionPayload, WikiPagePayload, WikiScopePayload, page_payload, user_error
from .scoping import InWiki, Request, id_of, non_null, nullable, optional_id, scope_in


@strawberry.input(description="Section of a page. Without a slug it is identified by its heading.")
class WikiSectionInput:
    body_md: str = strawberry.field(description="Text in Markdown, without the heading.")
    section_slug: str | None = strawberry.field(default=None, description="Slug of the section.")
    heading: str | None = strawberry.field(default=None, description="Heading. Defaults to one made from the slug.")

    def draft(self) -> SectionDraft:
        return SectionDraft(body=self.body_md, slug=self.section_slug, heading=self.heading)


@strawberry.input(description="Page to create. Give the whole body, or sections, or neither.")
class CreateWikiPageInput(InWiki):
    type: WikiPageType = strawberry.field(description="Type of the page. It cannot be changed later.")
    title: str = strawberry.field(description="Title of the page, 500 characters at most.")
    slug: str | None = strawberry.field(
        default=None, description="Slug of the page. Defaults to one made from the title."
    )
    summary: str | None = strawberry.field(default=None, description="One-line summary.")
    body_md: str | None = strawberry.field(
        default=None, description="Text of the whole page in Markdown. `## ` headings start sections."
    )
    sections: list[WikiSectionInput] | None = strawberry.field(
        default=None, description="Sections of the page, in order."
    )
    aliases: list[str] | None = strawberry.field(default=None, description="Aliases of the page.")
    tags: list[str] | None = strawberry.field(default=None, description="Tags of the page.")
    parent_id: strawberry.ID | None = strawberry.field(default=None, description="Id of the parent page.")
    metadata: JSON | None = strawberry.field(
        default=None, description="Metadata as an object that is stored unchanged."
    )
    sensitivity: WikiSensitivity | None = strawberry.field(
        default=None, description="Sensitivity of the page. It cannot exceed what the caller can read."
    )
    stated_confidence: WikiConfidence | None = strawberry.field(
        default=None, description="Confidence as stated by the author."
    )
    expires_at: datetime | None = strawberry.field(default=None, description="Time from which the page is out of date.")
    owner_role: str | None = strawberry.field(default=None, description="Role that is responsible for the page.")
    supersedes: list[str] | None = strawberry.field(
        default=None, description="Pages that this page replaces: slugs, or type/slug if several types share a slug."
    )
    contradicts: list[str] | None = strawberry.field(
        default=None, description="Pages that this page contradicts, named in the same way."
    )
    related: list[str] | None = strawberry.field(
        default=None, description="Related pages to link to in addition to links of the text, named in the same way."
    )
    edit_summary: str | None = strawberry.field(default=None, description="Summary of the change for the history.")

    def fields(self) -> dict[str, Any]:
        """Return the fields that have a value, by their names in the resolver."""
        values = {name: getattr(self, name) for name in NAMES}
        return {name: plain(value) for name, value in values.items() if value is not None}

    def draft(self, **more: Any) -> PageDraft:
        return PageDraft(
            type=self.type.value,
            title=self.title,
            slug=self.slug,
            summary=self.summary,
            body=self.body_md,
            sections=None if self.sections is None else [section.draft() for section in self.sections],
            aliases=self.aliases or (),
            tags=self.tags,
            parent_id=optional_id(self.parent_id),
            metadata=cast(Any, self.metadata),
            fields=self.fields(),
            related=self.related or (),
            edit_summary=self.edit_summary,
            **more,
        )


@strawberry.input(description="Stub to create: a page of a new subject, and the source of its text.")
class CreateWikiStubInput(InWiki):
    type: WikiPageType = strawberry.field(description="Type of the page. It cannot be changed later.")
    title: str = strawberry.field(description="Title of the page, 500 characters at most.")
    text: str = strawberry.field(default="", description="Text of the first section of the type, in Markdown.")
    why: str | None = strawberry.field(default=None, description="Text of the section Why. Required for a concept.")
    how_to_apply: str | None = strawberry.field(
        default=None, description="Text of the section How to apply. Required for a concept."
    )
    source: str | None = strawberry.field(
        default=None, description="Source of the text: kind/ref, such as daily_note/2026-03-02, or an id."
    )
    edit_summary: str | None = strawberry.field(default=None, description="Summary of the change for the history.")

    def draft(self) -> PageDraft:
        return stub_draft(
            self.type.value,
            self.title,
            self.text,
            why=self.why,
            how_to_apply=self.how_to_apply,
            edit_summary=self.edit_summary,
        )


@strawberry.input(description="Page to create or update, by type and slug. Omitted fields are unchanged.")
class UpsertWikiPageInput(CreateWikiPageInput):
    status: WikiPageStatus | None = strawberry.field(
        default=None, description="Status of the page. Unchanged by default."
    )
    mark_compiled: bool = strawberry.field(
        default=False, description="Whether to unarchive the page and set lastCompiledAt."
    )
    expected_version: int | None = strawberry.field(
        default=None, description="Version that the page must have. Otherwise the change is refused."
    )


@strawberry.input(description="Changes of a page. Omitted fields are unchanged; null clears a nullable field.")
class UpdateWikiPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    type: WikiPageType | None = strawberry.field(
        default=None, description="Present type of the page. Another one is refused, because a type cannot be changed."
    )
    title: strawberry.Maybe[str | None] = strawberry.field(description="New title. The old one becomes an alias.")
    slug: strawberry.Maybe[str | None] = strawberry.field(
        description="New slug. The old one still resolves to the page."
    )
    summary: strawberry.Maybe[str | None] = strawberry.field(description="New summary, or null for none.")
    body_md: strawberry.Maybe[str | None] = strawberry.field(description="New text of the whole page.")
    tags: strawberry.Maybe[list[str] | None] = strawberry.field(
        description="Tags that replace the present tags, or null for none."
    )
    metadata: strawberry.Maybe[JSON | None] = strawberry.field(
        description="Metadata that replaces the present metadata, or null for none."
    )
    sensitivity: strawberry.Maybe[WikiSensitivity | None] = strawberry.field(
        description="Sensitivity of the page. It cannot exceed what the caller can read."
    )
    stated_confidence: strawberry.Maybe[WikiConfidence | None] = strawberry.field(
        description="Confidence as stated by the author."
    )
    expires_at: strawberry.Maybe[datetime | None] = strawberry.field(
        description="Time from which the page is out of date."
    )
    owner_role: strawberry.Maybe[str | None] = strawberry.field(description="Role that is responsible for the page.")
    supersedes: strawberry.Maybe[list[str] | None] = strawberry.field(
        description="All pages that this page replaces: slugs, or type/slug if several types share a slug."
    )
    contradicts: strawberry.Maybe[list[str] | None] = strawberry.field(
        description="All pages that this page contradicts, named in the same way."
    )
    related: strawberry.Maybe[list[str] | None] = strawberry.field(
        description="All related pages in addition to those that the text links to, named in the same way."
    )
    expected_version: int | None = strawberry.field(
        default=None, description="Version that the page must have. Otherwise the change is refused."
    )
    edit_summary: str | None = strawberry.field(default=None, description="Summary of the change for the history.")


@strawberry.input(description="A page.")
class WikiPageIdInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")


@strawberry.input(description="Parent of a page.")
class SetWikiParentInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    parent_id: strawberry.ID | None = strawberry.field(
        default=None, description="Id of the parent page, or null for none."
    )


@strawberry.input(description="Wiki whose pages to archive.")
class ArchiveWikiScopeInput(InWiki):
    pass


def changes(input: UpdateWikiPageInput) -> dict[str, Any]:
    """Return the values of an update by their names in the resolver. An omitted one is UNSET."""
    return {
        "title": non_null(input.title, "title"),
        "slug": non_null(input.slug, "slug"),
        "summary": nullable(input.summary, None),
        "body": non_null(input.body_md, "bodyMd"),
        "tags": nullable(input.tags, []),
        "metadata": nullable(input.metadata, {}),
        "related": nullable(input.related, []),
        "fields": {name: plain(field.value) for name in NAMES if (field := getattr(input, name)) is not None},
    }


def plain(value: Any) -> Any:
    """Return the value of a member of an enum, or any other value unchanged."""
    return value.value if isinstance(value, Enum) else value


@strawberry.type
class PageMutations:
    @strawberry.mutation(description="Create a page.")
    async def create_wiki_page(self, info: Request, input: CreateWikiPageInput) -> WikiPagePayload:
        return await page_payload(
            lifecycle.create_page(info.context.database, await scope_in(info, input), input.draft())
        )

    @strawberry.mutation(
        description=(
            "Create a page with the sections of its type and one source. Fails with the code "
            "PAGE_EXISTS if a page of this type and name exists."
        )
    )
    async def create_wiki_stub(self, info: Request, input: CreateWikiStubInput) -> WikiPagePayload:
        async def saving() -> Saved:
            return await write_stub(info.context.database, await scope_in(info, input), input.draft(), input.source)

        try:
            return await page_payload(saving())
        except lifecycle.PageExists as error:
            title_error = UserError(message=error.message, code=error.code, field=["title"])
            return WikiPagePayload(user_errors=[title_error])

    @strawberry.mutation(description="Create a page, or update the page with this type and slug.")
    async def upsert_wiki_page(self, info: Request, input: UpsertWikiPageInput) -> WikiPagePayload:
        saving = upsert.upsert_page(
            info.context.database,
            await scope_in(info, input),
            input.draft(status=input.status and input.status.value),
            mark_compiled=input.mark_compiled,
            expected_version=input.expected_version,
        )
        return await page_payload(saving)

    @strawberry.mutation(description="Update a page.")
    async def update_wiki_page(self, info: Request, input: UpdateWikiPageInput) -> WikiPagePayload:
        async def saving() -> Saved:
            return await lifecycle.update_page(
                info.context.database,
                info.context.scope,
                id_of(input.page_id),
                type=input.type and input.type.value,
                expected_version=input.expected_version,
                edit_summary=input.edit_summary,
                **changes(input),
            )

        return await page_payload(saving())

    @strawberry.mutation(description="Set or clear the parent of a page.")
    async def set_wiki_parent(self, info: Request, input: SetWikiParentInput) -> WikiPagePayload:
        saving = hierarchy.set_parent(
            info.context.database, info.context.scope, id_of(input.page_id), parent_id=optional_id(input.parent_id)
        )
        return await page_payload(saving)

    @strawberry.mutation(
        description="Archive a page with its sections, aliases and links. unarchiveWikiPage restores it."
    )
    async def archive_wiki_page(self, info: Request, input: WikiPageIdInput) -> WikiPagePayload:
        return await page_payload(
            lifecycle.archive_page(info.context.database, info.context.scope, id_of(input.page_id))
        )

    @strawberry.mutation(description="Unarchive a page.")
    async def unarchive_wiki_page(self, info: Request, input: WikiPageIdInput) -> WikiPagePayload:
        return await page_payload(
            lifecycle.unarchive_page(info.context.database, info.context.scope, id_of(input.page_id))
        )

    @strawberry.mutation(description="Archive all pages of a wiki. For its admins.")
    async def archive_wiki_scope(self, info: Request, input: ArchiveWikiScopeInput) -> WikiScopePayload:
        try:
            archived = await lifecycle.archive_scope(info.context.database, await scope_in(info, input))
        except BadInput as error:
            return WikiScopePayload(user_errors=[user_error(error)])
        return WikiScopePayload(pages_archived=archived)

    @strawberry.mutation(
        description=(
            "Delete a page permanently, with its sections, aliases, links and history. For admins of the wiki."
        )
    )
    async def delete_wiki_page(self, info: Request, input: WikiPageIdInput) -> WikiDeletionPayload:
        deleted = await lifecycle.delete_page(info.context.database, info.context.scope, id_of(input.page_id))
        return WikiDeletionPayload(deleted_page_id=strawberry.ID(str(deleted.page_id)))
