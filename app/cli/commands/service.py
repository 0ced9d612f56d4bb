"""Commands of operators: serve, migrate, status, settings, schema and trusted documents."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Host, Port
from ..output import print_json, print_status, say

if TYPE_CHECKING:
    from ...settings import Settings

Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=64, help="Number of processes. Defaults to CAIRN_WORKERS, then to 1."),
]


def add_serve(parent: typer.Typer) -> None:
    parent.command("serve", epilog="Example: cairn serve --port 9000 --workers 4")(serve)


def serve(host: Host = None, port: Port = None, workers: Workers = None) -> None:
    """Run the server: the reader, GraphQL, REST and MCP. Stop it with Ctrl-C or SIGTERM."""
    from ...server.workers import preload

    settings = settings_with(host=host, port=port, workers=workers)
    if settings.workers > 1:
        preload()
    import asyncio

    from db.database import Database

    from ...server.serve import serve as run_server
    from ..session import ready_database, run_with_database

    with ready_database(settings, creates=True) as dsn:
        if settings.database_url is not None:
            asyncio.run(run_with_database(settings, dsn, Database.ping))  # a clearer error than a worker's traceback
        run_server(settings, dsn, lambda url: say(f"Cairn serves {url}/graphql, and GraphiQL at {url}/graphiql"))


def settings_with(**overrides: str | int | None) -> "Settings":
    """Return the settings of the environment, with the given values in place of theirs unless they are None."""
    from ..options import read_settings

    return read_settings().model_copy(update={name: value for name, value in overrides.items() if value is not None})


if TYPE_CHECKING:
    from db.database import Database

    from ...settings import Settings


def add_migrate(parent: typer.Typer) -> None:
    parent.command("migrate", epilog="Example: cairn migrate")(migrate)


def migrate(
    no_reindex: Annotated[
        bool,
        typer.Option("--no-reindex", help="Skip indexing and print how many pages and sources search cannot find yet."),
    ] = False,
    restored: Annotated[
        bool,
        typer.Option("--restored", help="Expire the cursors of change feeds. Use it after you have restored a backup."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Apply pending database migrations. Then index pages and sources that search has not indexed yet.

    It is safe to run it at any time, and more than once at a time. If it is interrupted while indexing, the
    migrations are complete.
    """
    import asyncio

    from ...settings import Settings
    from ..session import run_with_database

    settings = Settings()
    with running_server(settings) as dsn:
        applied = apply_migrations(dsn, is_yours=settings.database_url is not None)
        if not as_json:
            say(f"Applied {', '.join(applied)}." if applied else "The database schema is up to date.")
        if restored:
            asyncio.run(run_with_database(settings, dsn, begin_history))
        found = asyncio.run(run_with_database(settings, dsn, count_unindexed if no_reindex else index_unindexed))
    if as_json:
        print_json({"applied": applied, **found})


async def begin_history(database: "Database") -> None:
    """Begin a new history of changes, so that the cursors of change feeds expire.

    After a restore, clients may have received changes that the restored database does not have.
    """
    from db.ids import new_id
    from db.sql import statements

    async with database.connection() as connection:
        await connection.run(statements("webhooks/changes")["begin_history"], history_id=new_id())
    print_status("Expired the cursors of change feeds. Clients start again.")


@contextmanager
def running_server(settings: "Settings") -> Iterator[str]:
    """Yield the DSN of the configured database, or of the embedded server, which runs until the block ends."""
    from db.embedded import EmbeddedServer

    if settings.database_url is not None:
        yield settings.database_url
    else:
        with EmbeddedServer(settings.data_dir, print_status) as dsn:
            yield dsn


def apply_migrations(dsn: str, *, is_yours: bool) -> list[str]:
    """Apply the pending migrations and return their revisions."""
    import asyncio

    from db.migrate import migrate as to_newest

    from ..session import ask_server

    migrating = to_newest(dsn, print_status)
    return asyncio.run(ask_server(dsn, migrating) if is_yours else migrating)


async def index_unindexed(database: "Database") -> dict[str, Any]:
    """Index what search has not indexed, and return the counts. Keep the index that the previous release uses."""
    from ..indexes import find_unindexed, format_amount, index_wikis

    found = await find_unindexed(database)
    wikis = [wiki for wiki in found if wiki["is_due"]]
    if wikis:
        print_status(f"Search still has to index {format_amount(wikis)}")
    result = await index_wikis(database, wikis, keep_older=True)
    if any(wiki["has_older"] for wiki in found):
        print_status(
            "Servers of the previous release still use the previous index. Once they are replaced, run: cairn reindex"
        )
    return {"reindexed": result._asdict()}


async def count_unindexed(database: "Database") -> dict[str, Any]:
    """Return how many wikis, pages and sources search has not indexed yet."""
    from ..indexes import find_unindexed, format_amount

    wikis = [wiki for wiki in await find_unindexed(database) if wiki["is_due"]]
    if wikis:
        print_status(f"Search still has to index {format_amount(wikis)}. Run: cairn reindex")
    return {
        "unread": {
            "wikis": len(wikis),
            "pages": sum(wiki["unread"] for wiki in wikis),
            "sources": sum(wiki["unread_sources"] for wiki in wikis),
        }
    }


LABELS = {
    "embedded": "embedded server",
    "dataDir": "data folder",
    "running": "used by other processes",
    "serverVersion": "PostgreSQL",
    "pendingMigrations": "pending migrations",
    "pendingJobs": "queued jobs",
    "runningJobs": "running jobs",
    "oldestPendingJobSeconds": "age of the oldest queued job in seconds",
    "failedJobs": "failed jobs",
    "bytes": "size in bytes",
    "connections": "connections",
    "maxConnections": "maximum number of connections",
}


def add_status(parent: typer.Typer) -> None:
    parent.command("status", epilog="Example: cairn status --json")(status)


def status(as_json: AsJson = False) -> None:
    """Show the database in use and a summary of its contents. Exits with 1 if the database is unavailable or lacks
    migrations."""
    from ...settings import Settings
    from ..inventory import database_state

    facts = database_state(Settings())
    if as_json:
        print_json(facts)
    else:
        for name, fact in facts.items():
            say(f"{LABELS.get(name, name)}: {format_fact(fact)}")
    if "problem" in facts:
        raise typer.Exit(1)


def format_fact(fact: object) -> str:
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return ", ".join(fact) or "none" if isinstance(fact, list) else str(fact)


def add_schema(parent: typer.Typer) -> None:
    epilog = "Example: cairn schema > schema.graphql; cairn schema --rest > openapi.json"
    parent.command("schema", epilog=epilog)(schema)


def schema(
    rest: Annotated[bool, typer.Option("--rest", help="Print the OpenAPI document of the REST API instead.")] = False,
    admin: Annotated[bool, typer.Option("--admin", help="Print the OpenAPI document of /api/admin instead.")] = False,
    older: Annotated[bool, typer.Option("--v0", help="Print the GraphQL schema of /graphql/v0 instead.")] = False,
) -> None:
    """Print the GraphQL schema. No database is needed."""
    if rest + admin + older > 1:
        raise typer.BadParameter("give one of --rest, --admin and --v0")
    if rest:
        from ...rest.application import contract_text

        say(contract_text())
        return
    if admin:
        from ...rest.admin.application import contract_text as admin_contract_text

        say(admin_contract_text())
        return
    from schema import root, v0

    say((v0 if older else root).sdl().rstrip())


app = typer.Typer(help="Manage trusted documents, which clients call by id.", no_args_is_help=True)
Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder of trusted documents (see CAIRN_DOCUMENTS_DIR).")
]
FAILURE = 1


def add_documents(parent: typer.Typer) -> None:
    parent.add_typer(app, name="documents", epilog="Example: cairn documents check --help")


@app.command("check", epilog="Example: cairn documents check ./documents")
def check(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Folder of documents (see CAIRN_DOCUMENTS_DIR), or a single file.")
    ],
    as_json: AsJson = False,
) -> int:
    """Check trusted documents. Compares them with their ids, the schema and the limits; no database is needed."""
    from ...documents.folder import read_path, refusals
    from ...http.request import document_limits
    from ...settings import Settings

    documents, faults = read_path(path)
    faults += refusals(documents, document_limits(Settings()))
    if as_json:
        found = [{"file": str(fault.file), "id": fault.id, "message": fault.message} for fault in faults]
        print_json({"documents": len(documents), "faults": found})
    else:
        for fault in faults:
            say(str(fault))
        say(f"{len(documents)} documents, {len(faults)} errors.")
    return FAILURE if faults else 0


@app.command("add", epilog="Example: cairn documents add ./documents queries/page.graphql")
def add(
    folder: Folder,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="File with one GraphQL document.")],
    as_json: AsJson = False,
) -> None:
    """Add documents to the folder and print their ids. Files are named by their SHA-256. Adds none if one of them is
    invalid."""
    from ...documents.folder import add_documents
    from ...http.request import document_limits
    from ...settings import Settings

    added = add_documents(folder, files, document_limits(Settings()))
    if as_json:
        print_json([{"file": str(file), "id": f"sha256:{digest}"} for file, digest in added.items()])
    else:
        for file, digest in added.items():
            say(f"sha256:{digest}  {file}")


def add_to(parent: typer.Typer) -> None:
    add_serve(parent)
    add_migrate(parent)
    add_status(parent)
    add_schema(parent)
    add_documents(parent)
