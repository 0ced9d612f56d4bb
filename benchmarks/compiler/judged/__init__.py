"""Small wikis of notes as people write them, and the names in them that a reader would or would not look up.

All were written for this benchmark. `notes/<kind>_<letter>.txt` holds the files of one wiki, each below a line
`=== path`. `labels.tsv` says for every candidate whether it is wanted as a page, and why. Kinds with two wikis, `a` and
`b`, have one of them held out, which the seed decides. Kinds with one wiki, `c` or `d`, were labelled before they were
first compiled; their results have been read since. The kinds in `unseen` were first compiled when the rules for
names had been chosen; their results have been read since, too.
"""

import csv
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from compiler.extraction.texts.text import fold_text
from content.names import normalise

HERE = Path(__file__).parent
UNSEEN = HERE / "unseen"
SEED = 19
HALVES = ("tune", "held")
# The halves of kinds that were added later are drawn last, so that the halves of the first kinds stay the same.
LATER = frozenset({"french", "japanese", "laboratory", "portuguese", "protocols", "spanish"})
LATEST = frozenset({"garden", "genealogy", "rehearsals", "tickets"})
FILE = "=== "


@dataclass(frozen=True, slots=True)
class Label:
    """A candidate for a page: its names, the usual one first, and whether a reader would want a page for it."""

    is_wanted: bool
    type: str
    names: tuple[str, ...]
    reason: str

    def is_name(self, name: str) -> bool:
        return normalise(name) in map(normalise, self.names)

    def is_decided(self, title: str) -> bool:
        """Return whether the title of a decision contains all words of one of the names."""
        words = fold_text(title)
        return any(all(word in words for word in fold_text(name).split()) for name in self.names)


@dataclass(frozen=True)
class JudgedWiki:
    """The files of a wiki by path, in the order in which they were written, and its candidates."""

    name: str
    files: dict[str, str]
    labels: tuple[Label, ...]

    @property
    def kind(self) -> str:
        return self.name.rpartition("_")[0]

    @cached_property
    def names(self) -> tuple[Label, ...]:
        """The candidates for entities and topics."""
        return tuple(label for label in self.labels if label.type != "decision")

    @cached_property
    def decisions(self) -> tuple[Label, ...]:
        return tuple(label for label in self.labels if label.type == "decision")

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        for path, text in self.files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def wikis(half: str | None = None, seed: int = SEED, folder: Path = HERE) -> list[JudgedWiki]:
    """Return all wikis of a folder, or those of one half."""
    labels = read_labels(folder)
    found = [
        JudgedWiki(path.stem, dict(files(path)), tuple(labels[path.stem]))
        for path in sorted((folder / "notes").glob("*.txt"))
    ]
    held_names = held_out({wiki.kind for wiki in found if wiki.name.endswith("_b")}, seed)
    return [wiki for wiki in found if half is None or (wiki.name in held_names) == (half == "held")]


def held_out(kinds: set[str], seed: int = SEED) -> set[str]:
    """Return the names of the wikis that are held out, one of each kind."""
    rng = random.Random(seed)
    return {
        f"{kind}_{rng.choice('ab')}" for kind in sorted(kinds, key=lambda kind: (kind in LATEST, kind in LATER, kind))
    }


def files(path: Path) -> Iterator[tuple[str, str]]:
    for part in path.read_text(encoding="utf-8").removeprefix(FILE).split(f"\n{FILE}"):
        name, _, text = part.partition("\n")
        yield name, text


def read_labels(folder: Path = HERE) -> dict[str, list[Label]]:
    """Return the candidates of each wiki."""
    found: dict[str, list[Label]] = {}
    with (folder / "labels.tsv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
            label = Label(row["wanted"] == "yes", row["type"], tuple(row["names"].split("|")), row["reason"])
            found.setdefault(row["wiki"], []).append(label)
    return found
