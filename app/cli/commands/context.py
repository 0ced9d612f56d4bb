"""`cairn context`: print what a wiki knows about a task, within a budget of tokens."""

from typing import Annotated

import typer

from ..options import AsJson, Owner, Tenant, TextCommand
from ..output import print_json, say
from .pages import run_query


def add_to(parent: typer.Typer) -> None:
    example = "Example: cairn context 'kiln glaze' --task 'Order a new kiln' --tenant acme --owner mara"
    parent.command("context", cls=TextCommand, epilog=example)(context)


def context(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Search query.")],
    tenant: Tenant,
    owner: Owner,
    task: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Description of the task. Pages that it names are included.")
    ] = None,
    role: Annotated[
        str | None, typer.Option(metavar="ROLE", help="Role of the reader. Standards for this role are included.")
    ] = None,
    budget: Annotated[
        int, typer.Option(metavar="N", help="Maximum number of tokens (of four bytes each), from 1 to 100,000.")
    ] = 4_000,
    spaces: Annotated[
        list[str] | None,
        typer.Option("--space", metavar="SLUG", help="Include the wiki of this owner. Can be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what a wiki knows about a task. The output is Markdown for a prompt, and covers shared spaces that the
    owner can read."""
    variables = {"query": query, "task": task, "role": role, "budget": budget, "spaces": spaces or None}
    found = run_query("context", "wikiContext", tenant, owner, **variables)
    if as_json:
        print_json(found)
    else:
        say(found["text"].rstrip("\n") or "No page or source matches.")
