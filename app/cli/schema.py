"""`cairn schema`: the contracts, as text."""

from typing import Annotated

import typer

from .output import say


def add_to(parent: typer.Typer) -> None:
    epilog = "Example: cairn schema > schema.graphql; cairn schema --rest > openapi.json"
    parent.command("schema", epilog=epilog)(schema)


def schema(
    rest: Annotated[bool, typer.Option("--rest", help="The OpenAPI document of the REST API instead.")] = False,
    admin: Annotated[bool, typer.Option("--admin", help="The OpenAPI document of /api/admin instead.")] = False,
    older: Annotated[bool, typer.Option("--v0", help="The GraphQL schema of /graphql/v0 instead.")] = False,
) -> None:
    """Print the GraphQL schema. Needs no database."""
    if rest:
        from app.rest.application import contract_text

        say(contract_text())
        return
    if admin:
        from app.rest.admin import contract_text as admin_contract_text

        say(admin_contract_text())
        return
    from schema import root, v0

    say((v0 if older else root).sdl().rstrip())
