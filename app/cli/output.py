"""What commands say: data to stdout, the rest to stderr."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def say(text: str = "") -> None:
    """A line of the answer. A page's text may hold what would take over a terminal: that is not passed on."""
    print(CONTROL.sub("", text), flush=True)


def tell(text: str) -> None:
    """What is being done, for whoever waits."""
    print(CONTROL.sub("", text), file=sys.stderr, flush=True)


def show(data: Any) -> None:
    """The answer for programs."""
    write_json(sys.stdout, data, indent=True)


def complain(code: str, message: str, for_programs: bool, details: Mapping[str, Any] | None = None) -> None:
    """What went wrong, on one line; a help text has more and stands for itself."""
    if for_programs:
        write_json(sys.stderr, {"error": {"code": code, "message": message, **(details or {})}})
    else:
        tell(message if "\n" in message else f"cairn: {message}")


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns as wide as what is in them; on a terminal they break where it ends."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(soft_wrap=False, width=None if sys.stdout.isatty() else 10_000)
    drawn = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        drawn.add_row(*(Text(CONTROL.sub("", str(cell))) for cell in row))
    with console.capture() as captured:
        console.print(drawn)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()), flush=True)


def write_json(stream: TextIO, data: Any, indent: bool = False) -> None:
    """In UTF-8, whatever the terminal speaks."""
    stream.flush()
    stream.buffer.write(f"{as_json(data, indent)}\n".encode())
    stream.flush()


def as_json(data: Any, indent: bool = False) -> str:
    import orjson

    # `str` is for the UUIDs of the driver, which are a class of their own.
    try:
        return orjson.dumps(data, default=str, option=orjson.OPT_INDENT_2 if indent else 0).decode()
    except TypeError:  # a name of a file that is not UTF-8, as Python has it
        return json.dumps(data, default=str, indent=2 if indent else None)
