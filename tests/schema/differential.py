"""The check before a release: python -m tests.schema.differential --runs 3000

Runs that many random documents, from a new seed: bytes, values and the reference must agree on each. The suite runs the
same test on a few documents. A failure names the seed of its document; `--seed N --runs 1` repeats it.
"""

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEST = "tests/schema/execution/test_differential.py"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make differential", description="Random documents, three ways.")
    parser.add_argument("--runs", type=int, default=3000, help="documents; each runs with three sets of variables")
    parser.add_argument("--seed", type=int, help="of the first document; the others have the numbers after it")
    parser.add_argument("--processes", default="auto", help="how many at once")
    given = parser.parse_args(words)
    seed = random.randrange(10**9) if given.seed is None else given.seed
    print(f"{given.runs} documents from --seed {seed}", flush=True)
    environment = os.environ | {"SEED": str(seed), "DOCUMENTS": str(given.runs)}
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(given.processes), TEST]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
