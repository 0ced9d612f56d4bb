"""The audit log: which events are recorded for whom, and that a flood of refusals adds few rows."""

import asyncio
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from db.database import Database
from db.scope import Actor, ActorKind, Role
from observability.trace import CLIENT_ADDRESS
from resolvers.archives.retention import prune
from resolvers.auth.api_keys import KeyLimits, create_api_key, list_api_keys, revoke_api_key, rotate_api_key
from resolvers.auth.credentials import Credentials, Tokens
from resolvers.auth.owners import Grant, grant, revoke
from resolvers.errors import BadInput, Forbidden, NoCredential, NotFound, Unauthenticated
from resolvers.transactions import audit
from resolvers.transactions.audit import MAX_REFUSALS, OPERATORS_LOG, list_events
from tests.waiting import within

MARA = Actor(ActorKind.USER, "mara")
UNKNOWN = "Bearer cairn_" + "x" * 43


@pytest.fixture
def address() -> None:
    CLIENT_ADDRESS.set("203.0.113.7")


async def recorded_events(database: Database, tenant_id: UUID, **filters: str) -> list[tuple[str, str, int]]:
    events = await list_events(database, tenant_id, **filters)
    return [(event.action, event.outcome, event.times) for event in events]


async def test_an_action_is_recorded_with_its_actor(
    database: Database, tenant_id: UUID, mara_id: UUID, ines_id: UUID, address: None
) -> None:
    issued = await create_api_key(database, tenant_id, "import", Role.READER, [mara_id], by=MARA)
    await grant(database, tenant_id, owner_id=mara_id, grantee_id=ines_id, role=Grant.READER, by=MARA)
    assert await revoke(database, tenant_id, owner_id=mara_id, grantee_id=ines_id, by=MARA)
    assert not await revoke(database, tenant_id, owner_id=mara_id, grantee_id=ines_id, by=MARA)
    found = await list_events(database, tenant_id, actor_id="mara")
    assert [event.action for event in found] == ["api_key.created", "grant.saved", "grant.removed"]
    created = found[0]
    assert (created.actor_kind, created.subject, created.address) == ("user", str(issued.id), "203.0.113.7")
    assert issued.key not in str(found)
    assert await recorded_events(database, tenant_id, action="api_key") == [("api_key.created", "done", 1)]


async def test_a_failed_action_records_no_event(database: Database, tenant_id: UUID, mara_id: UUID) -> None:
    before = await recorded_events(database, tenant_id)
    with pytest.raises(NotFound):
        await revoke_api_key(database, tenant_id, mara_id)
    with pytest.raises(BadInput):
        await grant(database, tenant_id, owner_id=mara_id, grantee_id=mara_id, role=Grant.READER)
    assert await recorded_events(database, tenant_id) == before


async def test_a_flood_of_refusals_adds_few_events(database: Database, address: None) -> None:
    credentials, before = Credentials(database, Tokens()), len(await recorded_events(database, OPERATORS_LOG))
    for number in range(300):
        CLIENT_ADDRESS.set(f"203.0.113.{number % 256}")
        with pytest.raises(Unauthenticated):
            await credentials.scope(UNKNOWN)
    with pytest.raises(NoCredential):
        await credentials.scope(None)
    assert len(await recorded_events(database, OPERATORS_LOG)) == before, (
        "a request with a refused credential writes nothing"
    )
    await credentials.log.store()
    found = (await recorded_events(database, OPERATORS_LOG))[before:]
    assert len(found) == MAX_REFUSALS + 1
    assert sum(times for *_, times in found) == 300
    await credentials.log.store()
    assert len(await recorded_events(database, OPERATORS_LOG)) == before + MAX_REFUSALS + 1


HELD_COMMIT = """
SELECT pg_advisory_lock(1);
CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER held AFTER INSERT ON audit_events DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION held();
"""
WAITING_FOR_THIS = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"


async def test_refusals_that_are_stored_while_the_service_stops_are_stored_once(
    database: Database, tenant_id: UUID, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "STORE_INTERVAL", 0.01)
    log = audit.CredentialLog(database)
    log.refuse("It is unknown.", tenant_id=tenant_id)
    storing, holder = log.storing(), await asyncpg.connect(dsn)
    try:
        await holder.execute(HELD_COMMIT)
        await storing.__aenter__()
        async with within("nothing was stored"):
            while not await holder.fetchval(WAITING_FOR_THIS):
                await asyncio.sleep(0.01)
        stopping = asyncio.create_task(storing.__aexit__(None, None, None))
        await asyncio.sleep(0)
        await holder.execute("SELECT pg_advisory_unlock(1)")
        await stopping
        await holder.execute("DROP FUNCTION held CASCADE")
    finally:
        await holder.close()
    assert await recorded_events(database, tenant_id, outcome="refused") == [("credential", "refused", 1)]


async def test_a_refused_key_is_recorded_in_the_log_of_its_tenant(
    database: Database, tenant_id: UUID, mara_id: UUID, address: None
) -> None:
    issued = await create_api_key(database, tenant_id, "import", Role.READER, [mara_id])
    await revoke_api_key(database, tenant_id, issued.id)
    credentials = Credentials(database, Tokens())
    for _ in range(3):
        with pytest.raises(Unauthenticated, match="revoked"):
            await credentials.scope(f"Bearer {issued.key}")
    await credentials.log.store()
    (event,) = await list_events(database, tenant_id, outcome="refused")
    assert (event.action, event.subject, event.times) == ("api_key.used", str(issued.id), 3)
    assert event.detail == {"reason": "The API key has been revoked."}


async def test_the_use_of_a_key_is_stored_later_and_once_a_minute(
    database: Database, tenant_id: UUID, mara_id: UUID
) -> None:
    issued = await create_api_key(database, tenant_id, "import", Role.READER, [mara_id])
    credentials = Credentials(database, Tokens())
    await credentials.scope(f"Bearer {issued.key}")
    assert (await list_api_keys(database, tenant_id))[0].used_at is None
    await credentials.log.store()
    first = (await list_api_keys(database, tenant_id))[0].used_at
    assert first is not None
    await credentials.scope(f"Bearer {issued.key}")
    await credentials.log.store()
    assert (await list_api_keys(database, tenant_id))[0].used_at == first


async def test_the_former_secret_of_a_rotated_key_works_for_a_limited_time(
    database: Database, tenant_id: UUID, mara_id: UUID
) -> None:
    first = await create_api_key(database, tenant_id, "import", Role.READER, [mara_id])
    second = await rotate_api_key(database, tenant_id, first.id, timedelta(hours=1), by=MARA)
    credentials = Credentials(database, Tokens())
    scopes = [await credentials.scope(f"Bearer {key.key}") for key in (first, second)]
    assert scopes[0] == scopes[1]
    assert await credentials.valid_until(f"Bearer {first.key}") > datetime.now(UTC).timestamp()
    async with database.connection() as connection:
        await connection.raw.execute("UPDATE api_keys SET former_until = now() - interval '1 second'")
    with pytest.raises(Unauthenticated, match="rotated"):
        await credentials.scope(f"Bearer {first.key}")
    third = await rotate_api_key(database, tenant_id, first.id, timedelta())
    with pytest.raises(Unauthenticated, match="rotated"):
        await credentials.scope(f"Bearer {second.key}")
    with pytest.raises(Unauthenticated, match="unknown"):
        await credentials.scope(f"Bearer {first.key}")
    assert await credentials.scope(f"Bearer {third.key}") == scopes[0]
    with pytest.raises(BadInput):
        await rotate_api_key(database, tenant_id, first.id, timedelta(days=91))
    await revoke_api_key(database, tenant_id, first.id)
    with pytest.raises(NotFound):
        await rotate_api_key(database, tenant_id, first.id)


@pytest.mark.parametrize(
    ("role", "scopes", "found"),
    [
        (Role.ADMIN, ["wiki:read"], Role.READER),
        (Role.ADMIN, ["wiki:write", "wiki:read"], Role.MEMBER),
        (Role.READER, ["wiki:admin"], Role.READER),
        (None, ["wiki:write"], Role.MEMBER),
        (Role.SERVICE, [], Role.SERVICE),
    ],
)
async def test_scopes_limit_the_role_of_a_key(
    database: Database, tenant_id: UUID, mara_id: UUID, role: Role | None, scopes: list[str], found: Role
) -> None:
    issued = await create_api_key(database, tenant_id, "x", role, [mara_id], limits=KeyLimits(scopes))
    assert (await Credentials(database, Tokens()).scope(f"Bearer {issued.key}")).role is found


@pytest.mark.parametrize(
    ("network", "address", "is_let_in"),
    [
        ("203.0.113.0/24", "203.0.113.7", True),
        ("203.0.113.0/24", "::ffff:203.0.113.7", True),
        ("203.0.113.0/24", "203.0.114.7", False),
        ("203.0.113.7", "203.0.113.7", True),
        ("::ffff:203.0.113.7", "::ffff:203.0.113.7", True),
        ("::ffff:203.0.113.7", "203.0.113.7", True),
        ("::ffff:203.0.113.0/120", "203.0.113.9", True),
        ("::ffff:203.0.113.0/120", "203.0.114.9", False),
        ("2001:db8::/32", "2001:db8:1::1", True),
        ("2001:db8::/32", "2001:db9::1", False),
        ("2001:db8::/32", "203.0.113.7", False),
        ("203.0.113.0/24", None, False),
        ("203.0.113.0/24", "a name", False),
    ],
)
async def test_a_key_is_accepted_only_from_its_networks(
    database: Database, tenant_id: UUID, mara_id: UUID, network: str, address: str | None, is_let_in: bool
) -> None:
    issued = await create_api_key(database, tenant_id, "x", Role.READER, [mara_id], limits=KeyLimits((), [network]))
    credentials = Credentials(database, Tokens())
    CLIENT_ADDRESS.set(address)
    if is_let_in:
        assert (await credentials.scope(f"Bearer {issued.key}")).owner_id == mara_id
    else:
        with pytest.raises(Forbidden, match="network"):
            await credentials.scope(f"Bearer {issued.key}")
    await credentials.log.store()
    assert len(await recorded_events(database, tenant_id, outcome="refused")) == (not is_let_in)
    assert ((await list_api_keys(database, tenant_id))[0].used_at is not None) is is_let_in


@pytest.mark.parametrize(
    ("stored", "is_let_in"),
    [("::ffff:203.0.113.0/120", True), ("::ffff:cb00:7107/128", True), ("::ffff:203.0.114.0/120", False)],
)
async def test_a_network_that_an_older_release_stored_in_the_form_of_ipv6_lets_ipv4_in(
    database: Database, tenant_id: UUID, mara_id: UUID, stored: str, is_let_in: bool
) -> None:
    issued = await create_api_key(database, tenant_id, "x", Role.READER, [mara_id])
    async with database.connection() as connection:
        await connection.raw.execute("UPDATE api_keys SET networks = $1 WHERE id = $2", [stored], issued.id)
    CLIENT_ADDRESS.set("203.0.113.7")
    with nullcontext() if is_let_in else pytest.raises(Forbidden, match="network"):
        await Credentials(database, Tokens()).scope(f"Bearer {issued.key}")


@pytest.mark.parametrize("limits", [KeyLimits(["wiki:all"]), KeyLimits((), ["203.0.113.1/24"]), KeyLimits()])
async def test_invalid_limits_of_a_key_are_refused(
    database: Database, tenant_id: UUID, mara_id: UUID, limits: KeyLimits
) -> None:
    with pytest.raises(BadInput):
        await create_api_key(database, tenant_id, "x", None, [mara_id], limits=limits)


async def test_retention_deletes_refusals_before_other_events(
    database: Database, tenant_id: UUID, mara_id: UUID
) -> None:
    issued = await create_api_key(database, tenant_id, "x", Role.READER, [mara_id])
    await revoke_api_key(database, tenant_id, issued.id)
    credentials = Credentials(database, Tokens())
    with pytest.raises(Unauthenticated):
        await credentials.scope(f"Bearer {issued.key}")
    await credentials.log.store()
    done_events, now = await recorded_events(database, tenant_id, outcome="done"), datetime.now(UTC)
    for days in (0, 365):
        await prune(database, tenant_id, {"audit": days}, now + timedelta(days=29))
        assert len(await recorded_events(database, tenant_id)) == len(done_events) + 1
    assert await prune(database, tenant_id, {"audit": 0}, now + timedelta(days=31)) == {"audit": 1}
    assert await recorded_events(database, tenant_id) == done_events
    assert await prune(database, tenant_id, {"audit": 30}, now + timedelta(days=31)) == {"audit": len(done_events)}


def test_no_query_updates_an_audit_event() -> None:
    written = "".join(path.read_text() for path in Path("db/queries").rglob("*.sql"))
    assert "INTO audit_events" in written
    assert "UPDATE audit_events" not in written
