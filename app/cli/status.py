"""`cairn status`: where the data is, and what state it is in."""

from typing import TYPE_CHECKING, Any

import typer

from .options import AsJson
from .output import say, show, tell

if TYPE_CHECKING:
    from app.settings import Settings


def add_to(parent: typer.Typer) -> None:
    parent.command("status", epilog="Example: cairn status --json")(status)


def status(as_json: AsJson = False) -> None:
    """Say which database is used and what is in it. Changes nothing; 1 when it cannot be used as it is."""
    from app.settings import Settings

    settings = Settings()
    facts = embedded_facts(settings) if settings.database_url is None else given_facts(settings.database_url)
    if as_json:
        show(facts)
    else:
        for name, fact in facts.items():
            if fact is not None:
                say(f"{WORDS[name]}: {in_words(fact)}")
    if facts["problem"]:
        raise typer.Exit(1)


WORDS = {
    "embedded": "embedded server",
    "dataDir": "data folder",
    "running": "running before this command",
    "serverVersion": "PostgreSQL",
    "pendingMigrations": "pending migrations",
    "tenants": "tenants",
    "owners": "owners",
    "pages": "pages",
    "problem": "problem",
}


def embedded_facts(settings: "Settings") -> dict[str, Any]:
    """A server that is there is started for a moment; none is made."""
    from db.embedded import EmbeddedServer

    server = EmbeddedServer(settings.data_dir, tell)
    where = {"embedded": True, "dataDir": str(server.data_dir), "running": server.running()}
    if not server.cluster.exists():
        nothing = dict.fromkeys(("serverVersion", "pendingMigrations", "tenants", "owners", "pages", "problem"))
        return where | nothing
    with server as dsn:
        return where | database_facts(dsn)


def given_facts(dsn: str) -> dict[str, Any]:
    return {"embedded": False} | database_facts(dsn)


def database_facts(dsn: str) -> dict[str, Any]:
    """What the database says of itself, or why it does not."""
    import asyncio

    from db.migrate import MigrationRefused, pending
    from resolvers.errors import CairnError

    from .session import reached

    facts: dict[str, Any] = dict.fromkeys(WORDS)
    try:
        missing = asyncio.run(reached(dsn, pending(dsn)))
    except (CairnError, MigrationRefused) as error:
        return {"problem": str(error)}
    problem = f"Migrations are pending ({', '.join(missing)}). Run: cairn migrate" if missing else None
    return {}
