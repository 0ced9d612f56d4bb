"""Pages: creating, updating, placing and archiving."""

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


@strawberry.input(description="One section of a page; without a slug it is known by its heading.")
class WikiSectionInput:
    body_md: str = strawberry.field(description="Its text as markdown, without the heading.")
    section_slug: str | None = strawberry.field(default=None, description="Its name on the page.")
    heading: str | None = strawberry.field(default=None, description="Its heading; made from the slug if left out.")

    def draft(self) -> SectionDraft:
        return SectionDraft(body=self.body_md, slug=self.section_slug, heading=self.heading)


@strawberry.input(description="A page to be made. Give the whole body, or sections, or neither.")
class CreateWikiPageInput(InWiki):
    type: WikiPageType = strawberry.field(description="What it is about; it never changes.")
    title: str = strawberry.field(description="Its name for people, 500 characters at most.")
    slug: str | None = strawberry.field(default=None, description="Made from the title if left out.")
    summary: str | None = strawberry.field(default=None, description="One line that says what it is.")
    body_md: str | None = strawberry.field(default=None, description="The whole text; `## ` headings make sections.")
    sections: list[WikiSectionInput] | None = strawberry.field(default=None, description="Its sections in order.")
    aliases: list[str] | None = strawberry.field(default=None, description="Its other names.")
    tags: list[str] | None = strawberry.field(default=None, description="Soft hints.")
    parent_id: strawberry.ID | None = strawberry.field(default=None, description="The page above it.")
    metadata: JSON | None = strawberry.field(default=None, description="An object that is kept as it is.")
    sensitivity: WikiSensitivity | None = strawberry.field(
        default=None, description="How few may read it: not more than you may. In the metadata, like those that follow."
    )
    stated_confidence: WikiConfidence | None = strawberry.field(default=None, description="What you say of it.")
    expires_at: datetime | None = strawberry.field(default=None, description="From when on it is out of date.")
    owner_role: str | None = strawberry.field(default=None, description="The role that looks after it.")
    supersedes: list[str] | None = strawberry.field(
        default=None, description="The pages that it replaces: slugs, or type/slug where types share one."
    )
    contradicts: list[str] | None = strawberry.field(
        default=None, description="The pages that it disagrees with, named in the same way."
    )
    related: list[str] | None = strawberry.field(
        default=None, description="Pages to refer to, whatever the text says, named in the same way."
    )
    edit_summary: str | None = strawberry.field(default=None, description="What to say of it in the history.")

    def fields(self) -> dict[str, Any]:
        """Return the given fields, by the names of the resolver."""
        given = {name: getattr(self, name) for name in NAMES}
        return {name: plain(value) for name, value in given.items() if value is not None}

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


@strawberry.input(description="What was just learnt of a subject without a page, and the source that says so.")
class CreateWikiStubInput(InWiki):
    type: WikiPageType = strawberry.field(description="What it is about; it never changes.")
    title: str = strawberry.field(description="Its name for people, 500 characters at most.")
    text: str = strawberry.field(default="", description="Markdown, for the first section of its type.")
    why: str | None = strawberry.field(default=None, description="The section Why; a concept needs it.")
    how_to_apply: str | None = strawberry.field(
        default=None, description="The section How to apply; a concept needs it."
    )
    source: str | None = strawberry.field(
        default=None, description="The source that says so: kind/ref, such as daily_note/2026-03-02, or its id."
    )
    edit_summary: str | None = strawberry.field(default=None, description="What to say of it in the history.")

    def draft(self) -> PageDraft:
        return stub_draft(
            self.type.value,
            self.title,
            self.text,
            why=self.why,
            how_to_apply=self.how_to_apply,
            edit_summary=self.edit_summary,
        )


@strawberry.input(description="A page by type and slug: made if need be. What is left out stays as it is.")
class UpsertWikiPageInput(CreateWikiPageInput):
    status: WikiPageStatus | None = strawberry.field(default=None, description="As it stands when left out.")
    mark_compiled: bool = strawberry.field(default=False, description="Bring it back if archived, and stamp it.")
    expected_version: int | None = strawberry.field(default=None, description="Refuse if it has another version.")


@strawberry.input(description="Changes to a page. What is left out stays; null clears where it may.")
class UpdateWikiPageInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    type: WikiPageType | None = strawberry.field(
        default=None, description="The type that it has. Another one is refused: a type never changes."
    )
    title: strawberry.Maybe[str | None] = strawberry.field(description="A new title; the old one stays an alias.")
    slug: strawberry.Maybe[str | None] = strawberry.field(description="A new slug; the old one keeps resolving.")
    summary: strawberry.Maybe[str | None] = strawberry.field(description="A new summary, or null for none.")
    body_md: strawberry.Maybe[str | None] = strawberry.field(description="The whole new text.")
    tags: strawberry.Maybe[list[str] | None] = strawberry.field(description="All tags anew; null for none.")
    metadata: strawberry.Maybe[JSON | None] = strawberry.field(description="All metadata anew; null for none.")
    sensitivity: strawberry.Maybe[WikiSensitivity | None] = strawberry.field(
        description="How few may read it: not more than you may. In the metadata, like those that follow."
    )
    stated_confidence: strawberry.Maybe[WikiConfidence | None] = strawberry.field(description="What you say of it.")
    expires_at: strawberry.Maybe[datetime | None] = strawberry.field(description="From when on it is out of date.")
    owner_role: strawberry.Maybe[str | None] = strawberry.field(description="The role that looks after it.")
    supersedes: strawberry.Maybe[list[str] | None] = strawberry.field(
        description="All pages that it replaces: slugs, or type/slug where types share one."
    )
    contradicts: strawberry.Maybe[list[str] | None] = strawberry.field(
        description="All pages that it disagrees with, named in the same way."
    )
    related: strawberry.Maybe[list[str] | None] = strawberry.field(
        description="All pages that it is related to besides those that its text links to, named in the same way."
    )
    expected_version: int | None = strawberry.field(default=None, description="Refuse if it has another version.")
    edit_summary: str | None = strawberry.field(default=None, description="What to say of it in the history.")


@strawberry.input(description="A page.")
class WikiPageIdInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")


@strawberry.input(description="Where a page hangs.")
class SetWikiParentInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    parent_id: strawberry.ID | None = strawberry.field(default=None, description="The page above it; null for none.")


@strawberry.input(description="A whole wiki.")
class ArchiveWikiScopeInput(InWiki):
    pass


def changes(input: UpdateWikiPageInput) -> dict[str, Any]:
    """Return the given values, by the names of the resolver."""
    return {
        "title": non_null(input.title, "title"),
        "slug": non_null(input.slug, "slug"),
        "summary": nullable(input.summary, None),
        "body": non_null(input.body_md, "bodyMd"),
        "tags": nullable(input.tags, []),
        "metadata": nullable(input.metadata, {}),
        "related": nullable(input.related, []),
        "fields": {name: plain(given.value) for name in NAMES if (given := getattr(input, name)) is not None},
    }


def plain(value: Any) -> Any:
    """Return the value of a member of an enum, and any other one as it is."""
    return value.value if isinstance(value, Enum) else value


@strawberry.type
class PageMutations:
    @strawberry.mutation(description="Make a page.")
    async def create_wiki_page(self, info: Request, input: CreateWikiPageInput) -> WikiPagePayload:
        return await page_payload(
            lifecycle.create_page(info.context.database, await scope_in(info, input), input.draft())
        )

    @strawberry.mutation(
        description="Make a page with the sections of its type that rests on one source; both or nothing. The code is "
        "PAGE_EXISTS where a page of the type is called so already."
    )
    async def create_wiki_stub(self, info: Request, input: CreateWikiStubInput) -> WikiPagePayload:
        async def saving() -> Saved:
            return await write_stub(info.context.database, await scope_in(info, input), input.draft(), input.source)

        try:
            return await page_payload(saving())
        except lifecycle.PageExists as error:
            known = UserError(message=error.message, code=error.code, field=["title"])
            return WikiPagePayload(user_errors=[known])

    @strawberry.mutation(description="Make a page, or bring the one of that type and slug up to date.")
    async def upsert_wiki_page(self, info: Request, input: UpsertWikiPageInput) -> WikiPagePayload:
        saving = upsert.upsert_page(
            info.context.database,
            await scope_in(info, input),
            input.draft(status=input.status and input.status.value),
            mark_compiled=input.mark_compiled,
            expected_version=input.expected_version,
        )
        return await page_payload(saving)

    @strawberry.mutation(description="Change a page.")
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

    @strawberry.mutation(description="Hang a page under another one, or under none.")
    async def set_wiki_parent(self, info: Request, input: SetWikiParentInput) -> WikiPagePayload:
        saving = hierarchy.set_parent(
            info.context.database, info.context.scope, id_of(input.page_id), parent_id=optional_id(input.parent_id)
        )
        return await page_payload(saving)

    @strawberry.mutation(description="Put a page away with everything it owns; it can come back.")
    async def archive_wiki_page(self, info: Request, input: WikiPageIdInput) -> WikiPagePayload:
        return await page_payload(
            lifecycle.archive_page(info.context.database, info.context.scope, id_of(input.page_id))
        )

    @strawberry.mutation(description="Bring an archived page back.")
    async def unarchive_wiki_page(self, info: Request, input: WikiPageIdInput) -> WikiPagePayload:
        return await page_payload(
            lifecycle.unarchive_page(info.context.database, info.context.scope, id_of(input.page_id))
        )

    @strawberry.mutation(description="Put every page of a wiki away, for its admins.")
    async def archive_wiki_scope(self, info: Request, input: ArchiveWikiScopeInput) -> WikiScopePayload:
        try:
            archived = await lifecycle.archive_scope(info.context.database, await scope_in(info, input))
        except BadInput as error:
            return WikiScopePayload(user_errors=[user_error(error)])
        return WikiScopePayload(pages_archived=archived)

    @strawberry.mutation(description="Delete a page and all it owns for good, for admins of its wiki.")
    async def delete_wiki_page(self, info: Request, input: WikiPageIdInput) -> WikiDeletionPayload:
        gone = await lifecycle.delete_page(info.context.database, info.context.scope, id_of(input.page_id))
        return WikiDeletionPayload(deleted_page_id=strawberry.ID(str(gone.page_id)))
