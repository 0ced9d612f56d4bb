"""The baseline is written by hand with Starlette and asyncpg: what Cairn costs above it is the overhead of Cairn.

Page, list and graph are one hand-written statement each (baseline.sql). Search and link replay the statements that
Cairn sent for the same request, with the same values in the same order. The baseline parses no GraphQL, authenticates
no caller, checks no limits and writes no log.
"""

import gc
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from db.connection import prepare_connection
from db.database import GENERIC_PLANS
from db.sql import HEADER, Statement, parse_statement

from .recording import Recorded, SentStatement, load

RECORDED = "BASELINE_RECORDED"
NOTHING_FOUND = b'{"data":{"wikiSearch":[]}}'


def handwritten_statements() -> dict[str, Statement]:
    source = Path(__file__).with_name("baseline.sql").read_text()
    _, *parts = HEADER.split(source)
    return {name: parse_statement(body.strip().rstrip(";")) for name, body in zip(parts[::2], parts[1::2], strict=True)}


def create_baseline(dsn: str, pool_size: int, recorded: dict[str, Recorded]) -> Starlette:
    """Serve POST /read/<name> with {"tenant", "owner", …variables}, and POST /replay/<name>/<number of the request>."""
    statements = handwritten_statements()
    pools: dict[str, asyncpg.Pool] = {}

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with opened(dsn, pool_size, **GENERIC_PLANS) as pools["reads"], opened(dsn, pool_size) as pools["writes"]:
            yield

    async def read(request: Request) -> Response:
        statement = statements[request.path_params["name"]]
        arguments = statement.arguments(with_uuids(orjson.loads(await request.body())))
        async with pools["reads"].acquire() as connection:
            data = await connection.fetchval(statement.sql, *arguments)
        return Response(b'{"data":%b}' % data, media_type="application/json")

    async def replay(request: Request) -> Response:
        statements_sent = recorded[request.path_params["name"]][request.path_params["number"]]
        answer = NOTHING_FOUND
        for is_read, statements_of_pool in groupby(statements_sent, lambda sent_statement: sent_statement.is_read):
            async with pools["reads" if is_read else "writes"].acquire() as connection:
                for sent_statement in statements_of_pool:
                    if sent_statement.is_answer:
                        answer = b'{"data":%b}' % await connection.fetchval(
                            sent_statement.sql, *sent_statement.arguments()
                        )
                    else:
                        await run(connection, sent_statement)
        return Response(answer, media_type="application/json")

    routes = [
        Route("/read/{name}", read, methods=["POST"]),
        Route("/replay/{name}/{number:int}", replay, methods=["POST"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def opened(dsn: str, size: int, **settings: str) -> asyncpg.Pool:
    return asyncpg.create_pool(
        dsn, min_size=1, max_size=size, max_queries=10**9, max_inactive_connection_lifetime=0,
        statement_cache_size=512, max_cached_statement_lifetime=0, max_cacheable_statement_size=65_536,
        init=prepare_connection, reset=skip_reset,
        server_settings={"jit": "off", "application_name": "baseline", **settings},
    )  # fmt: skip


async def skip_reset(connection: asyncpg.Connection) -> None:
    """Skip the reset of asyncpg: no request changes the state of its connection, and it would be a round trip."""


async def run(connection: asyncpg.Connection, sent_statement: SentStatement) -> None:
    """Send one statement. A statement without values, such as BEGIN, uses the simple protocol as in Cairn."""
    if sent_statement.values:
        await connection.fetch(sent_statement.sql, *sent_statement.arguments())
    else:
        await connection.execute(sent_statement.sql)


def with_uuids(variables: dict[str, Any]) -> dict[str, Any]:
    """Return the variables with ids as UUIDs, which asyncpg requires."""
    return variables | {name: UUID(variables[name]) for name in ("tenant", "owner", "page") if name in variables}


def main() -> None:
    """Serve with the settings in the environment."""
    app = create_baseline(
        os.environ["CAIRN_DATABASE_URL"], int(os.environ["CAIRN_POOL_SIZE"]), load(Path(os.environ[RECORDED]))
    )
    gc.freeze()  # the garbage collector skips the recorded statements
    uvicorn.run(app, port=int(os.environ["CAIRN_PORT"]), log_config=None, access_log=False)


if __name__ == "__main__":
    main()
