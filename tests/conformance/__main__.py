"""`make conformance`: public conformance suites and clients against a running Cairn. Exits with 1 if a check fails."""

import argparse
import asyncio
import json
import sys
import time
from typing import NamedTuple

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from .packages import MissingProgram, check_node, install
from .programs import Check
from .sample_service import sample_service
from .suites import SUITES

terminal = Console(stderr=True, highlight=False)


class Result(NamedTuple):
    """The checks of one suite, and how many seconds it took."""

    name: str
    checks: list[Check]
    seconds: float

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if not check.passed]

    @property
    def passed(self) -> str:
        counted = f"{len(self.checks) - len(self.failed)} of {len(self.checks)}"
        details = ", ".join(check.detail for check in self.checks if check.passed and check.detail)
        return f"{counted} ({details})" if details else counted


def report(text: str) -> None:
    terminal.print(text, style="dim")


async def conform(names: list[str], more: dict[str, str]) -> list[Result]:
    await check_node()
    await install(report)
    results = []
    async with sample_service(report) as environment:
        with progress() as shown:
            task = shown.add_task("", total=len(names))
            for name in names:
                shown.update(task, description=f"{name}: {SUITES[name].about}")
                started = time.monotonic()
                checks = await SUITES[name].run(environment | more)
                results.append(Result(name, checks, time.monotonic() - started))
                report(f"{name}: {results[-1].passed}")
                for check in results[-1].failed:
                    terminal.print(f"  failed: {check.name}\n{check.detail}", style="red", markup=False)
                shown.advance(task)
    return results


def progress() -> Progress:
    return Progress(SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn(),
                    console=terminal, transient=True)  # fmt: skip


def show(results: list[Result]) -> None:
    table = Table("suite", "versions", "passed", "seconds")
    for result in results:
        table.add_row(result.name, SUITES[result.name].versions(), result.passed, f"{result.seconds:.0f}")
    Console(highlight=False).print(table)


def as_json(results: list[Result]) -> str:
    shown = {
        name: {
            "versions": SUITES[name].versions(),
            "seconds": round(seconds, 1),
            "checks": [check._asdict() for check in checks],
        }
        for name, checks, seconds in results
    }
    return json.dumps(shown, indent=2)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("--json", action="store_true", help="every check as JSON instead of a table")
    parser.add_argument(
        "--skip", action="append", default=[], choices=SUITES, metavar="SUITE", help="a suite to leave out"
    )
    parser.add_argument("--where-possible", action="store_true", help="without Node, say so and be content")
    parser.add_argument("--seed", type=int, help="of the generated requests: a failure says its own")
    parser.add_argument("--examples", type=int, metavar="N", help="generated requests for each operation")
    given = parser.parse_args()
    drawn = {"CAIRN_FUZZ_SEED": given.seed, "CAIRN_FUZZ_EXAMPLES": given.examples}
    names = [name for name in SUITES if name in (given.names or SUITES) and name not in given.skip]
    if not names or not SUITES.keys() >= {*given.names}:
        parser.error(f"the suites are {', '.join(SUITES)}")
    try:
        results = asyncio.run(conform(names, {name: str(value) for name, value in drawn.items() if value is not None}))
    except MissingProgram as lacking:
        terminal.print(f"Conformance was not tested. {lacking}", markup=False)
        return 0 if given.where_possible else 1
    print(as_json(results)) if given.json else show(results)
    return 1 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
