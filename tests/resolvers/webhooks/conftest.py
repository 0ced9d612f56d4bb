"""Provides a webhook receiver, and a wiki whose writes are reviewed."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest

from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.resolvers.webhooks.proposals import BODY, REVIEW
from tests.resolvers.webhooks.receiver import Receiver, run_webhook_receiver
from tests.wiki import Wiki


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with run_webhook_receiver() as receiver:
        yield receiver


@pytest.fixture
async def page_id(wiki: Wiki) -> UUID:
    page = await create_page(wiki.database, wiki.scope, PageDraft("entity", "Harbour", body=BODY))
    await update_wiki_settings(wiki.database, wiki.scope, WikiSettings(write_policy=[REVIEW]))
    return page.page_id


@pytest.fixture
def ada(wiki: Wiki) -> Scope:
    """A member of the wiki whose writes are reviewed."""
    return replace(wiki.with_role(Role.MEMBER).scope, actor=Actor(ActorKind.AGENT, "ada"))
