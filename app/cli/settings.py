"""`cairn settings`: what is set, and by what."""

from typing import TYPE_CHECKING

import typer

from .options import AsJson
from .output import show, table, tell

if TYPE_CHECKING:
    from ..settings import Settings


def add_to(parent: typer.Typer) -> None:
    parent.command("settings", epilog="Example: cairn settings; cairn settings --json")(settings)


def settings(as_json: AsJson = False) -> None:
    """List every setting with its value, where that is from, and the values that it may have. Secrets are masked."""
    from ..settings import PREFIX, masked, sources_of, values_of

    read = read_settings()
    rows = [
        {"name": f"{PREFIX}{name.upper()}", "value": masked(getattr(read, name)), "source": source, "values": values}
        for name, source in sources_of(read).items()
        for values in [values_of(name)]
    ]
    if as_json:
        show(rows)
    else:
        cells = [(one["name"], one["value"], one["source"], ", ".join(one["values"])) for one in rows]
        table(["setting", "value", "from", "one of"], cells)


def read_settings() -> "Settings":
    """The settings of the environment. A variable that is none of them is named on stderr."""
    from ..settings import Settings, unknown_variables

    read = Settings()
    for name, nearest in unknown_variables().items():
        hint = f"Did you mean {nearest}?" if nearest else "See those that there are with: cairn settings"
        tell(f"cairn: {name} is not a setting. {hint}")
    return read
