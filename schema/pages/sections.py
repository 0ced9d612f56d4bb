"""Sections: the atomic unit of content."""

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


@strawberry.type(description="The atomic unit of content: writes patch sections, never whole pages.")
class WikiSection(Node):
    section_slug: str = column("Its name on the page, unique there.")
    heading: str = column("Its heading; empty for the text before the first one.")
    body_md: str = column("Its text as markdown, without the heading.")
    position: int = column("Its place on the page, from 0.")
    last_source_at: datetime | None = column("When its newest cited evidence was captured.")
    aggregation: JSON | None = column("What a rollup section knows of the pages it lists.")
    created_at: datetime = column("When it was made.")
    updated_at: datetime = column("When it last changed.")
    page: WikiPage = relation(sections.page, "The page it stands on.")
    promoted_page: WikiPage | None = relation(sections.promoted_page, "The active page it grew into.")
    sources: Connection[Annotated["WikiSource", strawberry.lazy("..sources")]] = relation(
        relations.sources.of_section, "The evidence cited for it, newest first."
    )
    citations: Connection[Annotated["WikiCitation", strawberry.lazy("..sources")]] = relation(
        relations.sources.section_citations, "The same with lines and summary, newest citation first."
    )
    source_count: int = expression(sections.source_count, "How many sources it cites.")
    grounding: "WikiGrounding" = relation(
        relations.grounding.of_section, "Its sentences, held against the sources that it cites when it was written."
    )

    @computed(f"Its text {AS_HTML}", cost=RENDERING, body="body_md", places=relations.links.places("page_id"))
    async def body_html(body: str, places: Any) -> str:
        return await as_html(body, places)


@strawberry.type(description="How many sentences the cited sources support. What cites nothing is not counted.")
class WikiGrounding:
    grounded: int = column("Sentences that a cited source supports, as new as the newest source of the page.")
    unverified: int = column("Sentences that no cited source supports.")
    stale: int = column("Sentences whose newest support is older than the newest source of the page.")


@strawberry.type(description="Where a promoted page came from.")
class WikiPromotion:
    parent_page: WikiPage = relation(sections.page, "The page whose section it was.")
    section_slug: str = column("The slug of the section.")
    section_heading: str = column("The heading of the section.", name="heading")
