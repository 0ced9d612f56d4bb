"""Starts real servers, one of which follows the other."""

import asyncio
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from db.embedded import EmbeddedServer, programs
from db.migrate import migrate
from db.system_account import server_account
from tests.conftest import copy_server, execute, new_folder


class Pair(NamedTuple):
    """A primary, and a standby that follows it."""

    first: EmbeddedServer
    second: EmbeddedServer

    def sockets(self) -> list[str]:
        return [server.postmaster()[4] for server in self]

    def dsn(self, *sockets: str) -> str:
        """Return the DSN of one server, or of several, of which the one that accepts writes is used."""
        wanted = "&target_session_attrs=read-write" if len(sockets) > 1 else ""
        return f"postgresql://postgres@/cairn?host={','.join(sockets)}{wanted}"

    def promote(self) -> None:
        """Promote the second server."""
        account = server_account(self.second.data_dir, (programs(),), lambda _: None)
        self.second.run(account, "pg_ctl", "promote", "--wait", "--silent")


def kill(server: EmbeddedServer) -> None:
    """Stop a server at once, as a crash of its machine does."""
    os.kill(int(server.postmaster()[0]), signal.SIGQUIT)


def follow(primary: EmbeddedServer, standby: EmbeddedServer) -> None:
    """Launch the standby on a copy of the primary."""
    account = server_account(standby.data_dir, (programs(),), lambda _: None)
    copied = ("--username=postgres", "--pgdata", str(standby.cluster), "--checkpoint=fast", "--write-recovery-conf")
    standby.run(account, "pg_basebackup", "--host", primary.postmaster()[4], *copied)
    standby.launch()


@contextmanager
def another_standby(pair: Pair) -> Iterator[EmbeddedServer]:
    """Start another server that follows the first of a pair."""
    server = EmbeddedServer(pair.first.data_dir.parent / "third")
    server.data_dir.mkdir()
    try:
        follow(pair.first, server)
        yield server
    finally:
        if server.postmaster():
            server.halt()


@contextmanager
def running_pair(migrated_server_dir: Path | None = None, *, is_synchronous: bool) -> Iterator[Pair]:
    """Start two servers with a migrated database. In a synchronous pair, each COMMIT waits until both have it.

    If `migrated_server_dir` is given, the first is a copy of it, which is faster than creating one.
    """
    folder = Path(new_folder())
    folder.chmod(0o755)
    servers = Pair(EmbeddedServer(folder / "first"), EmbeddedServer(folder / "second"))
    for server in servers:
        server.data_dir.mkdir()
    first, second = servers
    if migrated_server_dir is not None:
        copy_server(migrated_server_dir, first.data_dir)
    first.launch()
    try:
        socket = first.postmaster()[4]
        if migrated_server_dir is None:
            asyncio.run(migrate(servers.dsn(socket)))
        follow(first, second)
        if is_synchronous:
            execute(servers.dsn(socket), "ALTER SYSTEM SET synchronous_standby_names = '*'")
            execute(servers.dsn(socket), "SELECT pg_reload_conf()")
        yield servers
    finally:
        for server in servers:
            if server.postmaster():
                server.halt()
        shutil.rmtree(folder)
