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
MAX_LENGTH = 20_000


class RememberedEdit(NamedTuple):
    """An edit whose old text was remembered inexactly, and the lines that must result from it."""

    old: str
    new: str
    wanted: str


def check_edits(count: int, seed: int = 7) -> dict[str, int]:
    """Apply the edits and return how many of them each pass found. One text goes through all edits, and each version is
    stored."""
    rng = random.Random(seed)
    tally: Counter[str] = Counter()
    states = StoredStates()
    text = page_of(rng, 60)
    for number in range(count):
        pass_name = list(PASSES)[number % len(PASSES)]
        (before, lines_chosen, after), request = choose_lines(rng, text, PASSES[pass_name])
        try:
            found = edit(text, request.old, request.new)
        except TextEditAmbiguous:
            tally["ambiguous"] += 1
            continue
        assert found.text == before + request.wanted + after, (lines_chosen, request)
        assert found.matched_by == pass_name, (found.matched_by, lines_chosen, request)
        tally[found.matched_by] += 1
        text = found.text if len(found.text) < MAX_LENGTH else page_of(rng, 60)
        states.add(text)
    return dict(tally)


def choose_lines(
    rng: random.Random, text: str, misremember: "Misremember"
) -> tuple[tuple[str, str, str], RememberedEdit]:
    """Choose lines of the text that this function can misremember, and return the text around them with the edit."""
    while True:
        parts = split_around(rng, text)
        if request := misremember(rng, parts[1]):
            return parts, request


class StoredStates:
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


def split_around(rng: random.Random, text: str) -> tuple[str, str, str]:
    """Split the text around some whole lines that contain at least one word."""
    rows = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)
    while True:
        start = rng.randrange(len(rows))
        end = min(len(rows), start + rng.randrange(1, 6))
        lines_chosen = "".join(rows[start:end])
        if lines_chosen.strip():
            return "".join(rows[:start]), lines_chosen, "".join(rows[end:])


# -- how the lines are misremembered for each pass; None if these lines cannot be misremembered in this way

Misremember = Callable[[random.Random, str], RememberedEdit | None]


def exact(rng: random.Random, lines_chosen: str) -> RememberedEdit | None:
    return change_word(rng, lines_chosen, lines_chosen)


def lines(rng: random.Random, lines_chosen: str) -> RememberedEdit | None:
    """Strip the lines and add two spaces to the end of each."""
    return change_word(rng, lines_chosen, "\n".join(f"{line.strip()}  " for line in lines_of(lines_chosen)))


def whitespace(rng: random.Random, lines_chosen: str) -> RememberedEdit | None:
    """Break the lines at every word."""
    if all(len(line.split()) < 2 for line in lines_of(lines_chosen)):
        return None
    return change_word(rng, lines_chosen, re.sub(r"\s+", "\n", lines_chosen.strip()))


def indentation(rng: random.Random, lines_chosen: str) -> RememberedEdit | None:
    """Drop the first letter and indent each line with a tab instead."""
    first, *others = [line.lstrip() for line in lines_of(lines_chosen.lstrip())]
    if len(first.split()) < 2 or len(first.split()[0]) < 3:
        return None
    return change_word(rng, lines_chosen, "\n".join(f"\t{line}" for line in [first[1:], *others]), first=1)


def block(rng: random.Random, lines_chosen: str) -> RememberedEdit | None:
    """Misremember one word of a line between the first and the last line of a block."""
    filled = [line for line in lines_of(lines_chosen) if line.strip()]
    if len(filled) < 3 or len(filled[1].split()) < 4:
        return None
    forgotten = filled[1].split()[1]
    misremembered = [filled[0], filled[1].replace(forgotten, f"{forgotten}s", 1), *filled[2:]]
    return change_word(rng, lines_chosen, "\n".join(misremembered), end=len(filled[0].split()))


PASSES: dict[str, Misremember] = {
    misremember.__name__: misremember for misremember in (exact, lines, whitespace, indentation, block)
}


def lines_of(lines_chosen: str) -> list[str]:
    return BREAK.split(re.sub(r"(?:\r\n|\r|\n)\Z", "", lines_chosen))


def change_word(
    rng: random.Random, lines_chosen: str, old: str, first: int = 0, end: int | None = None
) -> RememberedEdit:
    """Replace one word, both in the remembered text and in the lines as they are."""
    words = list(re.finditer(r"\S+", lines_chosen))
    place = rng.randrange(first, len(words) if end is None else end)
    change = f"edited{rng.randrange(10**6)}"
    spot = list(re.finditer(r"\S+", old))[place]
    new = old[: spot.start()] + change + old[spot.end() :]
    return RememberedEdit(old, new, lines_chosen[: words[place].start()] + change + lines_chosen[words[place].end() :])
