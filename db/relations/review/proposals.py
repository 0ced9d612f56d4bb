"""Proposals, for callers who may write in the wiki. Readers see none."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, any_, case, literal, or_, select

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ...access import OWNERS, SPANS_TENANT
from ...tables import grants, pages, proposals, revisions
from ..access import owners
from ..references import foreign_row
from ..revisions import body

page = foreign_row(pages, "page_id")
of_event = foreign_row(proposals, "proposal_id")


def may_write(owner_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return a condition that is true if the caller may write in the owner's wiki, like resolvers.permissions."""
    grant = grants.alias()
    granted = select(literal(1)).where(
        grant.c.grantee_id == any_(OWNERS), grant.c.owner_id == owner_id, grant.c.role != "reader"
    )
    return (owners.ROLE != "reader") & or_(SPANS_TENANT, owner_id == any_(OWNERS), in_tenant(granted).exists())


def listed(status: Any = None, page_id: Any = None, author_id: Any = None) -> Select[Any]:
    """Select the proposals of a wiki, the newest first."""
    proposal = proposals.alias()
    query = select(proposal).where(may_write(proposal.c.owner_id)).order_by(proposal.c.id.desc())
    for column, value in (("status", status), ("page_id", page_id), ("author_id", author_id)):
        if value is not None:
            query = query.where(proposal.c[column] == value)
    return query


def with_id(proposal_id: Any) -> Select[Any]:
    proposal = proposals.alias()
    return select(proposal).where(proposal.c.id == proposal_id, may_write(proposal.c.owner_id))


def by_ids(ids: FromClause) -> Select[Any]:
    proposal = proposals.alias()
    return select(proposal).join(ids, proposal.c.id == ids.c.id).where(may_write(proposal.c.owner_id))


def of_revision(revision: OuterRow) -> Select[Any]:
    """Select the proposal whose acceptance created a revision."""
    proposal = proposals.alias()
    return select(proposal).where(
        proposal.c.page_id == revision.c.page_id,
        proposal.c.accepted_version == revision.c.version,
        may_write(proposal.c.owner_id),
    )


def author_name(proposal: OuterRow) -> ColumnElement[Any]:
    return owners.author_name(proposal.c.author_id)


def decider_name(proposal: OuterRow) -> ColumnElement[Any]:
    return case((proposal.c.decider_id.is_not(None), owners.author_name(proposal.c.decider_id)))


def base_body(proposal: OuterRow) -> ColumnElement[Any]:
    """Return the text of the page in the version on which the proposal is based."""
    base = revisions.alias()
    of_version = (base.c.page_id == proposal.c.page_id) & (base.c.version == proposal.c.base_version)
    text = select(body(OuterRow(base))).where(of_version)
    return in_tenant(text).scalar_subquery()


def todays_body(proposal: OuterRow) -> ColumnElement[Any]:
    page = pages.alias()
    return in_tenant(select(page.c.body_md).where(page.c.id == proposal.c.page_id)).scalar_subquery()


def todays_version(proposal: OuterRow) -> ColumnElement[Any]:
    page = pages.alias()
    return in_tenant(select(page.c.version).where(page.c.id == proposal.c.page_id)).scalar_subquery()


def is_stale(proposal: OuterRow) -> ColumnElement[Any]:
    """Return whether the page has changed since the proposal's base version. It is false for a proposed new page."""
    return case((proposal.c.base_version.is_(None), False), else_=todays_version(proposal) != proposal.c.base_version)


def visible_event(event: FromClause) -> Select[Any]:
    """Select an event if the caller may still write in the wiki and read the proposal."""
    proposal = proposals.alias()
    is_seen = in_tenant(select(proposal.c.id).where(proposal.c.id == event.c.proposal_id)).exists()
    return select(event).where(may_write(event.c.owner_id), or_(event.c.proposal_id.is_(None), is_seen))
