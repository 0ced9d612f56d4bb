"""`cairn migrate`: the newest schema."""

import typer

from .options import AsJson
from .output import say, show, tell


def add_to(parent: typer.Typer) -> None:
    parent.command("migrate", epilog="Example: cairn migrate")(migrate)


def migrate(as_json: AsJson = False) -> None:
    """Bring the database to the newest schema. Safe to run at any time, by several at once."""
    applied = migrated()
    if as_json:
        show({"applied": applied})
    else:
        say(f"Applied {', '.join(applied)}." if applied else "The database is at the newest schema already.")


def migrated() -> list[str]:
    """The revisions that were applied."""
    import asyncio

    from app.settings import Settings
    from db.embedded import EmbeddedServer
    from db.migrate import migrate as to_newest

    from .session import reached

    settings = Settings()
    if settings.database_url is not None:
        return asyncio.run(reached(settings.database_url, to_newest(settings.database_url, tell)))
    with EmbeddedServer(settings.data_dir, tell) as dsn:
        return asyncio.run(to_newest(dsn, tell))
