"""Checks generated edits, then measures edits, history and renames: python -m benchmarks.editing"""

import tempfile
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from rich.console import Console
from rich.table import Table

from db.embedded import EmbeddedServer

from .generated import check_edits
from .passes import differences, passes
from .stored import measure_storage
from .worst import worst


def main(
    edits: Annotated[int, typer.Option(min=1, help="Generated edits to check.")] = 10_000,
    versions: Annotated[int, typer.Option(min=100, help="Versions of the page with a long history.")] = 10_000,
) -> None:
    """Check and measure edits, history and renames."""
    console = Console()
    console.print(f"{edits} generated edits: {check_edits(edits)} by pass; all of them kept what they do not name.")
    figures = [*passes(), *differences()]
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedServer(Path(folder) / "data", durable=False) as dsn:
            figures += uvloop.run(measure_storage(dsn, versions))
    table = Table("what", "figure")
    for name, figure in figures:
        table.add_row(name, figure)
    missed = []
    for name, milliseconds, limit in worst():
        table.add_row(f"100 kB: {name}", f"{milliseconds:.1f} ms of CPU, {limit:.0f} at most")
        missed += [name] if milliseconds > limit else []
    console.print(table)
    if missed:
        console.print(f"Too slow: {', '.join(missed)}.")
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
