"""Compare texts within a limited effort, and find the part of a text that is most similar to another text."""

from typing import NamedTuple

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from .respelling import BREAK, CONTENT

EFFORT = 80_000_000  # steps of all comparisons together, less than a tenth of a second
CALL_COST = 1_200  # steps that comparing two texts takes in addition
GLANCE_COST = 700  # steps to see that two texts are equal, or too different in length
PROBE = 64  # characters of a line that is searched for; more would not find it any better
CHUNK = 1_000  # characters of a part of a long line
SHOWN_MAX = 2_000  # characters of the nearest text


class Nearest(NamedTuple):
    """The most similar part of a text, the line where it begins, from 1, and its similarity, from 0 to 1."""

    text: str
    line: int
    similarity: float


class ComparisonBudget:
    """A limit on the total cost of comparisons. A step of the algorithm compares 64 characters at a time."""

    def __init__(self) -> None:
        self.left = EFFORT

    def spend(self, first: str, second: str) -> None:
        self.left -= CALL_COST + len(first) * len(second) // 64

    @property
    def is_spent(self) -> bool:
        return self.left < 0


def likeness(first: str, second: str, likeness_min: float, budget: ComparisonBudget) -> float:
    """Return the Levenshtein similarity, from 0 to 1; 0 if it is below `likeness_min`, or if the budget is spent."""
    budget.left -= GLANCE_COST
    if first == second:
        return 1.0
    longer = max(len(first), len(second))
    if min(len(first), len(second)) < likeness_min * longer or budget.is_spent:
        return 0.0
    budget.spend(first, second)
    return 0.0 if budget.is_spent else Levenshtein.normalized_similarity(first, second, score_cutoff=likeness_min)


def nearest(text: str, wanted: str) -> Nearest | None:
    """Return the lines that are most similar to the wanted text, cut to SHOWN_MAX characters; None for a blank text."""
    lines = chunks(text)
    wanted_lines = CONTENT.findall(wanted) or [wanted]
    if not lines:
        return None
    guide = max(range(len(wanted_lines)), key=lambda n: len(wanted_lines[n]))
    probe = wanted_lines[guide].strip()[:PROBE]
    found = process.extractOne(probe, [text[start:end] for start, end in lines], scorer=fuzz.partial_ratio)
    place = found[2] if found else 0
    first = max(0, place - guide)
    last = min(len(lines), first + len(wanted_lines)) - 1
    start, end = lines[first][0], min(lines[last][1], lines[first][0] + SHOWN_MAX)
    shown = text[start:end]
    return Nearest(shown, len(BREAK.findall(text, 0, start)) + 1, similarity(shown, wanted))


def chunks(text: str) -> list[tuple[int, int]]:
    """Return the places of a text's lines, without blank ones, and with long ones in parts."""
    spans = (found.span() for found in CONTENT.finditer(text))
    return [(at, min(at + CHUNK, end)) for start, end in spans for at in range(start, end, CHUNK)]


def similarity(shown: str, wanted: str) -> float:
    """Return the similarity from 0 to 1, ignoring whitespace.

    A short wanted text is compared with a part of the line.
    """
    shown_words, wanted_words = (" ".join(text[: 2 * SHOWN_MAX].split())[:SHOWN_MAX] for text in (shown, wanted))
    whole = Levenshtein.normalized_similarity(shown_words, wanted_words)
    part = (
        fuzz.partial_ratio(wanted_words, shown_words) / 100 if len(wanted_words) < min(PROBE, len(shown_words)) else 0.0
    )
    return round(max(whole, part), 2)
