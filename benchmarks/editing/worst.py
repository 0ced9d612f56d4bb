"""Measures the slowest edits of 100 kB that were found: for each pass the text that costs it most."""

import random
from collections.abc import Iterator
from contextlib import suppress
from time import process_time
from typing import NamedTuple

from content.edits.edits import TextEditAmbiguous, TextEditFailed, edit

SIZE = 100_000
TOLERANT, EXACT = 150.0, 15.0  # ms of CPU that an edit may take
LINE = "the very same line of the text"


class Case(NamedTuple):
    name: str
    text: str
    old: str
    new: str
    replace_all: bool = False


def cases() -> Iterator[Case]:
    rng = random.Random(1)

    def lines(letters: str, length: int, count: int) -> str:
        return "\n".join("".join(rng.choices(letters, k=length)) for _ in range(count))

    same, short, single = "\n".join([LINE] * 3_225), "\n".join(["ab"] * 33_333), lines("ab", SIZE, 1)
    yield Case("every letter replaced", "a" * SIZE, "a", "b", True)
    yield Case("a half that is one letter too long", "a" * SIZE, "a" * 50_000 + "b", "c")
    yield Case("25,000 places of the same words", "a\n" * 50_000, "a  a", "b", True)
    few = "\n".join(rng.choices("abc", k=50_000))
    yield Case("50,000 lines of one letter, all new", few, f"  {few}".replace("\n", "\n "), lines("abc", 1, 50_000))
    words = " ".join(rng.choices("ab", k=50_000))
    yield Case(
        "50,000 words of two kinds, all new", words, words.replace(" ", "  "), " ".join(rng.choices("ab", k=50_000))
    )
    yield Case("nothing but line ends", "\n" * SIZE, "a\nb", "c")
    for count in (2, 1_000, 3_000):
        old = "\n".join([LINE.replace("very", "vary")] * count)
        yield Case(f"equal lines, {count} of them misremembered", same, old, "x")
    for count in (10, 1_000, 16_000, 33_000):
        yield Case(f"short equal lines, {count} with another end", short, "ab\n" * (count - 1) + "ac", "x")
        yield Case(
            f"short equal lines, {count} with another middle",
            short,
            "\n".join(["ab", *["xy"] * (count - 2), "ab"]),
            "x",
        )
    for length in (64, 512, 5_000, 25_000):
        count = SIZE // length
        yield Case(
            f"lines of {length} letters of two, half as many others",
            lines("ab", length, count),
            lines("ab", length, max(2, count // 2)),
            "x",
        )
    yield Case(
        "two lines of 50 kB, misremembered",
        f"{single[:50_000]}\n{single[50_000:]}",
        f"{single[:50_000]}\n{single[50_000:]}".replace("aba", "abb"),
        "x",
    )
    yield Case("one line of 100 kB, half of it misremembered", single, single[1_000:51_000].replace("aba", "abb"), "x")
    accents = "\n".join("e\u0301" * 30 + str(n) for n in range(1_600))
    yield Case("accents apart, told together", accents, "\u00e9" * 30 + "7\n" + "\u00e9" * 30 + "8", "x")
    family = "👩\u200d👩\u200d👧\u200d👦" * 10
    yield Case("families of emoji", "\n".join(f"{family}{n}" for n in range(900)), f"{family}8x\n{family[:-9]}x", "x")


def worst() -> Iterator[tuple[str, float, float]]:
    """Yield the name of each case, the milliseconds of CPU that it took, and its limit."""
    target = "\n".join(f"- {LINE} {n}" for n in range(2_900))
    yield "one place, exact", cpu_ms(Case("", target, f"{LINE} 2899", "x")), EXACT
    for case in cases():
        yield case.name, cpu_ms(case), TOLERANT


def cpu_ms(case: Case) -> float:
    """Return the minimum of three runs: the cost without disturbance by other processes."""
    times = []
    for _ in range(3):
        started = process_time()
        with suppress(TextEditFailed, TextEditAmbiguous):
            edit(case.text, case.old, case.new, replace_all=case.replace_all)
        times.append(process_time() - started)
    return min(times) * 1000
