"""Starts the servers that one fault needs: Postgres, a service, and optionally a standby, a worker and a receiver."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from db.database import Database
from db.embedded import SOCKET_NAME, EmbeddedServer, programs
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from db.system_account import server_account
from resolvers.auth.credentials import mint
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.tenants.tenants import create_tenant
from resolvers.webhooks.webhooks import WebhookDraft, create_webhook

from ..graphql.servers import SECRET
from ..processes import RestartableProcess, free_port, process_tree
from .network import Network

CAIRN = [sys.executable, "-c", "from app.cli import main; main()"]
CLOCK = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


@dataclass(frozen=True)
class Requirements:
    """The servers and facilities that a fault needs besides Postgres and the service."""

    standby: bool = False
    synchronous: bool = False
    replica: bool = False
    webhooks: bool = False
    network: bool = False
    clock: bool = False
    small_disk: bool = False


@dataclass
class Stage:
    """The running servers. `url` is the service's, and `token` belongs to a member of the wiki that is written."""

    folder: Path
    primary: EmbeddedServer
    standby: EmbeddedServer
    service: RestartableProcess
    worker: RestartableProcess
    receiver: RestartableProcess
    url: str
    token: str
    other_token: str
    scope: Scope
    network: Network | None = None
    sockets: list[str] = field(default_factory=list)

    def dsn(self, number: int = 0) -> str:
        return dsn_of(self.sockets[number])

    @property
    def deliveries(self) -> Path:
        return self.folder / "heard"

    @property
    def clock(self) -> Path:
        return self.folder / "clock"


def dsn_of(*sockets: str) -> str:
    requirements = "&target_session_attrs=read-write" if len(sockets) > 1 else ""
    return f"postgresql://postgres@/cairn?host={','.join(sockets)}{requirements}"


def kill_postgres(server: EmbeddedServer) -> None:
    """Kill every process of a server with SIGKILL, as when its machine fails."""
    for pid in reversed([*process_tree([int(server.postmaster()[0])])]):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def promote(server: EmbeddedServer) -> None:
    server.run(
        server_account(server.data_dir, (programs(),), lambda _: None), "pg_ctl", "promote", "--wait", "--silent"
    )


def start_standby(primary: EmbeddedServer, standby: EmbeddedServer) -> None:
    """Copy the primary, and start the copy as its standby."""
    standby.data_dir.mkdir()
    account = server_account(standby.data_dir, (programs(),), lambda _: None)
    source = ("--host", primary.postmaster()[4], "--username=postgres", "--checkpoint=fast", "--write-recovery-conf")
    standby.run(account, "pg_basebackup", "--pgdata", str(standby.cluster), *source)
    standby.launch()


async def enable_synchronous_replication(dsn: str) -> None:
    """Make each COMMIT wait for the standby from now on."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        await connection.execute("SELECT pg_reload_conf()")
        while not await connection.fetchval("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"):
            await asyncio.sleep(0.05)
    finally:
        await connection.close()


async def create_tenants(dsn: str, receiver_url: str | None) -> tuple[Scope, str, str, str]:
    """Create two tenants with a wiki each. Return the first scope, the tokens of both, and the secret of a webhook."""
    database, secret, tokens, scopes = Database(dsn, size=2), "", [], []
    await database.open()
    try:
        for name in ("acme", "umbra"):
            tenant_id = (await create_tenant(database, name, name)).id
            owner_id = (await create_owner(database, tenant_id, OwnerKind.USER, "mara", "Mara")).id
            scopes.append(Scope(tenant_id, owner_id, Role.ADMIN, Actor(ActorKind.USER, "mara"), (owner_id,)))
            tokens.append(mint(SECRET, tenant_id=tenant_id, owner_id=owner_id, role=Role.MEMBER, ttl=86_400))
        if receiver_url:
            secret = (await create_webhook(database, scopes[0].tenant_id, WebhookDraft(receiver_url))).secret
    finally:
        await database.close()
    return scopes[0], tokens[0], tokens[1], secret


@asynccontextmanager
async def running_stage(folder: Path, requirements: Requirements) -> AsyncIterator[Stage]:
    """Start everything that a fault needs, and stop it when the block ends."""
    async with AsyncExitStack() as after:
        primary, standby = EmbeddedServer(folder / "primary"), EmbeddedServer(folder / "standby")
        primary.data_dir.mkdir()
        if requirements.small_disk:
            mount = ["mount", "-t", "tmpfs", "-o", "size=220m,mode=0755", "none", str(primary.data_dir)]
            subprocess.run(mount, check=True)
            after.callback(subprocess.run, ["umount", "--lazy", str(primary.data_dir)], check=True)
        await asyncio.to_thread(primary.launch)
        after.callback(stop_server, primary)
        sockets = [primary.postmaster()[4]]
        await migrate(dsn_of(*sockets))
        if requirements.standby:
            await asyncio.to_thread(start_standby, primary, standby)
            after.callback(stop_server, standby)
            sockets.append(standby.postmaster()[4])
        if requirements.synchronous:
            await enable_synchronous_replication(dsn_of(sockets[0]))
        ports = [free_port() for _ in range(3)]
        receiver_url = f"http://127.0.0.1:{ports[2]}/hooks" if requirements.webhooks else None
        scope, token, other_token, secret = await create_tenants(dsn_of(sockets[0]), receiver_url)
        dsn = dsn_of(*sockets) if requirements.synchronous else dsn_of(sockets[0])
        network = None
        if requirements.network:
            network = await after.enter_async_context(Network(f"{sockets[0]}/{SOCKET_NAME}").open())
            dsn = f"postgresql://postgres@127.0.0.1:{network.port}/cairn?sslmode=disable"
        settings = {
            "CAIRN_DATABASE_URL": dsn, "CAIRN_DATA_DIR": str(folder / "cairn"), "CAIRN_JWT_SECRET": SECRET,
            "CAIRN_WEBHOOK_NETWORKS": "127.0.0.1", "CAIRN_LOG_LEVEL": "warning",
        }  # fmt: skip
        if requirements.replica:
            settings["CAIRN_READ_DATABASE_URLS"] = dsn_of(sockets[1])
        if requirements.clock:
            (folder / "clock").write_text("+0")
            settings |= {
                "LD_PRELOAD": str(CLOCK), "FAKETIME_TIMESTAMP_FILE": str(folder / "clock"),
                "FAKETIME_CACHE_DURATION": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
            }  # fmt: skip
        receiver_command = [
            sys.executable,
            "-m",
            "benchmarks.webhooks.receiver",
            str(ports[2]),
            str(folder / "heard"),
            secret,
        ]
        service_settings = settings | {"CAIRN_PORT": str(ports[0])}
        service = RestartableProcess([*CAIRN, "serve"], ports[0], folder / "service.log", service_settings)
        worker = RestartableProcess(
            [*CAIRN, "worker", "--port", str(ports[1])], ports[1], folder / "worker.log", settings
        )
        receiver = RestartableProcess(receiver_command, ports[2], folder / "receiver.log", {})
        for process in (service, *((worker, receiver) if requirements.webhooks else ())):
            await asyncio.to_thread(process.start)
            after.callback(kill_quietly, process)
        url = f"http://127.0.0.1:{ports[0]}"
        yield Stage(
            folder, primary, standby, service, worker, receiver, url, token, other_token, scope, network, sockets
        )


def kill_quietly(process: RestartableProcess) -> None:
    with suppress(ProcessLookupError):
        process.kill()


def stop_server(server: EmbeddedServer) -> None:
    if server.postmaster():
        with suppress(Exception):
            server.halt()
