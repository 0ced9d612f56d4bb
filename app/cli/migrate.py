"""`cairn migrate`: the newest schema, and search over it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson
from .output import say, show, tell

if TYPE_CHECKING:
    from app.settings import Settings
    from db.database import Database


def add_to(parent: typer.Typer) -> None:
    parent.command("migrate", epilog="Example: cairn migrate")(migrate)


def migrate(
    no_reindex: Annotated[
        bool, typer.Option("--no-reindex", help="Only say what search has yet to read: until then it does not find it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database to the newest schema. Then search reads the pages that it has not read.

    Safe to run at any time, by several at once. Stopped while search reads, it has migrated all the same.
    """
    import asyncio

    from app.settings import Settings

    from .session import opened

    settings = Settings()
    with server(settings) as dsn:
        applied = migrated(dsn, is_yours=settings.database_url is not None)
        if not as_json:
            say(f"Applied {', '.join(applied)}." if applied else "The database is at the newest schema already.")
        found = asyncio.run(opened(settings, dsn, left if no_reindex else caught_up))
    if as_json:
        show({"applied": applied, **found})


@contextmanager
def server(settings: "Settings") -> Iterator[str]:
    """The DSN: of yours, or of the one that comes with Cairn, while this lasts."""
    from db.embedded import EmbeddedServer

    if settings.database_url is not None:
        yield settings.database_url
    else:
        with EmbeddedServer(settings.data_dir, tell) as dsn:
            yield dsn


def migrated(dsn: str, *, is_yours: bool) -> list[str]:
    """The revisions that were applied."""
    import asyncio

    from db.migrate import migrate as to_newest

    from .session import reached

    migrating = to_newest(dsn, tell)
    return asyncio.run(reached(dsn, migrating) if is_yours else migrating)


async def caught_up(database: "Database") -> dict[str, Any]:
    """What search read of what it had not read. Servers of the release before go on answering by their own index."""
    from .indexes import amount, due, read

    found = await due(database)
    wikis = [wiki for wiki in found if wiki["is_due"]]
    if wikis:
        tell(f"Search has yet to read {amount(wikis)}")
    done = await read(database, wikis, keep_older=True)
    if any(wiki["has_older"] for wiki in found):
        tell("The older index stays for servers of the older release. Once they are replaced, run: cairn reindex")
    return {"reindexed": done._asdict()}


async def left(database: "Database") -> dict[str, Any]:
    """What search has yet to read."""
    from .indexes import amount, due

    wikis = [wiki for wiki in await due(database) if wiki["is_due"]]
    if wikis:
        tell(f"Search has yet to read {amount(wikis)}. Run: cairn reindex")
    return {"unread": {"wikis": len(wikis), "pages": sum(wiki["unread"] for wiki in wikis)}}
