"""Starts the real service on a real port, with a client that has a credential for it."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import uvicorn

from app.asgi import create_app
from app.server.serve import bind, config_of
from app.settings import Settings
from db.scope import Role
from resolvers.auth.credentials import mint
from tests.loop_holds import assert_loop_not_held
from tests.waiting import within

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # no request uses TLS, and reading certificates takes 20 ms
TURNS = 10  # of the event loop
SECRET = "a secret of the tests, long enough for HS256"


@dataclass(frozen=True)
class Service:
    """A running service: its address, and tokens for it."""

    url: str
    http: httpx.AsyncClient

    def token(self, tenant_id: UUID, owner_id: UUID, role: Role = Role.MEMBER, **more: Any) -> str:
        return mint(SECRET, tenant_id=tenant_id, owner_id=owner_id, role=role, **{"ttl": 3600, **more})

    async def post(
        self, query: str, token: str | None, variables: dict[str, Any] | None = None, **headers: str
    ) -> httpx.Response:
        if token:
            headers["authorization"] = f"Bearer {token}"
        body = {"query": query, "variables": variables or {}}
        return await self.http.post("/graphql", json=body, headers=headers)

    async def ask(self, query: str, token: str, **variables: Any) -> dict[str, Any]:
        """Return the response body without its extensions."""
        response = await self.post(query, token, variables)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        answer.pop("extensions", None)
        return answer


class PromptServer(uvicorn.Server):
    """A server that ends as soon as it is stopped and has no connections.

    Uvicorn checks ten times a second whether it should end, and then waits as long for connections, even if there are
    none.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self.told.set()

    async def main_loop(self) -> None:
        looking = asyncio.create_task(super().main_loop())
        hearing = asyncio.create_task(self.told.wait())
        ended, others = await asyncio.wait((looking, hearing), return_when=asyncio.FIRST_COMPLETED)
        for task in others:
            task.cancel()
        for task in ended:
            task.result()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for _ in range(TURNS):  # clients have closed their connections; the server notices it in later turns
            if not self.server_state.connections:
                break
            await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        await self.lifespan.shutdown()


@asynccontextmanager
async def serving(dsn: str, data_dir: Path, **settings: Any) -> AsyncIterator[Service]:
    """Run a service. Only tests that set `slow_operation` get plans of slow operations."""
    listening = bind("127.0.0.1", 0)
    port = listening.getsockname()[1]
    usual = {"database_url": dsn, "data_dir": data_dir, "jwt_secret": SECRET, "pool_size": 4, "slow_operation": 0}
    made = Settings(**usual | {"port": port} | settings)
    server = PromptServer(config_of(create_app(made, dsn=dsn), made))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    async with within("the service had not started"):
        while not server.started:
            assert not running.done(), "the service did not start"
            await asyncio.sleep(0.01)
    url = f"http://127.0.0.1:{port}"
    try:
        async with httpx.AsyncClient(base_url=url, timeout=30, verify=PLAIN) as http:
            with assert_loop_not_held():
                yield Service(url, http)
    finally:
        server.stop()
        await running
        listening.close()
