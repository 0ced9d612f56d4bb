"""Count the tool calls of agents, and compute the hot index from the counts.

docs/decisions/0014-rest-and-mcp-share-one-core.md
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from content.knowledge import PageUse, hottest
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..errors import NotFound
from ..permissions import Action, authorise
from ..transactions.transaction import read_connection

TOOL_CALLS = statements("operations/tool_calls")
NO_PAGE = UUID(int=0)
KEPT_FOR = timedelta(days=30)
MAX_TOOLS = 20
MAX_ENTRIES = 2_000  # tagged references that are scored, and as many pages that were read
DEFAULT_SIZE = 5
MAX_SIZE = 20


async def count_call(database: Database, scope: Scope, tool: str, page_ids: Sequence[UUID] = ()) -> None:
    """Count a call of a tool in the scope's wiki, which returned the text of these pages.

    The first call of a tool on a day deletes the counts that are older than KEPT_FOR.
    """
    where = scope.wiki_values
    counted = [NO_PAGE, *dict.fromkeys(page_ids)]
    async with read_connection(database) as connection:
        rows = await connection.all(TOOL_CALLS["count_calls"], **where, day=today(), tool=tool, page_ids=counted)
        if any(row["page_id"] == NO_PAGE and row["calls"] == 1 for row in rows):
            await connection.run(TOOL_CALLS["forget_calls"], **where, first=first_day())


async def hot_index(
    database: Database, scope: Scope, owner_id: UUID, size: int = DEFAULT_SIZE
) -> list[tuple[UUID, int]]:
    """Return (page id, score) pairs, the hottest page first. Return none for a wiki that the caller may not read."""
    where = {"tenant_id": scope.tenant_id, "owner_id": owner_id, "first": first_day(), "no_page": NO_PAGE}
    async with read_connection(database) as connection:
        try:
            await authorise(connection, scope, owner_id, Action.READ)
        except NotFound:
            return []
        tools = await connection.all(TOOL_CALLS["find_tools"], **where, limit=MAX_TOOLS)
        rows = await connection.all(TOOL_CALLS["find_entries"], **where, limit=MAX_ENTRIES)
    calls = {row["tool"]: int(row["calls"]) for row in tools}
    entries = [PageUse(row["id"], row["tags"], int(row["reads"])) for row in rows]
    return hottest(entries, calls, max(1, min(size, MAX_SIZE)))


def today() -> date:
    return datetime.now(UTC).date()


def first_day() -> date:
    return today() - KEPT_FOR
