"""Measures whether the newer of two statements comes first, where it corrects the older one."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.table import Table

from .conversations import Session
from .corrections import COUNT, SEED, Case, Outcome, cases
from .scores import Interval, interval
from .service import Hit, Wiki, running

START_TIME = datetime(2025, 1, 6, 9, tzinfo=UTC)
APART = timedelta(days=40)
EXAMPLES = 5
STATED = 3  # the line of a session that holds the statement
GOAL, UNRELATED_MAX = 0.95, 0.1
SMALL_TALK = (
    "How was your week?", "Busy, but good. The garden is coming along.", "We should meet for coffee soon.",
    "I finally finished that long book.", "The train was late again this morning.", "Have you tried the new bakery?",
    "My sister visits on Sunday.", "It rained all day here.", "Let me look that up later.", "Sounds like a plan!",
)  # fmt: skip
WIDTH = 110


@dataclass(frozen=True, slots=True)
class Positions:
    """The positions of the two statements among the first passages, from 0, or None if a statement is missing."""

    earlier: int | None
    later: int | None

    @property
    def is_newer_first(self) -> bool:
        return self.later is not None and (self.earlier is None or self.later < self.earlier)


def corrections(
    held_out: Annotated[bool, typer.Option("--held-out", help="Also show the cases that are held out.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same cases.")] = SEED,
    count: Annotated[int, typer.Option(min=8, max=400, help="Number of cases.")] = COUNT,
    listed: Annotated[bool, typer.Option("--list", help="Print the cases as JSON lines without measuring.")] = False,
    json: Annotated[Path | None, typer.Option(help="A JSON file for all figures.")] = None,
) -> None:
    """Retain generated statements, of which half are corrected later, and ask what holds now.

    Measures how often the newer statement comes first: where it corrects the older one, and where it is unrelated.
    """
    chosen = [case for case in cases(seed, count) if held_out or not case.held_out]
    if listed:
        for case in chosen:
            typer.echo(orjson.dumps(case).decode())
        return
    with running() as service:
        wiki = service.wiki("corrections")
        wiki.retain([session for case in cases(seed, count) for session in sessions(case)])
        found = {case.number: find_positions(wiki, case) for case in chosen if case.outcome is not Outcome.ADDS}
    figures = {
        name: interval([float(found[case.number].is_newer_first) for case in part]) for name, part in parts(chosen)
    }
    Console(width=WIDTH).print(table(figures, chosen, found))
    if json is not None:
        missed = [case for case in chosen if case.number in found and is_missed(case, found[case.number])]
        json.write_bytes(orjson.dumps({"newerFirst": figures, "missed": missed}, option=orjson.OPT_INDENT_2))


def parts(chosen: Sequence[Case]) -> list[tuple[str, list[Case]]]:
    """Group the correcting and the unrelated cases: those that rules may be fitted to, and those held out."""
    named = {
        f"{outcome.value}, {'held out' if held_out else 'open'}": [
            case for case in chosen if case.outcome is outcome and case.held_out is held_out
        ]
        for outcome in (Outcome.OVERRIDES, Outcome.UNRELATED)
        for held_out in (False, True)
    }
    return [(name, part) for name, part in named.items() if part]


def sessions(case: Case) -> list[Session]:
    """Return two conversations 40 days apart, each with one statement among small talk."""
    rng = random.Random(case.number)
    moment = START_TIME + timedelta(hours=7 * case.number)
    return [
        session_with(rng, f"correction-{case.number}-{name}", text, at)
        for name, text, at in (("earlier", case.earlier, moment), ("later", case.later, moment + APART))
    ]


def session_with(rng: random.Random, ref: str, statement: str, moment: datetime) -> Session:
    talk = rng.sample(SMALL_TALK, 4)
    statements = [*talk[: STATED - 1], statement, *talk[STATED - 1 :]]
    lines = [f"{'Mara' if place % 2 else 'Joram'}: {text}" for place, text in enumerate(statements)]
    return Session(ref, "\n".join(lines), moment, ())


def find_positions(wiki: Wiki, case: Case) -> Positions:
    """Return the positions of the two statements among the first passages."""
    hits = wiki.search(case.question)
    return Positions(*(position_of(hits, f"correction-{case.number}-{name}") for name in ("earlier", "later")))


def position_of(hits: Sequence[Hit], ref: str) -> int | None:
    lines = ((place, hit) for place, hit in enumerate(hits) if hit.ref == ref)
    return next((place for place, hit in lines if hit.line_start <= STATED <= hit.line_end), None)


def is_missed(case: Case, find_positions: Positions) -> bool:
    """Return whether a correction does not come first, or an unrelated statement does."""
    return find_positions.is_newer_first is not (case.outcome is Outcome.OVERRIDES)


def table(figures: dict[str, Interval], chosen: Sequence[Case], found: Mapping[int, Positions]) -> Table:
    table = Table("cases", "n", "newer above older", "met", "newer not found", "examples of misses")
    for name, part in parts(chosen):
        own, lost = figures[name], sum(found[case.number].later is None for case in part)
        missed = [case.later for case in part if is_missed(case, found[case.number])][:EXAMPLES]
        is_correcting = part[0].outcome is Outcome.OVERRIDES
        goal = f"≥ {GOAL:g}" if is_correcting else f"≤ {UNRELATED_MAX:g}"
        met = "yes" if (own.mean >= GOAL if is_correcting else own.mean <= UNRELATED_MAX) else "NO"
        table.add_row(name, str(own.count), f"{own} ({goal})", met, str(lost), "\n".join(missed))
    return table
