"""The health endpoints say whether the service can serve, and what it lacks if it cannot."""

from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from app.server.server import DRAINING
from db.migrate import is_behind, revisions
from tests.app.service import Service, serving


@pytest.fixture(autouse=True)
def asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.http.health.CACHED_FOR", 0.0)


async def reason(service: Service) -> str | None:
    response = await service.http.get("/readyz")
    told: dict[str, str] = response.json()
    assert (response.status_code == 200) is (told == {"status": "ok"})
    assert (await service.http.get("/healthz")).json() == {"status": "ok"}
    return told.get("reason")


async def test_an_unreachable_database_is_reported_without_its_address(
    server_dsn: str, dsn: str, service: Service
) -> None:
    name = urlsplit(dsn).path.strip("/")
    assert await reason(service) is None
    operator = await asyncpg.connect(server_dsn)
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    await operator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
    assert await reason(service) == "database"
    assert name not in (await service.http.get("/readyz")).text
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert await reason(service) is None
    await operator.close()


async def test_a_pooler_or_server_without_free_connections_is_reported(
    server_dsn: str, dsn: str, service: Service
) -> None:
    """The connection by which readiness asks may still be there when those of requests are gone."""
    name = urlsplit(dsn).path.strip("/")
    assert await reason(service) is None
    operator = await asyncpg.connect(server_dsn)
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    asks = "query LIKE '%work_mem%'"
    others = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1 AND NOT {asks}"
    assert await operator.fetch(others, name)
    assert await operator.fetchval(f"SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND {asks}", name) == 1
    assert await reason(service) == "database"
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert await reason(service) is None
    await operator.close()


async def test_a_database_that_does_not_answer_is_reported(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.breaker.ANSWER_TIMEOUT", 0.2)
    async with serving(dsn, tmp_path) as service:
        holder = await asyncpg.connect(dsn)
        async with holder.transaction():
            await holder.execute("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
            assert await reason(service) == "timeout"
        assert await reason(service) is None
        await holder.close()


@pytest.mark.parametrize(("revision", "told"), [(revisions()[0], "migrations"), ("9999", None)])
async def test_a_database_that_lacks_migrations_is_reported_and_a_newer_one_serves(
    dsn: str, service: Service, revision: str, told: str | None
) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("UPDATE alembic_version SET version_num = $1", revision)
    assert await reason(service) == told
    await connection.close()


async def test_a_database_migrated_past_this_release_is_reported(dsn: str, service: Service) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("UPDATE alembic_version SET version_num = '9999'")
    await connection.execute("UPDATE installation SET oldest_revision = '9998'")
    assert await reason(service) == "migrations"
    assert "Install a newer one" in (await service.http.get("/readyz")).json()["detail"]
    await connection.close()


def test_a_database_is_behind_until_the_last_migration() -> None:
    assert [is_behind(name) for name in (None, *revisions())] == [True] * len(revisions()) + [False]


async def test_a_process_that_drains_is_not_ready(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DRAINING, "is_on", True)
    assert await reason(service) == "draining"
