"""The changes of a wiki for who keeps a copy of it: of each page the last one, in their order."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiPageState
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from .pages import WikiPage

positions = relations.pages


@strawberry.type(description="The last change of a page. The next one gives the page a greater position.")
class WikiChange:
    position: int = column("Where it stands among the changes of its wiki; positions only grow.")
    page_id: strawberry.ID = column("The page.")
    state: WikiPageState = expression(positions.state, "What became of the page.")
    changed_at: datetime = column("When it was written; the page's own updatedAt may be a date that it came with.")
    page: WikiPage | None = relation(positions.page, "The page as it is now, archived ones too; null when it is gone.")


@strawberry.type
class PositionQueries:
    @source(
        positions.changes,
        "Every page of a wiki once, by its last change. Who asks `after` the last endCursor that they got hears of all "
        "that was created, changed, archived or deleted since then, each page once. After a backup was restored older "
        "cursors are refused with CURSOR_EXPIRED: start again without one.",
        history=positions.history,
    )
    def wiki_changes(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiChange]: ...
