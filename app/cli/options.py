"""Options that many commands share, parsers of their values, and `cairn settings`."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand

from .output import print_json, print_status, print_table

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LONG_OPTION = re.compile(r"(--[a-z][a-z-]*)(=.*)?", re.DOTALL)
DURATION = re.compile(r"(\d{1,9})([smhdw])")
DURATION_DAYS_MAX = 36_500


class TextCommand(TyperCommand):
    """A command whose arguments may begin with a hyphen: Markdown, as in `- an item`, or a query, as in `-decaf tea`.

    All of its options have long names, so that only a word such as `--name` or `--name=value` can be an option. A word
    of that form that names none of its options is refused as a misspelling, unless it follows `--`.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        names = {
            name: parameter
            for parameter in self.get_params(ctx)
            for name in (*parameter.opts, *parameter.secondary_opts)
        }
        words = args[: args.index("--")] if "--" in args else args
        for previous, word in pairwise(["", *words]):
            is_value = previous in names and not getattr(names[previous], "is_flag", False)
            long_option = LONG_OPTION.fullmatch(word)
            if long_option and long_option[1] not in names and not is_value:
                return super().parse_args(ctx, [word])  # raises an error that suggests options of a similar spelling
        ctx.ignore_unknown_options = True
        return super().parse_args(ctx, args)


def duration(text: str) -> int:
    """Return the number of seconds of `90s`, `15m`, `12h`, `30d` or `2w`, at most a hundred years."""
    match = DURATION.fullmatch(text.strip())
    if not match:
        raise typer.BadParameter("write it as 90s, 15m, 12h, 30d or 2w")
    seconds = int(match[1]) * SECONDS[match[2]]
    if seconds > DURATION_DAYS_MAX * SECONDS["d"]:
        raise typer.BadParameter(f"give at most {DURATION_DAYS_MAX}d")
    return seconds


def parse_time(text: str) -> str:
    """Return an ISO 8601 date or time unchanged, or raise BadParameter."""
    from datetime import datetime

    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter("write it as 2026-01-31 or 2026-01-31T10:00:00Z") from None
    return text


Tenant = Annotated[
    str, typer.Option("--tenant", metavar="SLUG", envvar="CAIRN_TENANT", help="Slug or id of the tenant.")
]
Owner = Annotated[
    str, typer.Option("--owner", metavar="SLUG", envvar="CAIRN_OWNER", help="Slug or id of the owner of the wiki.")
]
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Maximum number of results.")]
After = Annotated[
    str | None,
    typer.Option("--after", metavar="CURSOR", help="Cursor printed by the previous call, to continue after it."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the output as JSON.")]
Host = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Address to listen on. Defaults to CAIRN_HOST, then to 127.0.0.1.")
]
Port = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, max=65535, help="Port to listen on. Defaults to CAIRN_PORT, then to 8000."),
]


if TYPE_CHECKING:
    from ..settings import Settings


def add_to(parent: typer.Typer) -> None:
    parent.command("settings", epilog="Example: cairn settings; cairn settings --json")(settings)


def settings(as_json: AsJson = False) -> None:
    """List all settings. Shows their values, origins and possible values; secrets are masked."""
    from ..settings import PREFIX, masked, sources_of, values_of

    current = read_settings()
    rows = [
        {"name": f"{PREFIX}{name.upper()}", "value": masked(getattr(current, name)), "source": source, "values": values}
        for name, source in sources_of(current).items()
        for values in [values_of(name)]
    ]
    if as_json:
        print_json(rows)
    else:
        cells = [(row["name"], row["value"], row["source"], ", ".join(row["values"])) for row in rows]
        print_table(["setting", "value", "from", "one of"], cells)


def read_settings() -> "Settings":
    """Return the settings of the environment, and warn on stderr of CAIRN_ variables that are not settings."""
    from ..settings import Settings, unknown_variables

    current = Settings()
    for name, nearest in unknown_variables().items():
        hint = f"Did you mean {nearest}?" if nearest else "List settings with: cairn settings"
        print_status(f"cairn: {name} is not a setting. {hint}")
    return current
