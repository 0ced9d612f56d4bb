"""Helpers that export a wiki and read the files, and a wiki with everything that can be exported."""

from pathlib import Path

from resolvers.import_export.export_files import export_folder
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.aliases import add_alias
from resolvers.pages.claims.claims import Mode, SourceRef, supersede_claim
from resolvers.pages.claims.contradictions import (
    Claimed,
    Resolution,
    record_contradiction,
    resolve_contradiction,
)
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, create_page, update_page
from resolvers.sources.mentions import ignore_mention, record_mention
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from tests.wiki import Wiki


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


async def export_files(wiki: Wiki, folder: Path) -> dict[str, bytes]:
    await export_folder(wiki.database, wiki.scope, folder)
    return read_files(folder)


async def create_full_wiki(wiki: Wiki) -> None:
    """Create pages with everything that a page can have."""
    here = wiki.database, wiki.scope
    austin = await create_page(
        *here,
        PageDraft(
            type="entity",
            title="Austin, Texas",
            summary="A city:\nhot.",
            body="# Austin, Texas\n\nHot. [[Nowhere]]\n\n## Notes\n\nSee [[Travel|trips]].\n\n## Notes\n\nAgain.",
            aliases=["ATX", "a, b", "#tag"],
            tags=["city", "#1", "no"],
            metadata={
                "confidence": "high",
                "description": "its own",
                "cairn": 1,
                "status": "draft",
                "n": [1.5, None],
            },
        ),
    )
    travel = await create_page(*here, PageDraft(type="topic", title="Travel", body="To [[austin-texas]]."))
    other = await create_page(
        *here,
        PageDraft(
            type="topic",
            title="Austin Texas",
            slug="austin-texas",
            sections=[SectionDraft("Text.", "related_entities", "Other words"), SectionDraft("", "notes", "Notes")],
        ),
    )
    await set_parent(*here, austin.page_id, parent_id=travel.page_id)
    await link_pages(*here, other.page_id, austin.page_id, reason="planner")
    await link_pages(*here, travel.page_id, austin.page_id)
    first = (await add_source(*here, SourceDraft("daily_note", "memory/1.md", "One.\nTwo.", "First"))).source_id
    second = await add_source(*here, SourceDraft("daily_note", "memory/1.md", "One.\nTwo.\nThree.", metadata={"a": 1}))
    await cite_source(*here, page_id=austin.page_id, section_slug="notes", source_id=first, line_start=1, line_end=2)
    await cite_source(*here, page_id=austin.page_id, section_slug="notes_2", source_id=second.source_id, summary="Why")
    await update_page(*here, other.page_id, slug="austin", title="Austin")
    await supersede_claim(
        *here, PageAddress(austin.page_id), fact="Hot.", replacement="Mild.\n\n> now", section_slug="overview",
        stated_by=SourceRef("daily_note", "memory/1.md"), overridden_by=SourceRef("daily_note", "memory/1.md"),
    )  # fmt: skip
    await supersede_claim(*here, PageAddress(travel.page_id), fact="Big: 1", replacement="#2", mode=Mode.NONE)
    for number in range(2):
        older = Claimed(f"Hot: {number}", "overview", SourceRef("daily_note", "memory/1.md"))
        disputed = await record_contradiction(*here, PageAddress(austin.page_id), older, Claimed("Cold\n> so"))
    await resolve_contradiction(*here, disputed.id, Resolution.BOTH_HOLD, "In winter: both")
    await add_alias(*here, travel.page_id, name="Journeys")
    await archive_page(*here, travel.page_id)
    third = (await add_source(*here, SourceDraft("url", "https://a.example", "Barton Springs."))).source_id
    await record_mention(*here, name="Barton Springs", source_id=first, quote="at Barton Springs")
    await record_mention(*here, name="barton springs", source_id=second.source_id, quote="to Barton Springs")
    await record_mention(*here, name="Barton  Springs", source_id=third, suggested_type="entity")
    ignored = await record_mention(*here, name="One", source_id=third, quote="One.")
    await ignore_mention(*here, ignored.mention_id)
