"""Moments that Postgres compares are moments of its own clock, however wrong the clock of a process is."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from compiler.models.meter import Budget
from compiler.models.models import Terms
from db.scope import Role
from resolvers.auth.api_keys import create_api_key, find_key, list_api_keys, rotate_api_key
from resolvers.auth.credentials import Credentials, Tokens
from resolvers.auth.oauth import AuthorizationRequest, Client, authorize, connected_programs, find_by_code
from resolvers.errors import NotFound, Unauthenticated
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.pages.sharing import find_shared, share_page
from resolvers.webhooks.webhooks import WebhookDraft, create_webhook, rotate_webhook_secret
from tests.clocks import set_clock
from tests.compiler.models.scripted import Oracle
from tests.compiler.story import compile_all, retain
from tests.wiki import Wiki

WRONG = pytest.mark.parametrize("hours", [-50, 50])


@pytest.fixture(autouse=True)
async def wrong(wiki: Wiki, hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, timedelta(hours=hours))


async def now(wiki: Wiki) -> datetime:
    found: datetime = await wiki.look.fetchval("SELECT clock_timestamp()")
    return found


@WRONG
async def test_a_rotated_secret_is_good_for_the_overlap(wiki: Wiki) -> None:
    tenant_id = wiki.scope.tenant_id
    first = await create_api_key(wiki.database, tenant_id, "import", Role.READER, [wiki.scope.owner_id])
    second = await rotate_api_key(wiki.database, tenant_id, first.id, timedelta(hours=1))
    assert second.former_until is not None
    assert timedelta() < second.former_until - await now(wiki) <= timedelta(hours=1)
    await find_key(wiki.database, first.key)
    await wiki.look.execute("UPDATE api_keys SET former_until = now() - interval '1 second'")
    with pytest.raises(Unauthenticated, match="rotated"):
        await find_key(wiki.database, first.key)


@WRONG
async def test_a_key_ends_at_its_moment(wiki: Wiki) -> None:
    issued = await create_api_key(wiki.database, wiki.scope.tenant_id, "import", Role.READER, [wiki.scope.owner_id])
    credentials = Credentials(wiki.database, Tokens())

    async def state() -> str:
        (key,) = await list_api_keys(wiki.database, wiki.scope.tenant_id)
        return key.state

    await wiki.look.execute("UPDATE api_keys SET expires_at = now() + interval '1 hour'")
    assert await state() == "active"
    assert await credentials.good_until(f"Bearer {issued.key}") > time.time()
    await wiki.look.execute("UPDATE api_keys SET expires_at = now() - interval '1 second'")
    assert await state() == "expired"
    with pytest.raises(Unauthenticated, match="expired"):
        await credentials.scope(f"Bearer {issued.key}")


@WRONG
async def test_a_share_link_leads_to_its_page_until_it_ends(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))).page_id
    issued = await share_page(wiki.database, wiki.scope, page_id)
    ends = await wiki.look.fetchval("SELECT expires_at FROM share_links")
    assert timedelta(days=29) < ends - await now(wiki) <= timedelta(days=30)
    await wiki.look.execute("UPDATE share_links SET expires_at = now() + interval '1 hour'")
    assert (await find_shared(wiki.database, issued.token))[1] == page_id
    await wiki.look.execute("UPDATE share_links SET expires_at = now() - interval '1 second'")
    with pytest.raises(NotFound):
        await find_shared(wiki.database, issued.token)


@WRONG
async def test_a_program_is_let_in_for_its_time(wiki: Wiki) -> None:
    request = AuthorizationRequest(
        Client("id", "Writer"), ("wiki:read",), "https://wiki.test/mcp", "http://127.0.0.1/back", True, "c" * 43
    )
    found = await find_by_code(wiki.database, await authorize(wiki.database, wiki.scope, request, "Mara"))
    assert found is not None
    assert timedelta() < found.code_expires_in <= timedelta(minutes=1)
    assert timedelta(days=89) < found.expires_in <= timedelta(days=90)
    await wiki.look.execute("UPDATE oauth_authorizations SET redeemed_at = now(), expires_at = now() + interval '1 h'")
    assert [one.client_name for one in await connected_programs(wiki.database, wiki.scope)] == ["Writer"]
    await wiki.look.execute("UPDATE oauth_authorizations SET expires_at = now() - interval '1 second'")
    assert await connected_programs(wiki.database, wiki.scope) == []


@WRONG
async def test_a_webhook_signs_with_its_former_secret_for_the_overlap(wiki: Wiki) -> None:
    tenant_id = wiki.scope.tenant_id
    made = await create_webhook(wiki.database, tenant_id, WebhookDraft("https://app.example.org/"))
    rotated = await rotate_webhook_secret(wiki.database, tenant_id, made.id, timedelta(hours=1))
    assert rotated.former_until is not None
    assert timedelta() < rotated.former_until - await now(wiki) <= timedelta(hours=1)


@WRONG
async def test_a_used_up_budget_puts_a_compile_off_until_the_next_day_of_postgres(wiki: Wiki) -> None:
    compiler = Oracle().compiler(Terms(budget=Budget(day_tokens=1)))
    await retain(wiki, "One.")
    await compile_all(wiki, compiler)
    today = (await now(wiki)).astimezone(UTC).date()
    assert (await wiki.row("model_usage"))["day"] == today
    other = await wiki.neighbour()
    await retain(other, "Two.")
    _, waiting = await compile_all(other, compiler)
    assert waiting["run_after"].date() == today + timedelta(days=1)
