"""Measures what the default planner finds and writes in labelled journals, and in notes and manuals."""

import argparse
import asyncio
import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.planner.measure import Result, measure
from benchmarks.planner.scopes import JOURNALS, ScopeOfNotes, collection, journal, vault


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planner", description=__doc__)
    parser.add_argument("--json", action="store_true", help="counts as JSON, with missing and surplus pages")
    parser.add_argument(
        "--vault", type=Path, action="append", default=[], metavar="DIR", help="a folder of Markdown notes"
    )
    parser.add_argument(
        "--collection", type=Path, action="append", default=[], metavar="DIR", help="a folder with docs.jsonl.gz"
    )
    parser.add_argument("--half", choices=["tune", "held"], help="only this half of the journals")
    parser.add_argument("--batch", type=int, default=50, help="sources per batch (50)")
    parser.add_argument("--pages", action="store_true", help="print the pages instead")
    arguments = parser.parse_args()
    results = []
    for scope in _scopes(arguments):
        result, wiki = asyncio.run(measure(scope, arguments.batch))
        results.append(result)
        if arguments.pages:
            print("\n\n".join(page.markdown() for page in wiki.all))
    if arguments.json:
        print(json.dumps([asdict(result) for result in results], ensure_ascii=False, indent=1))
    elif not arguments.pages:
        _print(results)


def _scopes(arguments: argparse.Namespace) -> Iterable[ScopeOfNotes]:
    halves = [arguments.half] if arguments.half else ["tune", "held"]
    for half in halves:
        yield from (journal(path) for path in sorted(JOURNALS.glob(f"*_{half}.jsonl")))
    for titled in (False, True):
        yield from (vault(folder, titled=titled) for folder in arguments.vault)
        yield from (collection(folder, titled=titled) for folder in arguments.collection)


def _print(results: list[Result]) -> None:
    table = Table(
        "scope", "notes", "pages", "P", "R", "R unmarked", "typed", "decisions", "cited", "verbatim", "notes/s"
    )
    for half in ("tune", "held"):
        if together := [result for result in results if result.name.endswith(f"_{half}")]:
            results = [*results, _sum(f"journals, {half}", together)]
    for result in results:
        decisions = (
            f"{result.decisions}/{result.expected_decisions}"
            if result.expected_decisions is not None
            else str(result.decisions)
        )
        unmarked = _share(result.found - result.found_given, result.expected - result.given)
        table.add_row(
            result.name, str(result.notes), str(result.pages), _share(result.right, result.pages),
            _share(result.found, result.expected), unmarked, _share(result.typed, result.found), decisions,
            _share(result.cited, result.sections), _share(result.verbatim, result.quotes),
            f"{result.notes / result.seconds:,.0f}",
        )  # fmt: skip
    Console(width=140).print(table)


def _sum(name: str, results: list[Result]) -> Result:
    total = Result(name, 0, expected_decisions=0)
    for result in results:
        for field in fields(Result):
            value = getattr(result, field.name)
            if field.name != "name" and value is not None:
                setattr(total, field.name, getattr(total, field.name) + value)
    return total


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part}/{whole})" if whole else "–"


if __name__ == "__main__":
    main()
