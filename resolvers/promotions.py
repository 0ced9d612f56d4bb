"""Whether a section that lists pages may grow into a topic of its own: a person's word, which no compile overrules."""

from uuid import UUID

from db.database import Database
from db.scope import Scope
from db.sql import statements

from .activity import record
from .errors import BadInput, NotFound
from .permissions import Action
from .records import Saved
from .writing import writing_page

AGGREGATION = statements("aggregation")


async def suppress_promotion(
    database: Database, scope: Scope, page_id: UUID, section_slug: str, *, suppressed: bool = True
) -> Saved:
    """Keep a section where it stands, or let it grow again. For admins."""
    async with writing_page(database, scope, page_id, Action.ADMINISTER) as (writer, page):
        row = await writer.one(AGGREGATION["find_aggregation"], page_id=page.id, slug=section_slug)
        if row is None:
            raise NotFound(f'The page has no section "{section_slug}".')
        status = status_of(row["aggregation"])
        if (status == "suppressed") == suppressed:
            return Saved(page.id, page.version, changed=False)
        await writer.run(
            AGGREGATION["set_status"],
            page_id=page.id,
            slug=section_slug,
            status="suppressed" if suppressed else "none",
        )
        writer.touched.add(page.id)
        action = "section.suppressed" if suppressed else "section.released"
        await record(writer, action, page.id, sectionSlug=section_slug)
        return Saved(page.id, page.version)


def status_of(aggregation: dict[str, object] | None) -> object:
    """Of a section that could grow."""
    if aggregation is None:
        raise BadInput("This section lists no pages by itself, so it never grows into one.", "sectionSlug")
    if aggregation.get("promotion_status") == "promoted":
        raise BadInput("This section has grown into a page already. Archive that page, or merge it.", "sectionSlug")
    return aggregation.get("promotion_status")
