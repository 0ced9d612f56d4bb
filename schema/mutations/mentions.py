"""Mutations of mentions, which are names without a page."""

import strawberry

from resolvers.errors import BadInput
from resolvers.pages import sections
from resolvers.sources import mentions

from ..enums import WikiPageType
from .payloads import WikiMentionPayload, WikiPagePayload, page_payload, user_error
from .scoping import InWiki, Request, id_of, scope_in


@strawberry.input(description="Mention to record: a name in a source that has no page.")
class RecordWikiMentionInput(InWiki):
    name: str = strawberry.field(description="The name as the source writes it.")
    source_id: strawberry.ID = strawberry.field(description="Id of the source. Each source counts once.")
    quote: str | None = strawberry.field(default=None, description="Text around the name.")
    suggested_type: WikiPageType | None = strawberry.field(
        default=None, description="Suggested type of a page for this name."
    )


@strawberry.input(description="A mention.")
class WikiMentionIdInput:
    mention_id: strawberry.ID = strawberry.field(description="The mention.")


@strawberry.type
class MentionMutations:
    @strawberry.mutation(description="Record a mention: a name in a source that has no page yet.")
    async def record_wiki_mention(self, info: Request, input: RecordWikiMentionInput) -> WikiMentionPayload:
        try:
            saved = await mentions.record_mention(
                info.context.database,
                await scope_in(info, input),
                name=input.name,
                source_id=id_of(input.source_id),
                quote=input.quote,
                suggested_type=input.suggested_type and input.suggested_type.value,
            )
        except BadInput as error:
            return WikiMentionPayload(user_errors=[user_error(error)])
        return WikiMentionPayload(mention_id=saved.mention_id)

    @strawberry.mutation(description="Ignore a mention, so that it is never promoted to a page.")
    async def ignore_wiki_mention(self, info: Request, input: WikiMentionIdInput) -> WikiMentionPayload:
        saved = await mentions.ignore_mention(info.context.database, info.context.scope, id_of(input.mention_id))
        return WikiMentionPayload(mention_id=saved.mention_id)


@strawberry.input(description="Rollup section, and whether it can be promoted to a page.")
class SuppressWikiSectionPromotionInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    section_slug: str = strawberry.field(description="Slug of the section.")
    suppressed: bool = strawberry.field(default=True, description="Whether to prevent the promotion.")


@strawberry.type
class PromotionMutations:
    @strawberry.mutation(description="Prevent or allow the promotion of a rollup section to a page. For admins.")
    async def suppress_wiki_section_promotion(
        self, info: Request, input: SuppressWikiSectionPromotionInput
    ) -> WikiPagePayload:
        saving = sections.suppress_promotion(
            info.context.database,
            info.context.scope,
            id_of(input.page_id),
            input.section_slug,
            suppressed=input.suppressed,
        )
        return await page_payload(saving)
