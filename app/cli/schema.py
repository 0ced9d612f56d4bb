"""`cairn schema`: the contract, as text."""

import typer

from .output import say


def add_to(parent: typer.Typer) -> None:
    parent.command("schema", epilog="Example: cairn schema > schema.graphql")(schema)


def schema() -> None:
    """Print the GraphQL schema. Needs no database."""
    from schema.root import sdl

    say(sdl().rstrip())
