"""Events of proposals are never sent above the ceiling of a webhook."""

from uuid import UUID

import pytest

from db.scope import Scope
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.proposals.proposals import (
    accept_proposal,
    decline_proposal,
)
from tests.resolvers.webhooks.proposals import (
    BODY,
    EVENTS,
    decline,
    expire_proposals_now,
    proposal_id_of,
    propose_edit,
    queued_kinds,
)
from tests.resolvers.webhooks.receiver import Receiver
from tests.resolvers.webhooks.sender import add_webhook
from tests.wiki import Wiki

CEILINGS = ("public", "internal", "confidential", "secret")


async def ceilings(wiki: Wiki, receiver: Receiver) -> dict[str, UUID]:
    """Create a webhook of each ceiling for all events of proposals."""
    return {ceiling: (await add_webhook(wiki, receiver, kinds=EVENTS, ceiling=ceiling)).id for ceiling in CEILINGS}


async def event_counts(wiki: Wiki, webhooks: dict[str, UUID]) -> dict[str, int]:
    return {ceiling: len(await queued_kinds(wiki, id)) for ceiling, id in webhooks.items()}


@pytest.mark.parametrize(
    ("level", "recipients"), [(None, 3), ("public", 4), ("confidential", 2), ("Secret", 1), ("nonsense", 1), ("", 3)]
)
async def test_a_proposal_for_a_new_page_has_the_level_of_its_draft(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver, level: str | None, recipients: int
) -> None:
    webhooks = await ceilings(wiki, receiver)
    metadata = None if level is None else {"sensitivity": level}
    for decide in (accept_proposal, decline):
        title = decide.__name__
        proposal_id = await proposal_id_of(
            create_page(wiki.database, ada, PageDraft("topic", title, metadata=metadata))
        )
        await decide(wiki.database, wiki.scope, proposal_id)
    proposal_id = await proposal_id_of(create_page(wiki.database, ada, PageDraft("topic", "Late", metadata=metadata)))
    assert await expire_proposals_now(wiki, proposal_id) == 1
    assert await event_counts(wiki, webhooks) == dict(
        zip(CEILINGS, [0] * (4 - recipients) + [6] * recipients, strict=True)
    )


@pytest.mark.parametrize(("before", "after"), [("secret", "public"), ("public", "secret")])
async def test_the_stricter_of_old_and_new_level_applies_to_a_proposal(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver, before: str, after: str
) -> None:
    """A page that was secret or is to become secret is only sent to webhooks with the ceiling secret."""
    draft = PageDraft("entity", "Vault", metadata={"sensitivity": before})
    page = await create_page(wiki.database, wiki.scope, draft)
    webhooks = await ceilings(wiki, receiver)
    metadata = {"sensitivity": after}
    for decide in (decline, accept_proposal):
        proposal_id = await proposal_id_of(update_page(wiki.database, ada, page.page_id, metadata=metadata))
        await decide(wiki.database, wiki.scope, proposal_id)
    assert (await wiki.page(page.page_id))["metadata"] == metadata
    assert await event_counts(wiki, webhooks) == {"public": 0, "internal": 0, "confidential": 0, "secret": 4}


async def test_decisions_on_a_page_that_became_secret_need_the_ceiling_secret(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    webhooks = await ceilings(wiki, receiver)
    first, second = await propose_edit(wiki, ada, page_id), await propose_edit(wiki, ada, page_id, "eight")
    await update_page(wiki.database, wiki.scope, page_id, metadata={"sensitivity": "secret"})
    await decline_proposal(wiki.database, wiki.scope, first, "No.")
    assert await expire_proposals_now(wiki, second) == 1
    assert await event_counts(wiki, webhooks) == {"public": 0, "internal": 2, "confidential": 2, "secret": 4}


async def test_a_proposed_merge_has_the_level_of_the_stricter_page(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    vault = PageDraft("entity", "Vault", metadata={"sensitivity": "secret"})
    other = await create_page(wiki.database, wiki.scope, vault)
    webhooks = await ceilings(wiki, receiver)
    await decline(
        wiki.database, wiki.scope, await proposal_id_of(merge_pages(wiki.database, ada, other.page_id, page_id))
    )
    assert await event_counts(wiki, webhooks) == {"public": 0, "internal": 0, "confidential": 0, "secret": 2}


async def test_a_section_can_be_more_sensitive_than_its_page(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    body = f"{BODY}\n\n## Codes {{sensitivity=confidential}}\n\nSix of them."
    await update_page(wiki.database, wiki.scope, page_id, body=body)
    webhooks = await ceilings(wiki, receiver)
    await decline(wiki.database, wiki.scope, await propose_edit(wiki, ada, page_id))
    assert await event_counts(wiki, webhooks) == {"public": 0, "internal": 0, "confidential": 2, "secret": 2}


async def test_a_proposal_of_an_older_release_counts_as_secret(
    wiki: Wiki, ada: Scope, page_id: UUID, receiver: Receiver
) -> None:
    """Its sensitivity is unknown, so only webhooks with the ceiling secret get it."""
    proposal_id = await propose_edit(wiki, ada, page_id)
    await wiki.connection.execute("UPDATE proposals SET sensitivity = NULL WHERE id = $1", proposal_id)
    webhooks = await ceilings(wiki, receiver)
    await decline(wiki.database, wiki.scope, proposal_id)
    assert await event_counts(wiki, webhooks) == {"public": 0, "internal": 0, "confidential": 0, "secret": 1}
