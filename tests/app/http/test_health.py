"""The health endpoints report whether the service can serve and, if not, the reason."""

from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from app.server.server import DRAINING
from db.migrate import is_behind, revisions
from tests.app.service import Service, serving


@pytest.fixture(autouse=True)
def uncached_readiness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.http.health.CACHED_FOR", 0.0)


async def reason(service: Service) -> str | None:
    response = await service.http.get("/readyz")
    body: dict[str, str] = response.json()
    assert (response.status_code == 200) is (body == {"status": "ok"})
    assert (await service.http.get("/healthz")).json() == {"status": "ok"}
    return body.get("reason")


async def test_an_unreachable_database_is_reported_without_its_name(
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


async def test_readiness_fails_if_only_its_own_connection_is_left(server_dsn: str, dsn: str, service: Service) -> None:
    """The connection of the readiness check may stay open when those of requests are lost."""
    name = urlsplit(dsn).path.strip("/")
    assert await reason(service) is None
    operator = await asyncpg.connect(server_dsn)
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    of_readiness = "query LIKE '%work_mem%'"
    others = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1 AND NOT {of_readiness}"
    assert await operator.fetch(others, name)
    assert (
        await operator.fetchval(f"SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND {of_readiness}", name)
        == 1
    )
    assert await reason(service) == "database"
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert await reason(service) is None
    await operator.close()


async def test_an_unresponsive_database_is_reported_as_a_timeout(
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


@pytest.mark.parametrize(("revision", "expected"), [(revisions()[0], "migrations"), ("9999", None)])
async def test_a_database_without_all_migrations_is_not_ready_but_a_newer_one_is(
    dsn: str, service: Service, revision: str, expected: str | None
) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("UPDATE alembic_version SET version_num = $1", revision)
    assert await reason(service) == expected
    await connection.close()


async def test_a_database_too_new_for_this_release_is_not_ready(dsn: str, service: Service) -> None:
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
