"""The sources that are to go, and how they are recognised in a text: by their words, citations and ids."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import orjson

from content.search.words import words
from db.connection import Row

from ..planner import SourceText
from ..quoting import mark
from ..read.evidence import Gone

RUN = 5  # words in a row that are a quotation
TOKEN = re.compile(r"\w+")
NEEDLES_MAX = 500
CLAIMED = {
    "claims": ("fact", "replacement"),
    "contradictions": ("older_claim", "newer_claim", "reason"),
    "proposals": ("title", "said", "proposed_body", "why", "reason"),
}
"""The texts of what is recorded of claims, and of what was proposed."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """The sources that one attempt takes out: those that were there when it began."""

    rows: tuple[Row, ...]
    gone: Gone
    since: datetime
    runs: frozenset[tuple[str, ...]]
    marks: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "ForgetRequest":
        said = [words(row["said"]) for row in rows]
        runs = {run for text in said for run in runs_of(text)}
        gone = Gone(frozenset(row["source_id"] for row in rows), frozenset(word for text in said for word in text))
        marks = {one for row in rows for one in marks_of(row)}
        return cls(tuple(rows), gone, min(row["since"] for row in rows), frozenset(runs), tuple(marks))

    @property
    def source_ids(self) -> list[UUID]:
        return list(self.gone.ids)

    def is_own_in(self, text: str, others: Sequence[str]) -> bool:
        """Return whether a text cites them, or says five words in a row of theirs that none of these others says."""
        repeated = set(runs_of(words(text))) & self.runs
        for other in others if repeated else ():
            repeated.difference_update(runs_of(words(other)))
        return bool(repeated) or any(one in text for one in self.marks)

    def is_repeated_in(self, text: str) -> bool:
        """Return whether a text cites them, or says five words of theirs in a row."""
        return any(one in text for one in self.marks) or not self.runs.isdisjoint(runs_of(words(text)))


def runs_of(text: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Return runs of five words; a text of fewer words is one run."""
    size = min(RUN, len(text))
    return (tuple(text[at : at + size]) for at in range(len(text) - size + 1)) if size else ()


def marks_of(row: Row) -> tuple[str, str]:
    """Return the marks of a source by its ref and by its id, as a writer may cite it."""
    source = SourceText(row["source_id"], "", row["ref"], "", row["since"])
    return mark(source), mark(replace(source, ref=str(source.id)))


def needles(wanted: ForgetRequest, unsaid: frozenset[str]) -> list[bytes]:
    """Return what shows one of them in an answer: its id, or a word of its own as it was written there."""
    tokens = {token for row in wanted.rows for token in TOKEN.findall(row["said"])}
    own = sorted((token for token in tokens if not unsaid.isdisjoint(words(token))), key=len, reverse=True)
    written = [orjson.dumps(token)[1:-1] for token in own[:NEEDLES_MAX] if len(token) > 3]
    return [str(source_id).encode() for source_id in wanted.gone.ids] + written
