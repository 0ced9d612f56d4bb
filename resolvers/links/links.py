"""References between pages, with every reason for which they were asserted."""

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
from .references import refresh_hubness
from .targets import IMPORTED, drop_related

LINKS = statements("links/links")
TEXT = "text"


@dataclass(frozen=True, slots=True)
class SavedLink:
    """A link after a write, with the reasons why one page refers to the other; no reasons, no link."""

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
    """Let a page refer to another for one more reason."""
    check_kind(kind)
    reason = check_reason(reason, restored=restored)
    if from_page_id == to_page_id:
        raise BadInput("A page cannot link to itself.", "toPageId")
    async with writing_near_page(database, scope, from_page_id) as writer:
        reasons = await writer.value(
            LINKS["write_link"], id=new_id(), from_page_id=from_page_id, to_page_id=to_page_id, reason=reason
        )
        if reasons is None:
            standing = await reasons_of(writer, from_page_id, to_page_id)
            return SavedLink(from_page_id, to_page_id, standing, changed=False)
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
    """Take back one reason, or all; the link goes with the last one. What the text says only the text can take back."""
    check_kind(kind)
    reason = None if reason is None else check_reason(reason, restored=True)
    async with writing_near_page(database, scope, from_page_id) as writer:
        gone, left = await take_back(writer, from_page_id, to_page_id, reason)
        if IMPORTED in gone:
            await drop_related(writer, from_page_id, to_page_id)
        if gone:
            await update_dependents(writer, from_page_id, to_page_id, "link.removed", gone)
        return SavedLink(from_page_id, to_page_id, left, changed=bool(gone))


async def take_back(
    writer: Writer, from_page_id: UUID, to_page_id: UUID, reason: str | None
) -> tuple[Sequence[str], tuple[str, ...]]:
    """Return the reasons that go, and those that are left. Mostly none is left: that takes one statement."""
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
    """Return the reasons of a link, none without a link. A link shows that both pages are there, in this wiki."""
    found = await writer.value(LINKS["find_reasons"], from_page_id=from_page_id, to_page_id=to_page_id)
    if found is None:
        await check_pair(writer, from_page_id, to_page_id, "toPageId")
    return tuple(found or ())


async def update_dependents(
    writer: Writer, from_page_id: UUID, to_page_id: UUID, action: str, reasons: Sequence[str]
) -> None:
    """Update everything that depends on a reference."""
    writer.touched.add(from_page_id)
    refresh_hubness(writer, [to_page_id])
    await record(writer, action, from_page_id, toPageId=to_page_id, reasons=list(reasons))


def check_kind(kind: str) -> None:
    if kind in ("parent_of", "child_of"):
        raise BadInput("Parents and children are set with setWikiParent, which writes both links.", "kind")
    validation.one_of(kind, ["reference"], "kind")


def check_reason(reason: str, *, restored: bool = False) -> str:
    """Return the reason, if it is one that may be asserted and taken back."""
    reason = validation.line(reason, "reason", REASON.limit(restored=restored))
    if reason == TEXT:
        raise BadInput('The reason "text" belongs to the links in the page\'s text. Edit the text.', "reason")
    return reason


KIND = re.compile(r"(?:deterministic|co_mention)(?::[^*]+)?")


@dataclass(frozen=True, slots=True)
class DroppedLinks:
    """A count of the links that lost a reason, and of those that had no other. In a dry run: would lose."""

    kind: str
    links: int
    deleted: int


async def drop_link_kind(database: Database, scope: Scope, kind: str, *, dry_run: bool = False) -> DroppedLinks:
    """Take back every reason of a kind, and of the kinds below it. For admins."""
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
    """Return the plain kind: `deterministic:city:*` is `deterministic:city`."""
    plain = validation.line(kind, "kind", REASON.stored).removesuffix("*").removesuffix(":")
    if not KIND.fullmatch(plain):
        raise BadInput(
            "Only links that follow from evidence are dropped by their kind: deterministic:city:*, "
            "deterministic:journal:austin-trip, deterministic:*, co_mention:*.",
            "kind",
        )
    return plain
