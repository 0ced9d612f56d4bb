"""Provides a real Postgres to the tests: that of CAIRN_TEST_DATABASE_URL, one in Docker, or the embedded one. With
CAIRN_TEST_CITUS_URL, it is the coordinator of that URL.

The workers of one run share the server and a migrated template. `dsn` is a worker's copy of it, emptied between tests.
"""

import asyncio
import gc
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest
import structlog
from hypothesis import HealthCheck, settings

import migrations.distribute
import resolvers.jobs.queue
import tests.temporary
from db.connection import prepare_connection
from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from tests.citus import Cluster, DatabaseCopies, WorkerDatabase, with_database
from tests.connections import IDLE, dial_reused
from tests.docker_server import is_docker_available, remove_container, start_container
from tests.sql_verdicts import Verdicts

# Tests have no deadline, because a busy machine is no fault of the code. Each run draws the same examples; `make
# test-nightly` draws new ones.
settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None
)
settings.register_profile(
    "nightly", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=1000, print_blob=True
)
settings.load_profile("default")

# This is read before any test changes the environment: tests of the command line remove all variables of Cairn.
CITUS_URL, DATABASE_URL = (os.environ.get(f"CAIRN_TEST_{which}_URL") for which in ("CITUS", "DATABASE"))

tests.temporary.use_memory()

# rich formats the values of all variables around a logged exception, which takes a second.
structlog.configure([
    *structlog.get_config()["processors"][:-1],
    structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
])  # fmt: skip

# No garbage arises while modules are imported and tests are collected.
gc.disable()

# `nohup` and a shell's `&` make a process and its children ignore these signals; the programs that tests start need
# them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Run half as many workers more than there are processors: each worker waits for Postgres part of its time."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + (processors + 1) // 2


def pytest_collection_finish() -> None:
    """Exempt modules and tests from garbage collection: they live as long as the run. Collect the rest seldom."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder that all workers of this run share."""
    own = tmp_path_factory.getbasetemp()
    return own if worker_id == "master" else own.parent


@pytest.fixture(scope="session")
def server_dsn(shared_folder: Path) -> Iterator[str]:
    """A database on the server, from which other databases are created."""
    if given := CITUS_URL or DATABASE_URL:
        yield given
    elif is_docker_available():
        with shared_resource(shared_folder / "container", start_container, remove_container) as container:
            yield container.partition(" ")[2]
    else:
        with (
            shared_resource(shared_folder / "server", new_folder, shutil.rmtree) as folder,
            EmbeddedServer(Path(folder), durable=False) as dsn,
        ):
            # Statistics that appear in the middle of a test change its plans.
            execute(dsn, "ALTER SYSTEM SET autovacuum = off")
            execute(dsn, "SELECT pg_reload_conf()")
            yield dsn


@pytest.fixture(scope="session")
def cluster() -> Cluster | None:
    """The coordinator on which the tests of this run have their databases, if CAIRN_TEST_CITUS_URL names one."""
    if not CITUS_URL:
        return None
    migrations.distribute.SHARDS = 4  # a test that creates tables waits for each of their shards
    cluster = Cluster(CITUS_URL)
    asyncio.run(cluster.connection())
    return cluster


@pytest.fixture(scope="session")
def template(server_dsn: str, shared_folder: Path) -> Iterator[str]:
    """The name of a migrated, empty database. No session may be connected to it while it is copied."""

    def make() -> str:
        name = new_database_name()
        execute(server_dsn, f"CREATE DATABASE {name}")
        asyncio.run(migrate(with_database(server_dsn, name)))
        return name

    with shared_resource(shared_folder / "template", make, lambda name: drop_database(server_dsn, name)) as name:
        yield name


@pytest.fixture(scope="session")
def migrated_server_dir(shared_folder: Path) -> Iterator[Path]:
    """A data folder with a migrated server, which is stopped. Tests start their servers on a copy of it."""

    def make() -> str:
        folder = new_folder()
        with EmbeddedServer(Path(folder), durable=False) as dsn:
            asyncio.run(migrate(dsn))
        return folder

    with shared_resource(shared_folder / "migrated-server", make, shutil.rmtree) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def databases(request: pytest.FixtureRequest, cluster: Cluster | None) -> Cluster | DatabaseCopies:
    return cluster or DatabaseCopies(request.getfixturevalue("server_dsn"), request.getfixturevalue("template"))


@pytest.fixture(scope="session")
async def worker_database(databases: Cluster | DatabaseCopies) -> AsyncIterator[WorkerDatabase]:
    """The database that the tests of one worker use, one after the other."""
    IDLE.loop = asyncio.get_running_loop()
    worker_database = WorkerDatabase(databases, new_database_name())
    await worker_database.make()
    yield worker_database
    await worker_database.drop()


@pytest.fixture
async def dsn(worker_database: WorkerDatabase) -> AsyncIterator[str]:
    """A migrated, empty database that no other test uses at the same time."""
    yield worker_database.dsn
    await worker_database.clean()


@pytest.fixture(autouse=True)
def connection_reuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reuse connections in later tests. Tests of connections themselves override this with IDLE.disabled."""
    monkeypatch.setattr(Database, "dial", dial_reused)


@pytest.fixture(autouse=True)
def single_job_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test within one time bucket of the job queue: the next bucket would add a job."""
    monkeypatch.setattr(resolvers.jobs.queue, "BUCKET", 10_000_000_000)


@pytest.fixture(autouse=True)
async def cancel_leftover_tasks() -> AsyncIterator[None]:
    """Cancel the tasks that a test has left running, because all tests share one event loop."""
    before = asyncio.all_tasks()
    yield
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


@pytest.fixture(scope="session")
def shared_dsn(request: pytest.FixtureRequest, cluster: Cluster | None) -> Iterator[str]:
    """One migrated database for all tests of a worker that do not change it."""
    with migrated_database(request, cluster) as dsn:
        yield dsn


@pytest.fixture
def other_dsn(request: pytest.FixtureRequest, cluster: Cluster | None) -> Iterator[str]:
    """Another migrated, empty database for this test, with its own history id."""
    with migrated_database(request, cluster) as dsn:
        execute(dsn, "UPDATE installation SET history_id = gen_random_uuid()")
        yield dsn


@pytest.fixture
def empty_dsn(request: pytest.FixtureRequest, cluster: Cluster | None) -> Iterator[str]:
    """A database without tables, on which migrations start."""
    fresh = (
        database_copy(request.getfixturevalue("server_dsn"), "template0")
        if cluster is None
        else cluster_database(cluster)
    )
    with fresh as dsn:
        yield dsn


@pytest.fixture(scope="session")
def verdicts(request: pytest.FixtureRequest) -> Verdicts:
    """The statements that this run and earlier ones have found to keep the rules."""
    cache = getattr(request.config, "cache", None)  # -p no:cacheprovider leaves it out
    return Verdicts(cache and cache.mkdir("sql-rules"))


@pytest.fixture(autouse=True)
def check_executed_statements(monkeypatch: pytest.MonkeyPatch, verdicts: Verdicts) -> Iterator[None]:
    """Check that each statement that the product executes in a test binds the tenant and would run on Citus."""
    executed: set[str] = set()

    async def listening(connection: asyncpg.Connection) -> None:
        await prepare_connection(connection)
        connection.add_query_logger(lambda record: executed.add(record.query))

    monkeypatch.setattr("db.database.prepare_connection", listening)
    yield
    broken = {sql: found for sql in executed if (found := verdicts.violations(sql))}
    assert not broken


@contextmanager
def migrated_database(request: pytest.FixtureRequest, cluster: Cluster | None) -> Iterator[str]:
    if cluster is not None:
        with cluster_database(cluster) as dsn:
            asyncio.run(migrate(dsn))
            yield dsn
    else:
        with database_copy(request.getfixturevalue("server_dsn"), request.getfixturevalue("template")) as copy:
            yield copy


@contextmanager
def database_copy(server_dsn: str, template: str) -> Iterator[str]:
    name = new_database_name()
    execute(server_dsn, f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield with_database(server_dsn, name)
    finally:
        drop_database(server_dsn, name)


@contextmanager
def cluster_database(cluster: Cluster) -> Iterator[str]:
    name = new_database_name()
    try:
        yield asyncio.run(cluster.make(name))
    finally:
        asyncio.run(cluster.drop(name))


@contextmanager
def shared_resource(path: Path, make: Callable[[], str], unmake: Callable[[str], object]) -> Iterator[str]:
    """Share a resource among the workers, named by a string: the first worker makes it, the last one removes it."""
    note = path.with_suffix(".note")
    with path.with_suffix(".turn").open("ab") as turn, path.with_suffix(".users").open("ab") as users:
        flock(turn, LOCK_EX)
        flock(users, LOCK_SH)
        if not note.exists():
            note.write_text(make())
        flock(turn, LOCK_UN)
        try:
            yield note.read_text()
        finally:
            flock(turn, LOCK_EX)
            with suppress(BlockingIOError):
                flock(users, LOCK_EX | LOCK_NB)
                unmake(note.read_text())
                note.unlink()


def new_database_name() -> str:
    return f"cairn_test_{uuid4().hex[:12]}"


def new_folder() -> str:
    """Return a folder outside pytest's own, which the account that runs Postgres cannot enter if tests run as root."""
    return tempfile.mkdtemp(prefix="cairn-test-")


def copy_server(migrated_server_dir: Path, data_dir: Path) -> None:
    """Copy an initialised server into a data folder: creating and migrating one takes ten times as long."""
    data_dir.mkdir(exist_ok=True)
    subprocess.run(["cp", "-a", migrated_server_dir / "postgres", data_dir], check=True)


def drop_database(server_dsn: str, name: str) -> None:
    execute(server_dsn, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def execute(dsn: str, statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(dsn)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(run())
