"""Options that many commands have, and how their values are read."""

import re
from typing import Annotated

import typer

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
DURATION = re.compile(r"(\d{1,9})([smhdw])")


def duration(text: str) -> int:
    """Seconds: `90s`, `15m`, `12h`, `30d`, `2w`."""
    found = DURATION.fullmatch(text.strip())
    if not found:
        raise typer.BadParameter("write it as 90s, 15m, 12h, 30d or 2w")
    return int(found[1]) * SECONDS[found[2]]


def moment(text: str) -> str:
    """A date or a moment in ISO 8601, as it was given."""
    from datetime import datetime

    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter("write it as 2026-01-31 or 2026-01-31T10:00:00Z") from None
    return text


Tenant = Annotated[
    str, typer.Option("--tenant", metavar="SLUG", envvar="CAIRN_TENANT", help="The tenant's slug or id.")
]
Owner = Annotated[
    str, typer.Option("--owner", metavar="SLUG", envvar="CAIRN_OWNER", help="Whose wiki it is: the owner's slug or id.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Host = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="The address to listen on; else CAIRN_HOST, else 127.0.0.1.")
]
Port = Annotated[int | None, typer.Option(metavar="N", min=0, max=65535, help="The port; else CAIRN_PORT, else 8000.")]
