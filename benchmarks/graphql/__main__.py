"""python -m benchmarks.graphql"""

import signal
import sys

import typer

from .answers import Unequal
from .database import InUse
from .run import compare, memory
from .servers import MissingProgram
from .wrk import LoadFailed

app = typer.Typer(help=__doc__, rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
app.command(epilog="Example: python -m benchmarks.graphql compare --only cairn,baseline,page --seconds 1")(compare)
app.command(epilog="Example: python -m benchmarks.graphql memory --requests 200000")(memory)

if __name__ == "__main__":
    # SIGTERM acts as Ctrl-C does, so that the event loop closes its connections in order.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    names = sys.argv[1:] or ["compare"]
    try:
        app(names if names[0] in ("compare", "memory", "--help") else ["compare", *names],
            prog_name="python -m benchmarks.graphql")  # fmt: skip
    except (InUse, LoadFailed, MissingProgram, Unequal) as error:
        sys.exit(str(error))
