"""Tests streams of a whole service: two processes, a lost database connection, slow clients and shutdown."""

import asyncio
import signal
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from db.ids import new_id
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.subscriptions.changes import ChangeEvent, ChangeKind, Topic, announce, announce_job
from resolvers.transactions.transaction import transaction
from tests.app.clients.streaming import SOON, WIKI_CHANGED, open_events, open_initialised_socket
from tests.app.command_line import ServingCommand
from tests.app.service import SECRET, Service, serving
from tests.waiting import within
from tests.wiki import Wiki

INITIAL = WIKI_CHANGED.replace("Changed", "Changed(initial: true)")
JOBS = "subscription { wikiCompileJobChanged { kind jobId job { status trigger } } }"


async def test_a_write_in_one_process_sends_events_in_another(
    service: Service, dsn: str, wiki: Wiki, token: str, tmp_path: Path
) -> None:
    async with (
        serving(dsn, tmp_path) as other,
        open_initialised_socket(service, token) as here,
        open_initialised_socket(other, token) as there,
    ):
        await here.subscribe(WIKI_CHANGED)
        await there.subscribe(WIKI_CHANGED)
        write = 'mutation { createWikiPage(input: {type: TOPIC, title: "Austin"}) { page { id } } }'
        page = (await other.ask(write, token))["data"]["createWikiPage"]["page"]["id"]
        shown = {"kind": "CREATED", "pageId": page, "version": 1, "page": {"title": "Austin", "status": "ACTIVE"}}
        assert await here.next_event() == await there.next_event() == shown


async def test_the_progress_of_a_compile_job_is_streamed(service: Service, wiki: Wiki, token: str) -> None:
    tenant, owner, job = wiki.scope.tenant_id, wiki.scope.owner_id, new_id()
    async with open_initialised_socket(service, token) as socket:
        await socket.subscribe(JOBS)
        async with transaction(wiki.database) as connection:
            await connection.raw.execute(
                "INSERT INTO compile_jobs (tenant_id, owner_id, id, dedupe_key, trigger) VALUES ($1, $2, $3, 'k', 't')",
                *(tenant, owner, job),
            )
            announce_job(connection, tenant, owner, job, ChangeKind.CREATED)
        shown = {"kind": "CREATED", "jobId": str(job), "job": {"status": "PENDING", "trigger": "t"}}
        assert await socket.next_event() == shown
        async with transaction(wiki.database) as connection:
            await connection.raw.execute(
                "UPDATE compile_jobs SET status = 'running' WHERE tenant_id = $1 AND id = $2", tenant, job
            )
            announce_job(connection, tenant, owner, job)
        assert (await socket.next_event())["job"]["status"] == "RUNNING"


async def test_a_service_listens_before_it_serves(
    dsn: str, tmp_path: Path, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = asyncpg.connect

    async def slowly(*given: Any, **named: Any) -> Any:
        if named.get("server_settings", {}).get("application_name") == "cairn listening":
            await asyncio.sleep(0.4)
        return await connect(*given, **named)

    monkeypatch.setattr(asyncpg, "connect", slowly)
    listening = "application_name = 'cairn listening' AND datname = current_database()"
    async with serving(dsn, tmp_path):
        assert await wiki.connection.fetchval(f"SELECT count(*) FROM pg_stat_activity WHERE {listening}") == 1


async def test_clients_that_may_have_missed_events_are_told_to_resync(service: Service, wiki: Wiki, token: str) -> None:
    async with open_initialised_socket(service, token) as socket:
        await socket.subscribe(WIKI_CHANGED)
        await wiki.connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cairn listening' "
            "AND datname = current_database()"
        )
        assert await socket.next_event() == {"kind": "RESYNC", "pageId": None, "version": None, "page": None}
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))
        assert (await socket.next_event())["kind"] == "CREATED"


TERMINATE_BLOCKED = """
SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))
"""


async def test_an_event_that_the_database_did_not_answer_is_read_again(
    service: Service, wiki: Wiki, token: str
) -> None:
    """The connection of the first read is terminated, which no client can tell from a busy database."""
    page = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))).page_id
    change = ChangeEvent(
        wiki.scope.tenant_id, wiki.scope.owner_id, Topic.PAGES, ChangeKind.UPDATED, page, 1, datetime.now(UTC)
    )
    async with open_initialised_socket(service, token) as socket:
        await socket.subscribe(WIKI_CHANGED)
        async with wiki.connection.transaction():
            await wiki.connection.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
            async with transaction(wiki.database) as connection:
                announce(connection, [change])
            async with within("the event was not read"):
                while not await wiki.connection.fetch(TERMINATE_BLOCKED):
                    await asyncio.sleep(0.01)
        assert (await socket.next_event())["page"] == {"title": "Austin", "status": "ACTIVE"}


async def test_a_slow_client_delays_no_other_client_and_gets_the_last_state(
    service: Service, wiki: Wiki, token: str
) -> None:
    page = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin", body="x" * 500_000))).page_id
    large = WIKI_CHANGED.replace("title", "title bodyMd")
    async with open_initialised_socket(service, token) as slow, open_initialised_socket(service, token) as quick:
        slow.connection.transport.pause_reading()
        await slow.send(type="subscribe", id="1", payload={"query": large})
        await quick.subscribe(WIKI_CHANGED)
        for n in range(60):
            await update_page(wiki.database, wiki.scope, page, title=f"Austin {n}")
            await quick.next_event()
        slow.connection.transport.resume_reading()
        titles = []
        while not titles or titles[-1] != "Austin 59":
            titles.append((await slow.next_event())["page"]["title"])
        assert len(titles) < 60


async def test_a_service_that_stops_ends_its_streams_and_does_not_wait_for_them(
    dsn: str, wiki: Wiki, tmp_path: Path
) -> None:
    arguments = ("serve", "--port", "0")
    started = partial(ServingCommand, tmp_path, *arguments, database_url=dsn, jwt_secret=SECRET)
    with await asyncio.to_thread(started) as process:
        url = process.url.removesuffix("/graphql")
        async with httpx.AsyncClient(base_url=url) as http:
            service = Service(url, http)
            token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
            async with (
                open_initialised_socket(service, token) as idle,
                open_initialised_socket(service, token) as socket,
                open_events(service, token, INITIAL) as stream,
            ):
                await socket.subscribe(WIKI_CHANGED)
                await stream.next_event()
                process.process.send_signal(signal.SIGTERM)
                with pytest.raises(AssertionError, match="the stream ended"):  # and is not complete
                    await stream.next()
                assert [(await connection.wait_closed())[0] for connection in (socket, idle)] == [1001, 1001]
        assert await asyncio.to_thread(process.process.wait, SOON) == 0
