"""Events of proposals for the webhooks that name them: in order, and never above their ceiling."""

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest

from db.scope import Actor, ActorKind, Role, Scope, Terms
from resolvers.archives.erasing import erase_owner
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_scope, create_page, delete_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.transferring import transfer_page
from resolvers.proposals.proposals import (
    Decision,
    accept_proposal,
    decide_proposals,
    decline_proposal,
    propose_change,
    withdraw_proposal,
)
from resolvers.subscriptions.changes import ANNOUNCED_MAX, ChangeKind
from resolvers.transactions.outbox import ProposalKind, queue_deliveries
from resolvers.transactions.transaction import writing
from resolvers.webhooks.webhooks import list_deliveries, redeliver
from tests.resolvers.webhooks.proposals import (
    EVENTS,
    decline,
    expire_proposals_now,
    proposal_id_of,
    propose_edit,
    queued_kinds,
)
from tests.resolvers.webhooks.receiver import Receiver
from tests.resolvers.webhooks.sender import add_webhook, sender, wait_for_deliveries
from tests.wiki import Wiki


async def test_proposal_events_are_signed_and_describe_the_proposal(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    issued = await add_webhook(wiki, receiver, kinds=EVENTS)
    accepted = await propose_edit(wiki, ada, page_id)
    await accept_proposal(wiki.database, wiki.scope, accepted, reason="Seen at the pier.")
    declined = await propose_edit(wiki, ada, page_id, "eight", "seven")
    await decline_proposal(wiki.database, wiki.scope, declined, "Nobody saw it.")
    withdrawn = await propose_edit(wiki, ada, page_id, "nine", "seven")
    await withdraw_proposal(wiki.database, ada, withdrawn, "My mistake.")
    expired = await propose_edit(wiki, ada, page_id, "ten", "seven")
    assert await expire_proposals_now(wiki, expired) == 1
    async with sender(wiki.database):
        rows = await wait_for_deliveries(wiki, issued.id, "delivered")
    bodies = receiver.bodies()
    assert all(delivery["is_signed"] for delivery in receiver.received)
    assert [delivery["id"] for delivery in receiver.received] == [str(row["id"]) for row in rows]
    assert [(body["type"], body["data"]["proposal"]["id"], body["data"]["proposal"]["reason"]) for body in bodies] == [
        ("proposal.created", str(accepted), None),
        ("proposal.accepted", str(accepted), "Seen at the pier."),
        ("proposal.created", str(declined), None),
        ("proposal.declined", str(declined), "Nobody saw it."),
        ("proposal.created", str(withdrawn), None),
        ("proposal.withdrawn", str(withdrawn), "My mistake."),
        ("proposal.created", str(expired), None),
        ("proposal.expired", str(expired), None),
    ]
    tenant = await wiki.connection.fetchval("SELECT slug FROM tenants WHERE tenant_id = $1", wiki.scope.tenant_id)
    owner = await wiki.connection.fetchval("SELECT slug FROM owners WHERE id = $1", wiki.scope.owner_id)
    proposal = {
        "id": str(accepted), "operation": "edit_page", "significance": "medium", "authorKind": "agent",
        "authorId": "ada", "reason": "Seen at the pier.",
    }  # fmt: skip
    assert bodies[1]["data"] == {
        "tenant": tenant, "owner": owner, "kind": "accepted", "pageId": str(page_id), "type": "entity",
        "slug": "harbour", "version": 2, "proposal": proposal,
    }  # fmt: skip
    assert bodies[0]["data"]["version"] is None
    assert bodies[0]["timestamp"] == rows[0]["happened_at"].isoformat()
    assert "seven" not in str(bodies), "nothing is told of what was proposed"


async def test_a_webhook_without_kinds_gets_no_proposal_events(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    """Webhooks of an older release must not get events that they do not know."""
    everything, created = await add_webhook(wiki, receiver), await add_webhook(wiki, receiver, kinds=["created"])
    await accept_proposal(wiki.database, wiki.scope, await propose_edit(wiki, ada, page_id))
    proposal_id = await proposal_id_of(create_page(wiki.database, ada, PageDraft("topic", "Pier")))
    await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert await queued_kinds(wiki, everything.id) == ["updated", "created"]
    assert await queued_kinds(wiki, created.id) == ["created"]


async def test_proposal_accepted_is_sent_after_the_changes_of_the_proposal(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    issued = await add_webhook(wiki, receiver, kinds=[*EVENTS, "created", "updated", "archived"])
    other = await create_page(wiki.database, wiki.scope, PageDraft("entity", "Port", body="Ships."))
    merge = await proposal_id_of(merge_pages(wiki.database, ada, other.page_id, page_id))
    await accept_proposal(wiki.database, wiki.scope, merge)
    creation = await proposal_id_of(create_page(wiki.database, ada, PageDraft("topic", "Pier")))
    done = await accept_proposal(wiki.database, wiki.scope, creation)
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    events = receiver.events()
    assert events[:2] == [("page.created", "port", 1), ("proposal.created", events[1][1], None)]
    assert sorted(events[2:4]) == [("page.archived", "port-merged", 2), ("page.updated", "harbour", 2)]
    assert events[4:] == [
        ("proposal.accepted", events[1][1], events[4][2]),
        ("proposal.created", None, None),
        ("page.created", "pier", 1),
        ("proposal.accepted", "pier", 1),
    ]
    assert [body["data"]["pageId"] for body in receiver.bodies()[-3:]] == [None, str(done.page_id), str(done.page_id)]


async def test_a_rolled_back_decision_sends_nothing(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = await add_webhook(wiki, receiver, kinds=EVENTS)
    proposal_id = await propose_edit(wiki, ada, page_id)

    def broken(*_: object) -> object:
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr("resolvers.proposals.proposals.written_version", broken)
        with pytest.raises(RuntimeError):
            await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert await queued_kinds(wiki, issued.id) == ["proposal.created"]


async def test_each_event_of_a_proposal_is_sent_once(wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver) -> None:
    issued = await add_webhook(wiki, receiver, kinds=EVENTS)
    first = await propose_edit(wiki, ada, page_id)
    assert await propose_edit(wiki, ada, page_id) == first
    outcomes = await decide_proposals(wiki.database, wiki.scope, [first, first], Decision.ACCEPT)
    assert [outcome.error is None for outcome in outcomes] == [True, False]
    assert await queued_kinds(wiki, issued.id) == ["proposal.created", "proposal.accepted"]


async def test_each_webhook_gets_only_the_proposal_events_it_subscribed_to(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    other = await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, "other", "Other")
    accepted = await add_webhook(wiki, receiver, kinds=["proposal.accepted"])
    topics = await add_webhook(wiki, receiver, kinds=EVENTS, types=["topic"])
    entities = await add_webhook(wiki, receiver, kinds=EVENTS, types=["entity"])
    theirs = await add_webhook(wiki, receiver, kinds=EVENTS, owner_ids=[other.id])
    await accept_proposal(wiki.database, wiki.scope, await propose_edit(wiki, ada, page_id))
    await decline_proposal(
        wiki.database,
        wiki.scope,
        await proposal_id_of(create_page(wiki.database, ada, PageDraft("topic", "Pier"))),
        "No.",
    )
    assert await queued_kinds(wiki, accepted.id) == ["proposal.accepted"]
    assert await queued_kinds(wiki, topics.id) == ["proposal.created", "proposal.declined"]
    assert await queued_kinds(wiki, entities.id) == ["proposal.created", "proposal.accepted"]
    assert await queued_kinds(wiki, theirs.id) == []


async def test_proposals_about_a_whole_wiki_ignore_the_types_of_a_webhook(
    wiki: Wiki, page_id: UUID, receiver: Receiver
) -> None:
    issued = await add_webhook(wiki, receiver, kinds=EVENTS, types=["topic"])
    terms = Terms("It is done.")
    await propose_change(wiki.database, wiki.scope, terms, lambda scope: archive_scope(wiki.database, scope))
    assert await queued_kinds(wiki, issued.id) == ["proposal.created"]


async def test_events_of_a_proposed_deletion_have_the_type_of_the_page(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    issued = await add_webhook(wiki, receiver, kinds=[*EVENTS, "deleted"], types=["entity"])
    admin = replace(wiki.scope, actor=Actor(ActorKind.USER, "ben"))
    terms = Terms("It is gone.")
    deletion = await propose_change(
        wiki.database, admin, terms, lambda scope: delete_page(wiki.database, scope, page_id)
    )
    assert deletion.proposal_id is not None
    await accept_proposal(wiki.database, wiki.scope, deletion.proposal_id)
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    assert [(body["type"], body["data"]["pageId"], body["data"]["type"]) for body in receiver.bodies()] == [
        ("proposal.created", str(page_id), "entity"),
        ("page.deleted", str(page_id), "entity"),
        ("proposal.accepted", str(page_id), "entity"),
    ]
    assert receiver.bodies()[-1]["data"]["proposal"]["operation"] == "delete_page"


@pytest.mark.parametrize("is_proposed", [True, False])
async def test_proposals_about_a_deleted_page_expire(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver, is_proposed: bool
) -> None:
    issued = await add_webhook(wiki, receiver, kinds=[ProposalKind.ACCEPTED, ProposalKind.EXPIRED, "deleted"])
    waiting = await propose_edit(wiki, ada, page_id)
    if is_proposed:
        admin = replace(wiki.scope, actor=Actor(ActorKind.USER, "ben"))
        deletion = await propose_change(
            wiki.database, admin, Terms("Gone."), lambda s: delete_page(wiki.database, s, page_id)
        )
        assert deletion.proposal_id is not None
        await accept_proposal(wiki.database, wiki.scope, deletion.proposal_id)
    else:
        await delete_page(wiki.database, wiki.scope, page_id)
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    bodies = receiver.bodies()
    accepted = ["proposal.accepted"] if is_proposed else []
    assert [body["type"] for body in bodies] == ["page.deleted", "proposal.expired", *accepted]
    assert (bodies[1]["data"]["proposal"]["id"], bodies[1]["data"]["type"]) == (str(waiting), "entity")
    assert "proposal.expired" in await wiki.actions()


async def test_proposals_about_a_transferred_page_expire(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    issued = await add_webhook(wiki, receiver, kinds=[*EVENTS, "deleted"])
    other = await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, "other", "Other")
    proposal_id = await propose_edit(wiki, ada, page_id)
    await transfer_page(wiki.database, wiki.scope, page_id, other.id)
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    assert [(body["type"], body["data"]["pageId"]) for body in receiver.bodies()] == [
        ("proposal.created", str(page_id)),
        ("page.deleted", str(page_id)),
        ("proposal.expired", str(page_id)),
    ]
    proposal = receiver.bodies()[-1]["data"]["proposal"]
    assert (proposal["id"], proposal["reason"]) == (str(proposal_id), "The page was transferred to another wiki.")


async def test_resync_is_not_sent_to_webhooks_of_proposals_only(wiki: Wiki, receiver: Receiver) -> None:
    proposals, both = (
        await add_webhook(wiki, receiver, kinds=EVENTS),
        await add_webhook(wiki, receiver, kinds=[*EVENTS, "created"]),
    )
    async with writing(wiki.database, wiki.scope) as writer:
        for number in range(ANNOUNCED_MAX + 1):
            writer.changes.add(ChangeKind.UPDATED, UUID(int=number))
        await queue_deliveries(writer)
        writer.changes.found.clear()  # there are no such pages
    assert await queued_kinds(wiki, proposals.id) == []
    assert await queued_kinds(wiki, both.id) == ["resync"]


async def test_a_proposal_event_is_retried_and_redelivered_with_the_same_id(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    receiver.statuses = [500]
    issued = await add_webhook(wiki, receiver, kinds=EVENTS)
    await propose_edit(wiki, ada, page_id)
    async with sender(wiki.database):
        async with asyncio.timeout(60):
            while not receiver.attempts:
                await asyncio.sleep(0.02)
            while not await wiki.connection.fetchval("SELECT due_at > now() + interval '1s' FROM webhook_queues"):
                await asyncio.sleep(0.02)
        assert receiver.received == []
        await wiki.connection.execute("UPDATE webhook_queues SET due_at = now()")
        (row,) = await wait_for_deliveries(wiki, issued.id, "delivered")
        tenant_id = wiki.scope.tenant_id
        (delivery,) = await list_deliveries(wiki.database, tenant_id, issued.id)
        assert (delivery.event, delivery.kind, delivery.attempts) == ("proposal.created", "created", 2)
        assert await redeliver(wiki.database, tenant_id, issued.id, row["id"]) == 1
        async with asyncio.timeout(60):
            while len(receiver.received) < 2:
                await asyncio.sleep(0.02)
    first, again = receiver.received
    assert first == again
    assert (first["id"], first["body"]["type"]) == (str(row["id"]), "proposal.created")


async def test_proposal_events_are_queued_in_the_order_of_commits(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    """No position is used twice, no write deadlocks, and each proposal is created before it is decided."""
    webhooks = [
        await add_webhook(wiki, receiver, kinds=EVENTS),
        await add_webhook(wiki, receiver, kinds=[*EVENTS, "created"]),
    ]

    async def work(number: int) -> None:
        proposal_id = await proposal_id_of(create_page(wiki.database, ada, PageDraft("topic", f"Page {number}")))
        decide = accept_proposal if number % 2 else decline
        await decide(wiki.database, wiki.scope, proposal_id)
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Other {number}"))

    await asyncio.gather(*map(work, range(8)))
    for issued in webhooks:
        rows = await wiki.rows("webhook_deliveries", "position", webhook_id=issued.id)
        assert [row["position"] for row in rows] == [*range(1, len(rows) + 1)]
        events: dict[UUID, list[str]] = {}
        for row in rows:
            if row["proposal_id"]:
                events.setdefault(row["proposal_id"], []).append(row["kind"])
        assert len(events) == 8
        assert all(len(kinds) == 2 and kinds[0] == "proposal.created" for kinds in events.values())


async def test_erasing_an_author_removes_their_id_from_queued_events(
    wiki: Wiki, page_id: UUID, receiver: Receiver, dsn: str
) -> None:
    """The author has proposed a change in another owner's wiki."""
    await add_webhook(wiki, receiver, kinds=EVENTS)
    person = (await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, "ada", "Ada")).id
    author = replace(wiki.with_role(Role.MEMBER).scope, actor=Actor(ActorKind.USER, str(person)))
    await propose_edit(wiki, author, page_id)
    assert (await wiki.row("webhook_deliveries"))["author_id"] == str(person)
    await erase_owner(dsn, str(wiki.scope.tenant_id), str(person), "operator:test", dry_run=False)
    assert (await wiki.row("webhook_deliveries"))["author_id"] == "erased"
