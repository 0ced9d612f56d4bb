"""Times that Postgres compares are from its own clock, however wrong the clock of a process is."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from compiler.jobs.periodic import RetentionCheck
from compiler.models import models
from compiler.models.meter import Budget
from db.ids import first_id
from db.scope import Role, Scope
from resolvers.auth.api_keys import create_api_key, find_key, list_api_keys, rotate_api_key
from resolvers.auth.credentials import Credentials, Tokens
from resolvers.auth.oauth import AuthorizationRequest, Client, authorize, find_by_code, find_programs
from resolvers.errors import Conflict, NotFound, Unauthenticated
from resolvers.idempotency import KEPT_FOR, Attempt, forget_answers
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.pages.sharing import find_shared, share_page
from resolvers.proposals.gate import DAYS, Terms
from resolvers.proposals.proposals import accept_proposal, expire_proposals, propose_change
from resolvers.transactions.outbox import RETRIED_FOR
from resolvers.transactions.transaction import transaction
from resolvers.webhooks.webhooks import WebhookDraft, create_webhook, rotate_webhook_secret
from tests.clocks import set_clock
from tests.compiler.models.scripted_model import ScriptedModel
from tests.compiler.scripted_compiler import compile_all, retain_texts
from tests.wiki import Wiki

HOUR = timedelta(hours=1)
WRONG = pytest.mark.parametrize("hours", [-50, 50])


@pytest.fixture(autouse=True)
async def wrong(wiki: Wiki, hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, timedelta(hours=hours))


async def now(wiki: Wiki) -> datetime:
    found: datetime = await wiki.connection.fetchval("SELECT clock_timestamp()")
    return found


@WRONG
async def test_the_former_api_key_is_valid_during_the_overlap(wiki: Wiki) -> None:
    tenant_id = wiki.scope.tenant_id
    first = await create_api_key(wiki.database, tenant_id, "import", Role.READER, [wiki.scope.owner_id])
    second = await rotate_api_key(wiki.database, tenant_id, first.id, timedelta(hours=1))
    assert second.former_until is not None
    assert timedelta() < second.former_until - await now(wiki) <= timedelta(hours=1)
    await find_key(wiki.database, first.key)
    await wiki.connection.execute("UPDATE api_keys SET former_until = now() - interval '1 second'")
    with pytest.raises(Unauthenticated, match="rotated"):
        await find_key(wiki.database, first.key)


@WRONG
async def test_an_api_key_expires_on_time(wiki: Wiki) -> None:
    issued = await create_api_key(wiki.database, wiki.scope.tenant_id, "import", Role.READER, [wiki.scope.owner_id])
    credentials = Credentials(wiki.database, Tokens())

    async def state() -> str:
        (key,) = await list_api_keys(wiki.database, wiki.scope.tenant_id)
        return key.state

    await wiki.connection.execute("UPDATE api_keys SET expires_at = now() + interval '1 hour'")
    assert await state() == "active"
    assert await credentials.valid_until(f"Bearer {issued.key}") > time.time()
    await wiki.connection.execute("UPDATE api_keys SET expires_at = now() - interval '1 second'")
    assert await state() == "expired"
    with pytest.raises(Unauthenticated, match="expired"):
        await credentials.scope(f"Bearer {issued.key}")


@WRONG
async def test_a_share_link_is_valid_until_it_expires(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))).page_id
    issued = await share_page(wiki.database, wiki.scope, page_id)
    ends = await wiki.connection.fetchval("SELECT expires_at FROM share_links")
    assert timedelta(days=29) < ends - await now(wiki) <= timedelta(days=30)
    await wiki.connection.execute("UPDATE share_links SET expires_at = now() + interval '1 hour'")
    assert (await find_shared(wiki.database, issued.token))[1] == page_id
    await wiki.connection.execute("UPDATE share_links SET expires_at = now() - interval '1 second'")
    with pytest.raises(NotFound):
        await find_shared(wiki.database, issued.token)


@WRONG
async def test_a_program_is_authorised_for_a_limited_time(wiki: Wiki) -> None:
    request = AuthorizationRequest(
        Client("id", "Writer"), ("wiki:read",), "https://wiki.test/mcp", "http://127.0.0.1/back", True, "c" * 43
    )
    found = await find_by_code(wiki.database, await authorize(wiki.database, wiki.scope, request, "Mara"))
    assert found is not None
    assert timedelta() < found.code_expires_in <= timedelta(minutes=1)
    assert timedelta(days=89) < found.expires_in <= timedelta(days=90)
    await wiki.connection.execute(
        "UPDATE oauth_authorizations SET redeemed_at = now(), expires_at = now() + interval '1 h'"
    )
    assert [program.client_name for program in await find_programs(wiki.database, wiki.scope)] == ["Writer"]
    await wiki.connection.execute("UPDATE oauth_authorizations SET expires_at = now() - interval '1 second'")
    assert await find_programs(wiki.database, wiki.scope) == []


@WRONG
async def test_the_former_webhook_secret_is_valid_during_the_overlap(wiki: Wiki) -> None:
    tenant_id = wiki.scope.tenant_id
    webhook = await create_webhook(wiki.database, tenant_id, WebhookDraft("https://app.example.org/"))
    rotated = await rotate_webhook_secret(wiki.database, tenant_id, webhook.id, timedelta(hours=1))
    assert rotated.former_until is not None
    assert timedelta() < rotated.former_until - await now(wiki) <= timedelta(hours=1)


@WRONG
async def test_a_webhook_delivery_is_due_at_once_and_retried_for_days(wiki: Wiki) -> None:
    await create_webhook(wiki.database, wiki.scope.tenant_id, WebhookDraft("https://app.example.org/"))
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))
    assert await wiki.connection.fetchval("SELECT due_at BETWEEN now() - interval '1 h' AND now() FROM webhook_queues")
    ends = await wiki.connection.fetchval("SELECT retry_until FROM webhook_deliveries")
    assert timedelta() < ends - await now(wiki) <= RETRIED_FOR


@WRONG
async def test_a_proposal_is_open_until_it_expires(wiki: Wiki) -> None:
    ada = replace(wiki.scope, role=Role.MEMBER)

    async def write(scope: Scope) -> None:
        await create_page(wiki.database, scope, PageDraft("topic", "Austin"))

    proposal_id = (await propose_change(wiki.database, ada, Terms(why="It is missing."), write)).proposal_id
    assert proposal_id is not None
    ends = (await wiki.row("proposals", id=proposal_id))["expires_at"]
    assert timedelta() < ends - await now(wiki) <= timedelta(days=max(DAYS.values()))
    await wiki.connection.execute("UPDATE proposals SET expires_at = now() + interval '1 hour'")
    assert await expire_proposals(wiki.database) == 0
    await wiki.connection.execute("UPDATE proposals SET expires_at = now() - interval '1 second'")
    with pytest.raises(Conflict):
        await accept_proposal(wiki.database, wiki.scope, proposal_id)
    assert await expire_proposals(wiki.database) == 1


@WRONG
async def test_an_idempotent_response_is_kept_for_its_period(wiki: Wiki) -> None:
    attempt = Attempt(wiki.scope, "k-1", {})
    async with transaction(wiki.database) as connection:
        await attempt.keep(connection, b"{}")
    await wiki.connection.execute("UPDATE idempotency_keys SET created_at = now() - $1::interval", KEPT_FOR - HOUR)
    assert await attempt.look(wiki.database) == b"{}"
    assert await forget_answers(wiki.database) == 0
    await wiki.connection.execute("UPDATE idempotency_keys SET created_at = now() - $1::interval", KEPT_FOR + HOUR)
    assert await attempt.look(wiki.database) is None
    async with transaction(wiki.database) as connection:
        await attempt.keep(connection, b"[]")
    assert await attempt.look(wiki.database) == b"[]"
    await wiki.connection.execute("UPDATE idempotency_keys SET created_at = now() - $1::interval", KEPT_FOR + HOUR)
    assert await forget_answers(wiki.database) == 1


@WRONG
async def test_the_activity_log_is_kept_for_the_retention_period(wiki: Wiki) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))
    for age, expected in ((timedelta(hours=23), 1), (timedelta(hours=25), 0)):
        await wiki.connection.execute("UPDATE activity SET id = $1", first_id(await now(wiki) - age))
        await RetentionCheck(keep_days=1, every=3600).run_if_due(wiki.database)
        assert len(await wiki.rows("activity")) == expected


@WRONG
async def test_a_used_up_budget_delays_a_compile_to_the_next_day_of_postgres(wiki: Wiki) -> None:
    compiler = ScriptedModel().compiler(models.Terms(budget=Budget(day_tokens=1)))
    await retain_texts(wiki, "One.")
    await compile_all(wiki, compiler)
    today = (await now(wiki)).astimezone(UTC).date()
    assert (await wiki.row("model_usage"))["day"] == today
    other = await wiki.neighbour()
    await retain_texts(other, "Two.")
    _, waiting = await compile_all(other, compiler)
    assert waiting["run_after"].date() == today + timedelta(days=1)
