"""Sections of pages, with their grounding and their promotion."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import strawberry
from strawberry.scalars import JSON

from db import relations

from ..fields import Connection, Node, column, computed, expression, relation
from .pages import AS_HTML, RENDERING, WikiPage, as_html

if TYPE_CHECKING:
    from ..sources import WikiCitation, WikiSource

sections = relations.sections


@strawberry.type(description="A section of a page.")
class WikiSection(Node):
    section_slug: str = column("Slug of the section, unique on the page.")
    heading: str = column("Heading. Empty for the text before the first heading.")
    body_md: str = column("Text in Markdown, without the heading.")
    position: int = column("Position on the page, from 0.")
    last_source_at: datetime | None = column("Capture time of its newest cited source.")
    aggregation: JSON | None = column("Data of a rollup section about the pages that it lists.")
    created_at: datetime = column("Time of creation.")
    updated_at: datetime = column("Time of the last change.")
    page: WikiPage = relation(sections.page, "Page of the section.")
    promoted_page: WikiPage | None = relation(sections.promoted_page, "Active page to which it was promoted.")
    sources: Connection[Annotated["WikiSource", strawberry.lazy("..sources")]] = relation(
        relations.sources.of_section, "Cited sources, newest first."
    )
    citations: Connection[Annotated["WikiCitation", strawberry.lazy("..sources")]] = relation(
        relations.sources.section_citations, "Citations with lines and summary, newest first."
    )
    source_count: int = expression(sections.source_count, "Number of cited sources.")
    grounding: "WikiGrounding" = relation(
        relations.grounding.of_section, "Grounding of its sentences in the sources that it cited when it was written."
    )

    @computed(f"The text {AS_HTML}", cost=RENDERING, body="body_md", places=relations.links.places("page_id"))
    async def body_html(body: str, places: Any) -> str:
        return await as_html(body, places)


@strawberry.type(
    description=(
        "Grounding: the number of sentences that cited sources support. Sections without citations are not counted."
    )
)
class WikiGrounding:
    grounded: int = column(
        "Number of sentences supported by a cited source that is as new as the newest source of the page."
    )
    unverified: int = column("Number of sentences that no cited source supports.")
    stale: int = column(
        "Number of sentences whose newest supporting source is older than the newest source of the page."
    )


@strawberry.type(description="Origin of a promoted page.")
class WikiPromotion:
    parent_page: WikiPage = relation(sections.page, "Page of the section.")
    section_slug: str = column("The slug of the section.")
    section_heading: str = column("The heading of the section.", name="heading")
