"""`cairn status`: where the data is, and what state it is in."""

import typer

from .options import AsJson
from .output import say, show

WORDS = {
    "embedded": "embedded server",
    "dataDir": "data folder",
    "running": "in use by others",
    "serverVersion": "PostgreSQL",
    "pendingMigrations": "pending migrations",
}


def add_to(parent: typer.Typer) -> None:
    parent.command("status", epilog="Example: cairn status --json")(status)


def status(as_json: AsJson = False) -> None:
    """Say which database is used and what is in it. Changes nothing; exits with 1 when it cannot be used as it is."""
    from app.settings import Settings

    from .facts import known

    facts = known(Settings())
    if as_json:
        show(facts)
    else:
        for name, fact in facts.items():
            say(f"{WORDS.get(name, name)}: {in_words(fact)}")
    if "problem" in facts:
        raise typer.Exit(1)


def in_words(fact: object) -> str:
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return ", ".join(fact) or "none" if isinstance(fact, list) else str(fact)
