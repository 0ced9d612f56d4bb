"""Subscriptions: each event is shown by one compiled statement, with the caller's rights at that moment."""

from datetime import datetime
from typing import Any

import strawberry
from sqlalchemy import DateTime, Integer, Text, Uuid

from db import relations
from db.access import HAPPENED, HAPPENED_AS_ADMIN
from resolvers.subscriptions.changes import Topic
from resolvers.subscriptions.feed import Subscriber, watch_page, watch_wiki
from selection import Step
from selection.declare.arguments import identifier

from .enums import WikiChangeKind
from .fields import OlderOwner, OwnerName, column, relation, source
from .jobs import WikiCompileJob
from .pages.pages import WikiPage
from .pages.proposals import WikiProposal
from .search.search_rows import owner_named

changes = relations.pages
INITIAL = "With `initial` a RESYNC comes first: what is read from then on misses nothing."


@strawberry.type(description="Something that happened to a page, or to a wiki as a whole.")
class WikiPageChange:
    kind: WikiChangeKind = column("What happened.")
    page_id: strawberry.ID | None = column("The page that it happened to; null when it was the wiki as a whole.")
    version: int | None = column("The version that the page had then, where it is known.")
    at: datetime = column("When.")
    page: WikiPage | None = relation(changes.page, "The page as it is now; null when there is none any more.")


@strawberry.type(description="That a compile job was made or came further.")
class WikiCompileJobChange:
    kind: WikiChangeKind = column("CREATED, UPDATED or RESYNC.")
    job_id: strawberry.ID | None = column("The job; null with RESYNC.")
    at: datetime = column("When.")
    job: WikiCompileJob | None = relation(changes.job, "The job as it is now.")


@strawberry.type(description="That a proposal was made or decided.")
class WikiProposalChange:
    kind: WikiChangeKind = column("CREATED, UPDATED or RESYNC.")
    proposal_id: strawberry.ID | None = column("The proposal; null with RESYNC.")
    at: datetime = column("When.")
    proposal: WikiProposal | None = relation(relations.proposals.of_event, "The proposal as it is now.")


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
    return await watch_wiki(context, await owner_named(context, where), initial=initial, topic=topic)


async def of_jobs(context: Any, **arguments: Any) -> Subscriber:
    return await of_wiki(context, topic=Topic.JOBS, **arguments)


async def of_proposals(context: Any, **arguments: Any) -> Subscriber:
    return await of_wiki(context, topic=Topic.PROPOSALS, **arguments)


@strawberry.type(description="What can be followed, over a WebSocket or as server-sent events.")
class Subscription:
    @source(
        changes.visible_event, f"What happens to a page. {INITIAL}", access=HAPPENED, step=PAGE_EVENT, events=of_page
    )
    def wiki_page_changed(
        page_id: strawberry.ID, tenant_id: strawberry.ID | None = None, initial: bool = False
    ) -> WikiPageChange | None: ...

    @source(
        changes.visible_event, f"What happens to any page of a wiki. {INITIAL}", access=HAPPENED, step=PAGE_EVENT,
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
        changes.visible_event, f"How the compile jobs of a wiki come along; for admins. {INITIAL}",
        access=HAPPENED_AS_ADMIN, step=JOB_EVENT, events=of_jobs,
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
        f"What becomes of the proposals of a wiki, for those who may write in it. {INITIAL}",
        access=HAPPENED, step=PROPOSAL_EVENT, events=of_proposals,
    )  # fmt: skip
    def wiki_proposal_changed(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
        initial: bool = False,
    ) -> WikiProposalChange | None: ...
