"""python -m benchmarks.upkeep"""

import typer

from .ingests import ingests
from .linting import linted
from .syncing import syncs

app = typer.Typer(help=__doc__, rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False,
                  no_args_is_help=True)  # fmt: skip
app.command("lint", epilog="Example: python -m benchmarks.upkeep lint --pages 100000")(linted)
app.command("ingests", epilog="Example: python -m benchmarks.upkeep ingests --number 1000 --kills 200")(ingests)
app.command("syncs", epilog="Example: python -m benchmarks.upkeep syncs --notes 10000")(syncs)

if __name__ == "__main__":
    app(prog_name="python -m benchmarks.upkeep")
