"""Measures the time of each pass of the matcher on a long text, and the time of comparing long texts."""

import random
from collections.abc import Iterator
from contextlib import suppress
from statistics import median
from time import process_time

from content.edits.differences import difference
from content.edits.edits import TextEditAmbiguous, TextEditFailed, edit

from .words import WORDS


def passes() -> Iterator[tuple[str, str]]:
    rng = random.Random(3)
    lines = [f"- {' '.join(rng.choices(WORDS, k=10))} {n}" for n in range(1_600)]
    text = "\n".join(lines)
    target = "\n".join(lines[1_590:1_594])
    cases = {
        "exact": target,
        "lines": target.replace("- ", "  - "),
        "whitespace": " ".join(target.split()),
        "indentation": "    " + "\n".join(line.removeprefix("- ") for line in lines[1_590:1_591]),
        "block": target.replace("kettle", "kettel").replace("roast", "roost").replace("bean", "been") + " x",
        "nowhere": "nothing like it\nin the whole text\nat all",
    }
    for name, old in cases.items():
        yield f"{name}, {len(text.encode()) // 1000} kB", f"{cpu_ms(text, old):.1f} ms of CPU"
    equal_lines = "\n".join(["the very same line of the text"] * 3_300)
    yield (
        "a hundred kB of equal lines, block",
        f"{cpu_ms(equal_lines, 'the very same line of a text' + chr(10) * 1 + 'x y' * 9):.1f} ms of CPU",
    )
    half = "\n".join(["the very same line of the text"] * 1_500)
    yield "the same, half of it misremembered", f"{cpu_ms(equal_lines, half.replace('very', 'vary')):.1f} ms of CPU"
    single = " ".join(rng.choices(WORDS, k=14_000))
    yield (
        "one line of 100 kB, nowhere",
        f"{cpu_ms(single, single[1_000:51_000].replace('kettle', 'kxttle')):.1f} ms of CPU",
    )


def cpu_ms(text: str, old: str) -> float:
    times = []
    for _ in range(5):
        started = process_time()
        with suppress(TextEditFailed, TextEditAmbiguous):
            edit(text, old, old + " more")
        times.append(process_time() - started)
    return median(times) * 1000


def differences() -> Iterator[tuple[str, str]]:
    rng = random.Random(5)
    for rows in (1_000, 10_000):
        old = [f"{' '.join(rng.choices(WORDS, k=10))}\n" for _ in range(rows)]
        new = [line if rng.random() < 0.9 else f"{' '.join(rng.choices(WORDS, k=10))}\n" for line in old]
        started = process_time()
        difference("".join(old), "".join(new))
        yield f"difference of {rows} lines, a tenth changed", f"{(process_time() - started) * 1000:.0f} ms of CPU"
