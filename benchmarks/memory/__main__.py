"""Measures search of evidence with the conversations of benchmarks/RESULTS.md#memory: python -m benchmarks.memory"""

import sys

import typer

from ..search.collection import NoCollections
from .compiled import compiled
from .costs import costs
from .newer import corrections
from .recall import recall

app = typer.Typer(help=__doc__, rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False,
                  no_args_is_help=True)  # fmt: skip
for command, example in (
    (recall, "recall --embeddings http://127.0.0.1:11434/v1 --model all-minilm --json recall.json"),
    (compiled, "compiled --conversations locomo_conv-26"),
    (costs, "costs --passages 100000"),
    (corrections, "corrections --held-out"),
):
    app.command(epilog=f"Example: python -m benchmarks.memory {example}")(command)

if __name__ == "__main__":
    try:
        app(prog_name="python -m benchmarks.memory")
    except NoCollections as error:
        sys.exit(str(error))
