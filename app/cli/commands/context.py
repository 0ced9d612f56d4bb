"""`cairn context`: what a wiki knows for a task, within a budget of tokens."""

from typing import Annotated

import typer

from ..options import AsJson, Owner, Tenant, TextCommand
from ..output import say, show
from .pages import run_query


def add_to(parent: typer.Typer) -> None:
    example = "Example: cairn context 'kiln glaze' --task 'Order a new kiln' --tenant acme --owner mara"
    parent.command("context", cls=TextCommand, epilog=example)(context)


def context(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to search for.")],
    tenant: Tenant,
    owner: Owner,
    task: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What is to be done: names in it load pages.")
    ] = None,
    role: Annotated[str | None, typer.Option(metavar="ROLE", help="Who does it: loads the standards of it.")] = None,
    budget: Annotated[int, typer.Option(metavar="N", help="Tokens at most, four bytes each: 1 to 100,000.")] = 4_000,
    spaces: Annotated[
        list[str] | None,
        typer.Option("--space", metavar="SLUG", help="From this owner's wiki; several are possible."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a wiki and its shared spaces know for a task, as markdown for a prompt."""
    asked = {"query": query, "task": task, "role": role, "budget": budget, "spaces": spaces or None}
    found = run_query("context", "wikiContext", tenant, owner, **asked)
    if as_json:
        show(found)
    else:
        say(found["text"].rstrip("\n") or "Nothing is known about this.")
