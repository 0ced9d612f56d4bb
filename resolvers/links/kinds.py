"""Links that follow from evidence alone, taken back by their kind: `deterministic:city`, `co_mention`, …

A link stays as long as it has another reason. Nothing else changes but the hubness of pages that lose a reference.
"""

import re
from dataclasses import dataclass

from content.limits import REASON
from db.database import Database
from db.scope import Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput
from ..permissions import Action
from ..transactions.activity import record
from ..transactions.transaction import writing
from .references import refresh_hubness

LINKS = statements("links")
KIND = re.compile(r"(?:deterministic|co_mention)(?::[^*]+)?")


@dataclass(frozen=True, slots=True)
class DroppedLinks:
    """How many links lost a reason, and how many of these had no other. In a dry run: would lose."""

    kind: str
    links: int
    deleted: int


async def drop_link_kind(database: Database, scope: Scope, kind: str, *, dry_run: bool = False) -> DroppedLinks:
    """Take back every reason of a kind, and of the kinds below it. For admins."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        kind = checked_kind(kind)
        found = await writer.one(LINKS["count_kind"], kind=kind)
        assert found is not None
        dropped = DroppedLinks(kind, found["links"], found["deleted"])
        if dry_run or not dropped.links:
            return dropped
        gone = await writer.all(LINKS["delete_kind"], kind=kind)
        await writer.run(LINKS["drop_kind"], kind=kind)
        refresh_hubness(writer, [row["to_page_id"] for row in gone])
        await record(writer, "links.dropped", kind=kind, links=dropped.links, deleted=dropped.deleted)
        return dropped


def checked_kind(kind: str) -> str:
    """`deterministic:city:*` is `deterministic:city`."""
    plain = validation.line(kind, "kind", REASON.stored).removesuffix("*").removesuffix(":")
    if not KIND.fullmatch(plain):
        raise BadInput(
            "Only links that follow from evidence are dropped by their kind: deterministic:city:*, "
            "deterministic:journal:austin-trip, deterministic:*, co_mention:*.",
            "kind",
        )
    return plain
