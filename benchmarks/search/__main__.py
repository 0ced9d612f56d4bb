"""Measures the quality and the cost of search, with the collections of benchmarks/RESULTS.md#search."""

import sys

import typer

from .collection import NoCollections
from .compare import compare
from .corpus import corpus
from .fuzz import fuzz
from .latency import latency
from .quality import quality

app = typer.Typer(help=__doc__, rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False,
                  no_args_is_help=True)  # fmt: skip
for command, example in (
    (quality, "quality --collections cran,obs_de --cap 100"),
    (corpus, "corpus --pages 100000"),
    (latency, "latency --json latency.json"),
    (fuzz, "fuzz --runs 10000"),
    (compare, "compare --pages-list 1000,10000,100000"),
):
    app.command(epilog=f"Example: python -m benchmarks.search {example}")(command)

if __name__ == "__main__":
    try:
        app(prog_name="python -m benchmarks.search")
    except NoCollections as error:
        sys.exit(str(error))
