"""The likeness of two texts, within a bounded effort, and the part of a text that is most like another."""

from typing import NamedTuple

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from .respelling import BREAK, CONTENT

EFFORT = 80_000_000  # steps of the comparison, less than a tenth of a second
CALL = 1_200  # what to compare two texts takes beside the steps
GLANCE = 700  # what it takes to see that they are equal, or of too different lengths
PROBE = 64  # characters; a longer one is not found any better
CHUNK = 1_000
SHOWN_MAX = 2_000


class Nearest(NamedTuple):
    """A part of a text that begins on a line, from 1; `similarity` is 0 to 1."""

    text: str
    line: int
    similarity: float


class ComparisonBudget:
    """A bound on what comparing may cost in all: each step is one of the algorithm's, on 64 characters at a time."""

    def __init__(self) -> None:
        self.left = EFFORT

    def spend(self, one: str, other: str) -> None:
        self.left -= CALL + len(one) * len(other) // 64

    @property
    def spent_out(self) -> bool:
        return self.left < 0


def likeness(one: str, other: str, least: float, budget: ComparisonBudget) -> float:
    """Return the likeness by Levenshtein, from 0 to 1; 0 if it is less than `least`, or the effort is spent."""
    budget.left -= GLANCE
    if one == other:
        return 1.0
    longer = max(len(one), len(other))
    if min(len(one), len(other)) < least * longer or budget.spent_out:
        return 0.0
    budget.spend(one, other)
    return 0.0 if budget.spent_out else Levenshtein.normalized_similarity(one, other, score_cutoff=least)


def nearest(text: str, wanted: str) -> Nearest | None:
    """Return the lines that are most like the wanted ones; of long ones the beginning. None of a text without any."""
    lines = chunks(text)
    told = CONTENT.findall(wanted) or [wanted]
    if not lines:
        return None
    guide = max(range(len(told)), key=lambda n: len(told[n]))
    probe = told[guide].strip()[:PROBE]
    found = process.extractOne(probe, [text[start:end] for start, end in lines], scorer=fuzz.partial_ratio)
    place = found[2] if found else 0
    first = max(0, place - guide)
    last = min(len(lines), first + len(told)) - 1
    start, end = lines[first][0], min(lines[last][1], lines[first][0] + SHOWN_MAX)
    shown = text[start:end]
    return Nearest(shown, len(BREAK.findall(text, 0, start)) + 1, similarity(shown, wanted))


def chunks(text: str) -> list[tuple[int, int]]:
    """Return its lines without the blank ones, the long ones in parts."""
    spans = (found.span() for found in CONTENT.finditer(text))
    return [(at, min(at + CHUNK, end)) for start, end in spans for at in range(start, end, CHUNK)]


def similarity(shown: str, wanted: str) -> float:
    """Return the similarity from 0 to 1, whatever the whitespace; a part of a line is compared as that part."""
    one, other = (" ".join(text[: 2 * SHOWN_MAX].split())[:SHOWN_MAX] for text in (shown, wanted))
    whole = Levenshtein.normalized_similarity(one, other)
    part = fuzz.partial_ratio(other, one) / 100 if len(other) < min(PROBE, len(one)) else 0.0
    return round(max(whole, part), 2)
