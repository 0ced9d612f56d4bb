"""Evidence: retaining it, and citing it."""

from datetime import datetime
from typing import Any, cast

import strawberry
from strawberry.scalars import JSON

from resolvers.errors import BadInput
from resolvers.sources import retain, sources

from ..enums import WikiSourceKind
from ..payloads import WikiCitationPayload, WikiSourcePayload, user_error
from ..retention_payloads import WikiRetentionPayload, retention_payload
from .scoping import InWiki, Request, id_of, scope_in


@strawberry.input(
    description="A piece of evidence. It is never changed: other content under the same ref is a new version."
)
class AddWikiSourceInput(InWiki):
    kind: WikiSourceKind = strawberry.field(description="What kind of evidence it is.")
    ref: str = strawberry.field(description="Its name where it comes from, unique with the kind.")
    content: str = strawberry.field(description="The evidence itself.")
    title: str | None = strawberry.field(default=None, description="Its title, if it has one.")
    captured_at: datetime | None = strawberry.field(default=None, description="When it is from; now if left out.")
    metadata: JSON | None = strawberry.field(default=None, description="Place, time, tags: an object kept as it is.")


@strawberry.input(description="A piece of evidence of a batch.")
class WikiSourceInput:
    kind: WikiSourceKind = strawberry.field(description="What kind of evidence it is.")
    ref: str = strawberry.field(description="Its name where it comes from, unique with the kind.")
    content: str = strawberry.field(description="The evidence itself.")
    title: str | None = strawberry.field(default=None, description="Its title, if it has one.")
    captured_at: datetime | None = strawberry.field(default=None, description="When it is from; now if left out.")
    metadata: JSON | None = strawberry.field(default=None, description="Place, time, tags: an object kept as it is.")


@strawberry.input(description="Evidence for a wiki, a hundred pieces at most.")
class RetainWikiSourcesInput(InWiki):
    sources: list[WikiSourceInput] = strawberry.field(description="The pieces.")


@strawberry.input(description="That a source was used for a section.")
class CiteWikiSourceInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    section_slug: str = strawberry.field(description="The section on it.")
    source_id: strawberry.ID = strawberry.field(description="The source, of the same wiki.")
    line_start: int | None = strawberry.field(default=None, description="The first line used, from 1.")
    line_end: int | None = strawberry.field(default=None, description="The last line used.")
    summary: str | None = strawberry.field(default=None, description="What was taken from it, in one line.")


def draft_of(given: AddWikiSourceInput | WikiSourceInput) -> sources.SourceDraft:
    return sources.SourceDraft(
        kind=given.kind.value,
        ref=given.ref,
        content=given.content,
        title=given.title,
        captured_at=given.captured_at,
        metadata=cast(Any, given.metadata),
    )


@strawberry.type
class SourceMutations:
    @strawberry.mutation(description="Retain a piece of evidence; the very same one twice is kept once.")
    async def add_wiki_source(self, info: Request, input: AddWikiSourceInput) -> WikiSourcePayload:
        try:
            saved = await sources.add_source(info.context.database, await scope_in(info, input), draft_of(input))
        except BadInput as error:
            return WikiSourcePayload(user_errors=[user_error(error)])
        return WikiSourcePayload(source_id=saved.source_id, created=saved.created)

    @strawberry.mutation(description="Retain evidence, and let the wiki be compiled. The same again changes nothing.")
    async def retain_wiki_sources(self, info: Request, input: RetainWikiSourcesInput) -> WikiRetentionPayload:
        drafts, scope = [draft_of(one) for one in input.sources], await scope_in(info, input)
        return await retention_payload(retain.retain_sources(info.context.database, scope, drafts))

    @strawberry.mutation(description="Say that a source was used for a section.")
    async def cite_wiki_source(self, info: Request, input: CiteWikiSourceInput) -> WikiCitationPayload:
        try:
            saved = await sources.cite_source(
                info.context.database,
                info.context.scope,
                page_id=id_of(input.page_id),
                section_slug=input.section_slug,
                source_id=id_of(input.source_id),
                line_start=input.line_start,
                line_end=input.line_end,
                summary=input.summary,
            )
        except BadInput as error:
            return WikiCitationPayload(user_errors=[user_error(error)])
        return WikiCitationPayload(cited=(saved.section_id, saved.source_id))
