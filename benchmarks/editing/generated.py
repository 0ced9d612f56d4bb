"""Generates edits for each pass of the matcher. Each edit must be found by its pass, must change only its own words,
and each version must be restored from the stored history."""

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
    """An edit whose old text was remembered inexactly, and the lines that must result from it."""

    old: str
    new: str
    wanted: str


def checked(count: int, seed: int = 7) -> dict[str, int]:
    """Apply the edits and return how many of them each pass found. One text goes through all edits, and each version is
    stored."""
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
    """Choose lines of the text that this teller can misremember, and return the text around them with the edit."""
    while True:
        parts = parted(rng, text)
        if told := teller(rng, parts[1]):
            return parts, told


class Kept:
    """The stored states of a text. Each state must be restored byte by byte."""

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
    """Generate paragraphs and lists, some of them nearly the same, with line ends of one kind or mixed."""
    ends = rng.choice([["\n"], ["\r\n"], ["\n", "\r\n"]])
    rows: list[str] = []
    for n in range(paragraphs):
        indent = rng.choice(["", "  ", "\t", "    - "])
        line = " ".join(rng.choices(WORDS, k=rng.randrange(1, 12)))
        rows += [f"{indent}{line} {rng.choice([n, 'same'])}", *([""] if rng.random() < 0.4 else [])]
    return "".join(row + rng.choice(ends) for row in rows)


def parted(rng: random.Random, text: str) -> tuple[str, str, str]:
    """Split the text around some whole lines that contain at least one word."""
    rows = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)
    while True:
        start = rng.randrange(len(rows))
        end = min(len(rows), start + rng.randrange(1, 6))
        own = "".join(rows[start:end])
        if own.strip():
            return "".join(rows[:start]), own, "".join(rows[end:])


# -- how the lines are misremembered for each pass; None if these lines cannot be misremembered in this way

Teller = Callable[[random.Random, str], Told | None]


def exact(rng: random.Random, own: str) -> Told | None:
    return changed(rng, own, own)


def lines(rng: random.Random, own: str) -> Told | None:
    """Strip the lines and add two spaces to the end of each."""
    return changed(rng, own, "\n".join(f"{line.strip()}  " for line in lines_of(own)))


def whitespace(rng: random.Random, own: str) -> Told | None:
    """Break the lines at every word."""
    if all(len(line.split()) < 2 for line in lines_of(own)):
        return None
    return changed(rng, own, re.sub(r"\s+", "\n", own.strip()))


def indentation(rng: random.Random, own: str) -> Told | None:
    """Drop the first letter and indent each line with a tab instead."""
    first, *others = [line.lstrip() for line in lines_of(own.lstrip())]
    if len(first.split()) < 2 or len(first.split()[0]) < 3:
        return None
    return changed(rng, own, "\n".join(f"\t{line}" for line in [first[1:], *others]), least=1)


def block(rng: random.Random, own: str) -> Told | None:
    """Misremember one word of a line between the first and the last line of a block."""
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
    """Replace one word, both in the remembered text and in the lines as they are."""
    words = list(re.finditer(r"\S+", own))
    place = rng.randrange(least, len(words) if most is None else most)
    change = f"edited{rng.randrange(10**6)}"
    spot = list(re.finditer(r"\S+", old))[place]
    new = old[: spot.start()] + change + old[spot.end() :]
    return Told(old, new, own[: words[place].start()] + change + own[words[place].end() :])
