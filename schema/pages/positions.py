"""The change feed of a wiki for clients that keep a copy of it: the last change of each page, in order."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiPageState
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from .pages import WikiPage

positions = relations.pages


@strawberry.type(description="The last change of a page. Each change gives the page a greater position.")
class WikiChange:
    position: int = column("Position among the changes of the wiki. Positions only increase.")
    page_id: strawberry.ID = column("The page.")
    state: WikiPageState = expression(positions.state, "State of the page after the change.")
    changed_at: datetime = column("Time of the change. The updatedAt of an imported page can be earlier.")
    page: WikiPage | None = relation(
        positions.page, "Current state of the page, even if it is archived. Null if its state is DELETED."
    )


@strawberry.type
class PositionQueries:
    @source(
        positions.changes,
        (
            "The change feed: all pages of a wiki by their last change. Pass the last endCursor as "
            "`after` to get the pages that were created, changed, archived or deleted since then, "
            "each once. Cursors from before a restored backup are refused with CURSOR_EXPIRED: start "
            "again without one."
        ),
        history=positions.history,
    )
    def wiki_changes(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiChange]: ...
