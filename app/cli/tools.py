"""`cairn tools`: what agents can call."""

import typer

from .options import AsJson
from .output import say, show


def add_to(parent: typer.Typer) -> None:
    parent.command("tools", epilog="Example: cairn tools --json")(tools)


def tools(as_json: AsJson = False) -> None:
    """List the tools for agents; with --json their schemas too, as MCP has them. Needs no database."""
    from app.tools.catalogue import TOOLS

    listed = [tool.listed() for tool in TOOLS]
    if as_json:
        show([one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed])
        return
    for one in listed:
        taken = ", ".join(one.input_schema.get("properties", {}))
        say(f"{one.name}({taken})\n    {one.description}")
