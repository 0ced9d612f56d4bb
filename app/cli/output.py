"""The output of commands: data goes to stdout, everything else to stderr."""

import io
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO
from unicodedata import combining, east_asian_width

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def say(text: str = "") -> None:
    """Print a line to stdout, without control characters: the text of a page could otherwise control the terminal."""
    print(CONTROL.sub("", text), flush=True)


def print_status(text: str) -> None:
    """Print a line about progress, or a note for people, to stderr."""
    print(CONTROL.sub("", text), file=sys.stderr, flush=True)


def print_json(data: Any) -> None:
    """Print the result of a command to stdout as JSON."""
    write_json(sys.stdout, data, indent=True)


def print_error(code: str, message: str, for_programs: bool, details: Mapping[str, Any] | None = None) -> None:
    """Print an error as one line on stderr, as JSON for programs. A help text of several lines is printed unchanged."""
    if for_programs:
        write_json(sys.stderr, {"error": {"code": code, "message": message, **(details or {})}})
    else:
        print_status(message if "\n" in message else f"cairn: {message}")


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table whose columns are as wide as their contents. On a terminal, long cells wrap."""
    cells = [tuple(CONTROL.sub("", str(cell)) for cell in row) for row in rows]
    if sys.stdout.isatty() or any(has_line_break(cell) for row in cells for cell in row):
        print_rich_table(headings, cells)
        return
    lines = [tuple(headings), *cells]
    widths = [max(map(display_width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (cell + " " * (wide - display_width(cell)) for cell, wide in zip(line, widths, strict=True))
        print("  ".join(padded).rstrip())
    sys.stdout.flush()


def has_line_break(cell: str) -> bool:
    return not {"\n", "\t"}.isdisjoint(cell)


def display_width(text: str) -> int:
    """Return how many terminal columns a text needs: two for a wide letter, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def print_rich_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with Rich, which wraps long cells and is slow to import."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(soft_wrap=False, width=None if sys.stdout.isatty() else 10_000)
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*map(Text, row))
    with console.capture() as captured:
        console.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()), flush=True)


def write_json(stream: TextIO, data: Any, indent: bool = False) -> None:
    """Write JSON in UTF-8, whatever the encoding of the terminal."""
    stream.flush()
    stream.buffer.write(f"{to_json(data, indent)}\n".encode())
    stream.flush()


def to_json(data: Any, indent: bool = False) -> str:
    import orjson

    # orjson does not know the UUID class of asyncpg, so `str` converts these UUIDs.
    try:
        return orjson.dumps(data, default=str, option=orjson.OPT_INDENT_2 if indent else 0).decode()
    except TypeError:  # a file name that is not UTF-8 has lone surrogates in Python
        return json.dumps(data, default=str, indent=2 if indent else None)


def prepare_streams() -> None:
    """Escape characters that a terminal cannot show, and replace closed standard streams by the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def read_stdin() -> str:
    """Return all of stdin without the byte order mark that Windows adds. Raises BadInput if it is not UTF-8."""
    from resolvers.errors import BadInput

    try:
        return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise BadInput(f"The input on stdin is not UTF-8: {error.reason}.") from None
