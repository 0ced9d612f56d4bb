"""`cairn schema`: the contracts, as text."""

from typing import Annotated

import typer

from .output import say


def add_to(parent: typer.Typer) -> None:
    epilog = "Example: cairn schema > schema.graphql; cairn schema --rest > openapi.json"
    parent.command("schema", epilog=epilog)(schema)


def schema(
    rest: Annotated[bool, typer.Option("--rest", help="The OpenAPI document of the REST API instead.")] = False,
) -> None:
    """Print the GraphQL schema. Needs no database."""
    if rest:
        from app.rest.application import contract_text

        say(contract_text())
        return
    from schema.root import sdl

    say(sdl().rstrip())
