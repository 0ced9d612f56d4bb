"""Add and remove references between pages. A reference exists as long as it has a reason."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from content.limits import REASON
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput
from ..permissions import Action
from ..proposals.operations import proposable
from ..transactions.transaction import check_pair, writing, writing_near_page
from ..transactions.writer import Writer, record
from .references import drop_related, refresh_hubness
from .targets import IMPORTED

LINKS = statements("links/links")
TEXT = "text"


@dataclass(frozen=True, slots=True)
class SavedLink:
    """A link after a write, with its reasons. Without reasons the link does not exist."""

    from_page_id: UUID
    to_page_id: UUID
    reasons: tuple[str, ...]
    changed: bool


@proposable
async def link_pages(
    database: Database,
    scope: Scope,
    from_page_id: UUID,
    to_page_id: UUID,
    *,
    kind: str = "reference",
    reason: str = "manual",
    restored: bool = False,
) -> SavedLink:
    """Add a reason to the reference between two pages; the first reason creates the reference."""
    check_kind(kind)
    reason = check_reason(reason, restored=restored)
    if from_page_id == to_page_id:
        raise BadInput("A page cannot link to itself.", "toPageId")
    async with writing_near_page(database, scope, from_page_id) as writer:
        reasons = await writer.value(
            LINKS["write_link"], id=new_id(), from_page_id=from_page_id, to_page_id=to_page_id, reason=reason
        )
        if reasons is None:
            existing = await reasons_of(writer, from_page_id, to_page_id)
            return SavedLink(from_page_id, to_page_id, existing, changed=False)
        await update_dependents(writer, from_page_id, to_page_id, "link.added", [reason])
        return SavedLink(from_page_id, to_page_id, tuple(reasons), changed=True)


@proposable
async def unlink_pages(
    database: Database,
    scope: Scope,
    from_page_id: UUID,
    to_page_id: UUID,
    *,
    kind: str = "reference",
    reason: str | None = None,
) -> SavedLink:
    """Remove one reason of a reference, or all reasons; without a reason left, the reference is deleted.

    The reason `text` stays: only an edit of the text removes it.
    """
    check_kind(kind)
    reason = None if reason is None else check_reason(reason, restored=True)
    async with writing_near_page(database, scope, from_page_id) as writer:
        gone, left = await remove_reasons(writer, from_page_id, to_page_id, reason)
        if IMPORTED in gone:
            await drop_related(writer, from_page_id, [to_page_id])
        if gone:
            await update_dependents(writer, from_page_id, to_page_id, "link.removed", gone)
        return SavedLink(from_page_id, to_page_id, left, changed=bool(gone))


async def remove_reasons(
    writer: Writer, from_page_id: UUID, to_page_id: UUID, reason: str | None
) -> tuple[Sequence[str], tuple[str, ...]]:
    """Remove a reason, or all if it is None. Return the removed reasons and the remaining ones.

    In the usual case that no reason remains, it runs a single statement.
    """
    pair = {"from_page_id": from_page_id, "to_page_id": to_page_id}
    gone: Sequence[str] | None = await writer.value(LINKS["delete_link"], **pair, reason=reason)
    if gone is not None:
        return gone, ()
    reasons = await reasons_of(writer, from_page_id, to_page_id)
    left = tuple(why for why in reasons if why == TEXT or reason not in (None, why))
    if left != reasons:
        await writer.run(LINKS["set_reasons"], **pair, reasons=left)
    return [why for why in reasons if why not in left], left


async def reasons_of(writer: Writer, from_page_id: UUID, to_page_id: UUID) -> tuple[str, ...]:
    """Return the reasons of a link, or an empty tuple. Without a link, check that both pages are in this wiki."""
    found = await writer.value(LINKS["find_reasons"], from_page_id=from_page_id, to_page_id=to_page_id)
    if found is None:
        await check_pair(writer, from_page_id, to_page_id, "toPageId")
    return tuple(found or ())


async def update_dependents(
    writer: Writer, from_page_id: UUID, to_page_id: UUID, action: str, reasons: Sequence[str]
) -> None:
    """Update the hubness score of the target, mark the linking page as touched, and log the change of a reference."""
    writer.touched.add(from_page_id)
    refresh_hubness(writer, [to_page_id])
    await record(writer, action, from_page_id, toPageId=to_page_id, reasons=list(reasons))


def check_kind(kind: str) -> None:
    if kind in ("parent_of", "child_of"):
        raise BadInput("Parents and children are set with setWikiParent, which writes both links.", "kind")
    validation.one_of(kind, ["reference"], "kind")


def check_reason(reason: str, *, restored: bool = False) -> str:
    """Return the cleaned reason. Raises BadInput for `text`, which callers can neither add nor remove."""
    reason = validation.line(reason, "reason", REASON.limit(restored=restored))
    if reason == TEXT:
        raise BadInput('The reason "text" belongs to the links in the page\'s text. Edit the text.', "reason")
    return reason


KIND = re.compile(r"(?:deterministic|co_mention)(?::[^*]+)?")


@dataclass(frozen=True, slots=True)
class DroppedLinks:
    """The result of dropping a kind of links. For a dry run the numbers say what would be dropped."""

    kind: str
    links: int
    """How many links lost a reason."""
    deleted: int
    """How many of them had no other reason, and were deleted."""


async def drop_link_kind(database: Database, scope: Scope, kind: str, *, dry_run: bool = False) -> DroppedLinks:
    """Remove all reasons of a kind and of the kinds below it from all links of the wiki. Needs ADMINISTER."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        kind = plain_kind(kind)
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


def plain_kind(kind: str) -> str:
    """Return the kind without a wildcard: `deterministic:city:*` becomes `deterministic:city`. Raises BadInput."""
    plain = validation.line(kind, "kind", REASON.stored).removesuffix("*").removesuffix(":")
    if not KIND.fullmatch(plain):
        raise BadInput(
            "Only links that follow from evidence are dropped by their kind: deterministic:city:*, "
            "deterministic:journal:austin-trip, deterministic:*, co_mention:*.",
            "kind",
        )
    return plain
