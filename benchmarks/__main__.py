"""python -m benchmarks"""

import typer

from .run import main

typer.run(main)
