"""Pages made again from what they cite: asked for here, done by a job."""

from uuid import UUID

from db.database import Database
from db.scope import Scope

from .jobs import enqueue
from .permissions import Action
from .writing import writing, writing_page

TRIGGER = "rebuild"


async def rebuild_page(database: Database, scope: Scope, page_id: UUID) -> UUID:
    """The job that writes every section of a page anew which cites a source."""
    async with writing_page(database, scope, page_id) as (writer, page):
        wiki = writer.scope
        return await enqueue(
            writer,
            wiki.tenant_id,
            wiki.owner_id,
            TRIGGER,
            options={"pageId": str(page.id)},
            subject=f"{TRIGGER}:{page.id}",
        )


async def rebuild_wiki(database: Database, scope: Scope) -> UUID:
    """The same for all active pages of a wiki, for admins."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        return await enqueue(writer, scope.tenant_id, scope.owner_id, TRIGGER, subject=TRIGGER)
