"""Access to the database and the wiki that a command works with."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import asyncpg

from db.database import Check, Database
from db.embedded import EmbeddedServer
from db.migrate import migrate, pending_on
from db.pooler import PoolerUnfit
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.owners import Owner, OwnerKind, ensure_owner, find_owner
from resolvers.errors import CairnError, NotFound, Unavailable
from resolvers.tenants.tenants import Tenant, ensure_tenant, find_tenant

from ..blob_folder import use_blob_folder
from ..embeddings import use_embeddings
from ..fetching import use_fetching
from ..settings import Settings
from .options import read_settings
from .output import print_status

if TYPE_CHECKING:
    from resolvers.subscriptions.changes import ChangeEvent

T = TypeVar("T")


async def read_stored(
    database: Database,
    wiki: "Wiki",
    document: str,
    variables: dict[str, Any],
    event: "ChangeEvent | None" = None,
    role: Role = Role.READER,
) -> dict[str, Any]:
    """Execute queries/<document>.graphql in the wiki with the rights of `role` and return its data.

    A subscription needs the `event` that it is executed for. Raises QueryFailed with the first error of the response.
    """
    from resolvers.context import Context

    from ..stored_queries import data_of, stored_query, stored_query_engine

    where = {"tenantId": str(wiki.tenant.id), "ownerId": str(wiki.owner.id)}
    context = Context(database, wiki.scope(role))
    context.event = event
    text = stored_query("cli", document)
    return data_of(await stored_query_engine().execute(text, where | variables, None, context))


class NothingStored(CairnError):
    """There is no database yet, and the command may not create one."""

    code = "NOTHING_HERE"


def run_in_session(work: Callable[[Database], Awaitable[T]], *, creates: bool = False) -> T:
    """Run `work` on the database and return its result. With `creates`, a missing embedded database is created."""
    settings = read_settings()
    with started_database(settings, creates=creates) as dsn:
        return asyncio.run(run_when_ready(settings, dsn, work))


@contextmanager
def ready_database(settings: Settings, *, creates: bool) -> Iterator[str]:
    """Yield the DSN of a database that is ready for use.

    The embedded database is started, migrated and indexed for search. A configured database is only checked.
    """
    with started_database(settings, creates=creates) as dsn:
        asyncio.run(run_when_ready(settings, dsn, Database.ping))
        yield dsn


@contextmanager
def started_database(settings: Settings, *, creates: bool) -> Iterator[str]:
    """Yield the DSN of the configured database, or of the embedded database after it was started and migrated."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    server = EmbeddedServer(settings.data_dir, print_status)
    if not creates and not server.exists():
        raise NothingStored(
            f"There is no wiki in {server.data_dir} yet. Begin with: cairn demo, or: cairn tenants create SLUG"
        )
    with server as dsn, server.keep_running():
        asyncio.run(migrate(dsn, print_status))
        yield dsn


async def run_when_ready(settings: Settings, dsn: str, work: Callable[[Database], Awaitable[T]]) -> T:
    """Run `work` if the database has all migrations. Index the embedded database for search first."""
    if settings.database_url is not None:
        return await run_with_database(settings, dsn, work, check=check_migrated)
    from .indexes import catch_up

    async def work_when_indexed(database: Database) -> T:
        await catch_up(database)
        return await work(database)

    return await run_with_database(settings, dsn, work_when_indexed)


async def check_migrated(connection: asyncpg.Connection) -> None:
    """Raise Unavailable if the database lacks migrations."""
    if missing := await pending_on(connection, print_status):
        raise Unavailable(f"The database lacks the migrations {', '.join(missing)}. Run: cairn migrate")


async def run_with_database(
    settings: Settings, dsn: str, work: Callable[[Database], Awaitable[T]], *, check: Check | None = None
) -> T:
    """Open the database with at most two connections per pool, run `work` on it, and close it."""
    database = Database(
        dsn, size=2, statement_timeout=settings.statement_timeout, statement_cache=settings.statement_cache
    )
    use_embeddings(settings, database)
    use_blob_folder(settings, database)
    use_fetching(settings, database)
    try:
        await ask_server(dsn, database.open(check=check, opens_reads=False))
        return await work(database)
    finally:
        await database.close()


async def ask_server(dsn: str, call: Awaitable[T], location: str | None = None) -> T:
    """Return the result of a call to a database server, or raise Unavailable with the reason.

    The reason does not contain the DSN, which may hold a password.
    """
    place = location or ("at CAIRN_DATABASE_URL" if read_settings().database_url else "")
    target = f"database {place}".rstrip()
    try:
        return await call
    except PoolerUnfit as error:
        raise Unavailable(str(error)) from None
    except (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError, ValueError) as error:
        raise Unavailable(f"The {target} cannot be reached: {reason(error, dsn)}.") from None
    except asyncpg.PostgresError as error:
        raise Unavailable(f"The {target} refuses: {reason(error, dsn)}.") from None


def reason(error: Exception, dsn: str) -> str:
    """Return the first line of an error message, without the DSN."""
    first = next(iter(str(error).splitlines()), "") or type(error).__name__
    return first.replace(dsn, "the URL").rstrip(".")


ACTOR = Actor(ActorKind.SERVICE, "cairn")


class Wiki(NamedTuple):
    """The wiki of one owner."""

    tenant: Tenant
    owner: Owner

    def scope(self, role: Role) -> Scope:
        """Return the scope of a command with this role in the wiki. It reads pages of every sensitivity."""
        return Scope(self.tenant.id, self.owner.id, role, ACTOR, (self.owner.id,), reads_all=True)


async def find_wiki(database: Database, tenant: str, owner: str) -> Wiki:
    """Return the wiki of a tenant and an owner, each given by slug or id. Raises NotFound."""
    found = await find_tenant(database, tenant)
    try:
        return Wiki(found, await find_owner(database, found.id, owner))
    except NotFound as error:
        raise NotFound(f"{error.message} List owners with: cairn owners list --tenant {found.slug}") from None


async def find_or_create_wiki(database: Database, tenant: str, owner: str) -> Wiki:
    """Return the wiki as `find_wiki` does, and create a missing tenant or owner (a user) with these slugs."""
    try:
        found = await find_tenant(database, tenant)
    except NotFound:
        found = await ensure_tenant(database, tenant, tenant)
    try:
        return Wiki(found, await find_owner(database, found.id, owner))
    except NotFound:
        return Wiki(found, await ensure_owner(database, found.id, OwnerKind.USER, owner, owner))
