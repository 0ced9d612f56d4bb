"""Whether sections may grow into pages of their own."""

import strawberry

from resolvers.pages import sections

from ..payloads import WikiPagePayload, page_payload
from .scoping import Request, id_of


@strawberry.input(description="A section that lists pages, and whether it may become one itself.")
class SuppressWikiSectionPromotionInput:
    page_id: strawberry.ID = strawberry.field(description="The page.")
    section_slug: str = strawberry.field(description="The section's name on the page.")
    suppressed: bool = strawberry.field(default=True, description="False lets it grow again.")


@strawberry.type
class PromotionMutations:
    @strawberry.mutation(description="Keep a section that lists pages from growing into one; for admins.")
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
