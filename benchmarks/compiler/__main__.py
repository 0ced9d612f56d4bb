"""python -m benchmarks.compiler"""

import sys

import typer

from .crashes import crashes
from .judging import judged
from .sizes import sizes
from .storm import storm
from .whole import whole
from .writings import NoCollections

app = typer.Typer(help=__doc__, rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False,
                  no_args_is_help=True)  # fmt: skip
for command, example in (
    (whole, "whole --sources 2000"),
    (sizes, "sizes --pages 20000"),
    (crashes, "crashes --kills 200"),
    (judged, "judged --half tune"),
    (storm, "storm --workers 8 --scopes 200 --sources 20000"),
):
    app.command(epilog=f"Example: python -m benchmarks.compiler {example}")(command)

if __name__ == "__main__":
    try:
        app(prog_name="python -m benchmarks.compiler")
    except NoCollections as error:
        sys.exit(str(error))
