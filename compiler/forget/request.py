"""The sources that are to be forgotten, and how a text that repeats them is recognised: by words, citations and ids."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from content.search.words import words
from db.connection import Row
from db.ids import first_id

from ..planner import SourceText
from ..quoting import mark
from ..read.evidence import Forgotten

PHRASE_LENGTH = 5  # words in a row that count as a quotation
TOKEN = re.compile(r"\w+")
NEEDLES_MAX = 500  # words that are searched for in stored responses
CLAIMED = {
    "claims": ("fact", "replacement"),
    "contradictions": ("older_claim", "newer_claim", "reason"),
    "proposals": ("title", "said", "proposed_body", "why", "reason"),
    "questions": ("question", "why", "options", "decision", "reason"),
}
"""The text columns of recorded claims, contradictions, proposals and decision questions."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """The sources that are forgotten together: all that were waiting when the steps began."""

    rows: tuple[Row, ...]
    forgotten: Forgotten
    since: datetime
    """One hour before the first of the sources was added, as clocks may differ. Nothing older can quote them."""
    phrases: frozenset[tuple[str, ...]]
    """All runs of PHRASE_LENGTH words in their texts."""
    marks: tuple[str, ...]
    """The marks that cite them."""

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "ForgetRequest":
        texts = [words(row["said"]) for row in rows]
        phrases = {phrase for text in texts for phrase in phrases_of(text)}
        ids = frozenset(row["source_id"] for row in rows)
        forgotten = Forgotten(ids, frozenset(word for text in texts for word in text))
        marks = {mark for row in rows for mark in marks_of(row)}
        return cls(tuple(rows), forgotten, min(row["since"] for row in rows), frozenset(phrases), tuple(marks))

    def with_stop_words(self, stop_words: Iterable[str]) -> "ForgetRequest":
        """Return the request with those of its words that are stop words of the wiki's languages.

        A run of PHRASE_LENGTH stop words is no quotation: many texts share one by chance.
        """
        known = frozenset(stop_words)
        phrases = {phrase for phrase in self.phrases if len(phrase) < PHRASE_LENGTH or not known.issuperset(phrase)}
        forgotten = replace(self.forgotten, stop_words=known)
        return replace(self, forgotten=forgotten, phrases=frozenset(phrases))

    @property
    def source_ids(self) -> list[UUID]:
        return list(self.forgotten.ids)

    def is_repeated_only_in(self, text: str, others: Sequence[str]) -> bool:
        """Return whether a text cites these sources, or has a phrase of theirs that none of the other texts has."""
        repeated = set(phrases_of(words(text))) & self.phrases
        for other in others if repeated else ():
            repeated.difference_update(phrases_of(words(other)))
        return bool(repeated) or any(mark in text for mark in self.marks)

    def is_repeated_in(self, text: str) -> bool:
        """Return whether a text cites these sources, or has a phrase of theirs."""
        return any(mark in text for mark in self.marks) or not self.phrases.isdisjoint(phrases_of(words(text)))


def lower_bounds(since: datetime) -> dict[str, Any]:
    """Return the moment, and the lowest id of a page that was added since then, as parameters of statements.

    An import or a transfer adds a page with revisions that keep their earlier times.
    """
    return {"since": since, "since_id": first_id(since)}


def phrases_of(text: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Return all runs of PHRASE_LENGTH words in a text. A shorter text is one phrase."""
    size = min(PHRASE_LENGTH, len(text))
    return (tuple(text[at : at + size]) for at in range(len(text) - size + 1)) if size else ()


def marks_of(row: Row) -> tuple[str, str]:
    """Return the two marks that may cite a source: by its ref, and by its id."""
    source = SourceText(row["source_id"], "", row["ref"], "", row["since"])
    return mark(source), mark(replace(source, ref=str(source.id)))


def needles(request: ForgetRequest, unsaid: frozenset[str]) -> list[bytes]:
    """Return the bytes by which a stored response that repeats the sources is found.

    These are the ids of the sources, and, as JSON spells them, the longest of their words that no page contains any
    more.
    """
    tokens = {token for row in request.rows for token in TOKEN.findall(row["said"])}
    lost = sorted((token for token in tokens if not unsaid.isdisjoint(words(token))), key=len, reverse=True)
    written = [orjson.dumps(token)[1:-1] for token in lost[:NEEDLES_MAX] if len(token) > 3]
    return [str(source_id).encode() for source_id in request.forgotten.ids] + written
