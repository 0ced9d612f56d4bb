"""Generated edits, as many for each pass: each must be found by its pass, change its own words alone, and come back
from the history that is kept of the text."""

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from content.edits.differences import apply_delta
from content.edits.edits import TextEditAmbiguous, edit
from resolvers.pages.revision_store import smaller_delta

from .words import WORDS

BREAK = re.compile(r"\r\n|\r|\n")
LONGEST = 20_000


class Told(NamedTuple):
    """An edit as somebody tells it who remembers the text in his own way, and what must come of the lines."""

    old: str
    new: str
    wanted: str


def checked(count: int, seed: int = 7) -> dict[str, int]:
    """Return how many edits each pass found. One text goes through all edits, and its versions are stored."""
    rng = random.Random(seed)
    tally: Counter[str] = Counter()
    kept = Kept()
    text = page_of(rng, 60)
    for number in range(count):
        meant = list(TELLERS)[number % len(TELLERS)]
        (before, own, after), told = remembered(rng, text, TELLERS[meant])
        try:
            found = edit(text, told.old, told.new)
        except TextEditAmbiguous:
            tally["ambiguous"] += 1
            continue
        assert found.text == before + told.wanted + after, (own, told)
        assert found.matched_by == meant, (found.matched_by, own, told)
        tally[found.matched_by] += 1
        text = found.text if len(found.text) < LONGEST else page_of(rng, 60)
        kept.add(text)
    return dict(tally)


def remembered(rng: random.Random, text: str, teller: "Teller") -> tuple[tuple[str, str, str], Told]:
    """Lines of the text that can be told so, and how they are."""
    while True:
        parts = parted(rng, text)
        if told := teller(rng, parts[1]):
            return parts, told


class Kept:
    """The states of a text, and that each of them comes back to the byte."""

    def __init__(self) -> None:
        self.base, self.age = "", 0

    def add(self, text: str) -> None:
        self.age += 1
        delta = smaller_delta(self.base, text, self.age) if self.base else None
        if delta is None:
            self.base, self.age = text, 0
        else:
            assert apply_delta(self.base, delta) == text


def page_of(rng: random.Random, paragraphs: int) -> str:
    """Paragraphs and lists, some of them nearly the same, with line ends of one kind or mixed."""
    ends = rng.choice([["\n"], ["\r\n"], ["\n", "\r\n"]])
    rows: list[str] = []
    for n in range(paragraphs):
        indent = rng.choice(["", "  ", "\t", "    - "])
        line = " ".join(rng.choices(WORDS, k=rng.randrange(1, 12)))
        rows += [f"{indent}{line} {rng.choice([n, 'same'])}", *([""] if rng.random() < 0.4 else [])]
    return "".join(row + rng.choice(ends) for row in rows)


def parted(rng: random.Random, text: str) -> tuple[str, str, str]:
    """Split the text around some whole lines that hold at least one word."""
    rows = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)
    while True:
        start = rng.randrange(len(rows))
        end = min(len(rows), start + rng.randrange(1, 6))
        own = "".join(rows[start:end])
        if own.strip():
            return "".join(rows[:start]), own, "".join(rows[end:])


# -- how somebody remembers the lines, pass by pass; None where these lines cannot be told so

Teller = Callable[[random.Random, str], Told | None]


def exact(rng: random.Random, own: str) -> Told | None:
    return changed(rng, own, own)


def lines(rng: random.Random, own: str) -> Told | None:
    """Return whole lines with other whitespace at their ends."""
    return changed(rng, own, "\n".join(f"{line.strip()}  " for line in lines_of(own)))


def whitespace(rng: random.Random, own: str) -> Told | None:
    """Wrapped otherwise."""
    if all(len(line.split()) < 2 for line in lines_of(own)):
        return None
    return changed(rng, own, re.sub(r"\s+", "\n", own.strip()))


def indentation(rng: random.Random, own: str) -> Told | None:
    """Return the lines from within the first word on, each indented differently."""
    first, *others = [line.lstrip() for line in lines_of(own.lstrip())]
    if len(first.split()) < 2 or len(first.split()[0]) < 3:
        return None
    return changed(rng, own, "\n".join(f"\t{line}" for line in [first[1:], *others]), least=1)


def block(rng: random.Random, own: str) -> Told | None:
    """A block of which a line between the first and the last is not quite remembered."""
    filled = [line for line in lines_of(own) if line.strip()]
    if len(filled) < 3 or len(filled[1].split()) < 4:
        return None
    forgotten = filled[1].split()[1]
    misremembered = [filled[0], filled[1].replace(forgotten, f"{forgotten}s", 1), *filled[2:]]
    return changed(rng, own, "\n".join(misremembered), most=len(filled[0].split()))


TELLERS: dict[str, Teller] = {teller.__name__: teller for teller in (exact, lines, whitespace, indentation, block)}


def lines_of(own: str) -> list[str]:
    return BREAK.split(re.sub(r"(?:\r\n|\r|\n)\Z", "", own))


def changed(rng: random.Random, own: str, old: str, least: int = 0, most: int | None = None) -> Told:
    """One of the words changed, in what is told and in the lines as they stand."""
    words = list(re.finditer(r"\S+", own))
    place = rng.randrange(least, len(words) if most is None else most)
    change = f"edited{rng.randrange(10**6)}"
    spot = list(re.finditer(r"\S+", old))[place]
    new = old[: spot.start()] + change + old[spot.end() :]
    return Told(old, new, own[: words[place].start()] + change + own[words[place].end() :])
