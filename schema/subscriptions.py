"""Subscriptions.

Each event is read by one compiled statement, with the permissions that the caller has at that time.
"""

from datetime import datetime
from typing import Any

import strawberry
from sqlalchemy import DateTime, Integer, Text, Uuid

from db import relations
from db.access import EVENT_ACCESS, EVENT_ADMIN_ACCESS
from resolvers.subscriptions.changes import Topic
from resolvers.subscriptions.feed import Subscriber, watch_page, watch_wiki
from selection import Step
from selection.compile.parameters import identifier

from .enums import WikiChangeKind
from .fields import OlderOwner, OwnerName, column, relation, source
from .jobs import WikiCompileJob
from .pages.pages import WikiPage
from .pages.proposals import WikiProposal

changes = relations.pages
INITIAL = "With `initial`, a RESYNC comes first: everything read after it is complete."


@strawberry.type(description="A change of a page, or of a whole wiki.")
class WikiPageChange:
    kind: WikiChangeKind = column("Kind of change.")
    page_id: strawberry.ID | None = column("Id of the page. Null for a change of the whole wiki.")
    version: int | None = column("Version of the page at that time, if known.")
    at: datetime = column("Time of the event.")
    page: WikiPage | None = relation(changes.page, "Current state of the page. Null if the kind is DELETED.")


@strawberry.type(description="Change of a compile job.")
class WikiCompileJobChange:
    kind: WikiChangeKind = column("Kind of change: CREATED, UPDATED or RESYNC.")
    job_id: strawberry.ID | None = column("Id of the job. Null for RESYNC.")
    at: datetime = column("Time of the event.")
    job: WikiCompileJob | None = relation(changes.job, "Current state of the job.")


@strawberry.type(description="Change of a proposal.")
class WikiProposalChange:
    kind: WikiChangeKind = column("Kind of change: CREATED, UPDATED or RESYNC.")
    proposal_id: strawberry.ID | None = column("Id of the proposal. Null for RESYNC.")
    at: datetime = column("Time of the event.")
    proposal: WikiProposal | None = relation(relations.proposals.of_event, "Current state of the proposal.")


async def page_event(context: Any, parent: Any, wanted: frozenset[str], **where: Any) -> list[tuple[Any, ...]]:
    event = context.event
    return [(event.tenant_id, event.owner_id, event.kind.value, event.id, event.version, event.at)]


async def job_event(context: Any, parent: Any, wanted: frozenset[str], **where: Any) -> list[tuple[Any, ...]]:
    event = context.event
    return [(event.tenant_id, event.owner_id, event.kind.value, event.id, event.at)]


AT = DateTime(timezone=True)
PAGE_EVENT = Step(
    page_event,
    {"tenant_id": Uuid(), "owner_id": Uuid(), "kind": Text(), "page_id": Uuid(), "version": Integer(), "at": AT},
)
JOB_EVENT = Step(job_event, {"tenant_id": Uuid(), "owner_id": Uuid(), "kind": Text(), "job_id": Uuid(), "at": AT})
PROPOSAL_EVENT = Step(
    job_event, {"tenant_id": Uuid(), "owner_id": Uuid(), "kind": Text(), "proposal_id": Uuid(), "at": AT}
)


async def of_page(context: Any, page_id: str, initial: bool, **where: Any) -> Subscriber:
    return await watch_page(context, identifier(page_id), initial=initial)


async def of_wiki(context: Any, initial: bool, topic: Topic = Topic.PAGES, **where: Any) -> Subscriber:
    return await watch_wiki(context, await context.owner_named(where), initial=initial, topic=topic)


async def of_jobs(context: Any, **arguments: Any) -> Subscriber:
    return await of_wiki(context, topic=Topic.JOBS, **arguments)


async def of_proposals(context: Any, **arguments: Any) -> Subscriber:
    return await of_wiki(context, topic=Topic.PROPOSALS, **arguments)


@strawberry.type(description="All subscriptions, over a WebSocket or as server-sent events.")
class Subscription:
    @source(
        changes.visible_event, f"Changes of a page. {INITIAL}", access=EVENT_ACCESS, step=PAGE_EVENT, events=of_page
    )
    def wiki_page_changed(
        page_id: strawberry.ID, tenant_id: strawberry.ID | None = None, initial: bool = False
    ) -> WikiPageChange | None: ...

    @source(
        changes.visible_event, f"Changes of all pages of a wiki. {INITIAL}", access=EVENT_ACCESS, step=PAGE_EVENT,
        events=of_wiki,
    )  # fmt: skip
    def wiki_scope_changed(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
        initial: bool = False,
    ) -> WikiPageChange | None: ...

    @source(
        changes.visible_event, f"Changes of the compile jobs of a wiki. For admins. {INITIAL}",
        access=EVENT_ADMIN_ACCESS, step=JOB_EVENT, events=of_jobs,
    )  # fmt: skip
    def wiki_compile_job_changed(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
        initial: bool = False,
    ) -> WikiCompileJobChange | None: ...

    @source(
        relations.proposals.visible_event,
        f"Changes of the proposals of a wiki. Requires write access. {INITIAL}",
        access=EVENT_ACCESS, step=PROPOSAL_EVENT, events=of_proposals,
    )  # fmt: skip
    def wiki_proposal_changed(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
        initial: bool = False,
    ) -> WikiProposalChange | None: ...
