"""The order in time of passages that state the same thing differently: the newer before the older."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, product
from uuid import UUID

from content.claims.corrections import Verdict, holds_now, judge, says_instead, takes_back
from content.search.passages import sentences
from content.search.words import words
from db.connection import Row

from .interpretation import ReadQuery

FOREMOST = 20  # passages of a search that are compared with each other
LEAST_ASKED = 0.4  # share of the words of the question that both of two passages have to say,
LEAST_STATED = 0.45  # and share of those that the older one says
SAME = 0.7  # share of the lexemes of the shorter one that both have, when the newer says nothing of a change,
CHANGED = 0.5  # when it has words of change,
TAKEN_BACK = 0.3  # and when it takes back what was said
LEAST_COMMON = 3  # lexemes that both have, except in the last case
STEP = 0.001  # between the scores of a passage and the one that it is put before
MOST_PAIRS = 100  # of sentences of two passages that are judged
NAME = re.compile(r"[^\W\d_]\w*")


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage in the order of its score. `superseded_by` is the source and number of the newest that overrides it."""

    source_id: UUID
    position: int
    score: float
    text: str
    captured_at: datetime
    corrects: bool
    lexemes: frozenset[str]
    found: int
    said: frozenset[str] = frozenset()
    """The words of the question that it says."""
    superseded_by: tuple[UUID, int] | None = None


Words = Mapping[str, frozenset[str]]
"""The words of a question that mean something, and the lexemes that each may be."""


def question_words(reading: ReadQuery) -> Words:
    """Return the words of the question, except those that mean nothing in the language of the wiki."""
    idle = reading.idle_among(reading.words)
    spoken = {
        word: frozenset(lexeme for option in options for lexeme in option.lexemes)
        for word, options in zip(reading.words, reading.options, strict=True)
        if word not in idle
    }
    return {word: lexemes for word, lexemes in spoken.items() if lexemes}


def newest_first(rows: Sequence[Row], asked: Words) -> list[RankedPassage]:
    """Return the passages in their order, each of the first ones before older ones that state the same thing."""
    ranked = [passage_of(row, asked if place < FOREMOST else {}) for place, row in enumerate(rows)]
    placed: list[RankedPassage] = []
    least = least_shared(asked)
    for newer in sorted(ranked[:FOREMOST], key=lambda one: (one.captured_at, one.source_id, one.position)):
        comparable = enumerate(placed) if len(newer.said) >= least else ()
        restated = [place for place, older in comparable if len(older.said) >= least and restates(newer, older, asked)]
        if restated:
            newer = replace(newer, score=max(newer.score, *(placed[place].score + STEP for place in restated)))
        for place in restated:
            if overrides(newer.text, placed[place].text, asked):
                placed[place] = replace(placed[place], superseded_by=(newer.source_id, newer.position))
        placed.append(newer)
    placed.sort(key=lambda one: (-one.score, one.source_id, one.position))
    return placed + ranked[FOREMOST:]


def passage_of(row: Row, asked: Words) -> RankedPassage:
    lexemes = frozenset(row["lexemes"])
    return RankedPassage(
        row["source_id"], row["position"], row["score"], row["text"], row["captured_at"], row["corrects"], lexemes,
        row["found"], frozenset(word for word, own in asked.items() if not own.isdisjoint(lexemes)),
    )  # fmt: skip


def restates(newer: RankedPassage, older: RankedPassage, asked: Words) -> bool:
    """Return whether a passage states anew what an older one states.

    Both say much of the question, name the same, and have many words in common: the fewer, the clearer the newer one
    says that it corrects something.
    """
    shared = older.said & newer.said
    if len(shared) < max(least_shared(asked), LEAST_STATED * len(older.said)):
        return False
    if newer.source_id != older.source_id and newer.captured_at == older.captured_at:
        return False
    common = newer.lexemes & older.lexemes
    share = len(common) / max(1, min(len(newer.lexemes), len(older.lexemes)))
    is_alike = len(common) >= LEAST_COMMON and share >= (CHANGED if newer.corrects else SAME)
    if not is_alike and not (newer.corrects and share >= TAKEN_BACK):
        return False
    subject = names(older.text) & older.said
    if not subject <= set(words(newer.text)):
        return False
    named = frozenset(lexeme for word in subject for lexeme in asked[word])
    says_more = bool(newer.said - subject or common - named)
    return is_alike or is_taken_back(newer.text, says_more)


def least_shared(asked: Words) -> float:
    """Return how many words of the question two passages have to share, and so each of them to say."""
    return max(min(2, len(asked)), LEAST_ASKED * len(asked))


def is_taken_back(text: str, says_more: bool) -> bool:
    """Return whether a text takes back what was said of its subject.

    One that shares the names alone with what it may take back has to say in the same breath what holds now: `I was
    wrong about Mara: her job is …`, and not `I no longer remember where I met Mara`.
    """
    said = [sentence.strip() for sentence in sentences(text)]
    if says_more:
        return any(map(takes_back, said))
    return any(
        says_instead(one) or (takes_back(one) and holds_now(following))
        for one, following in zip(said, [*said[1:], ""], strict=True)
    )


def overrides(newer: str, older: str, asked: Words) -> bool:
    """Return whether a sentence of one text overrides one of the other, as the compiler judges it.

    A passage of so many sentences that this would take long is not judged.
    """
    pairs = list(islice(product(sentences(older), sentences(newer)), MOST_PAIRS + 1))
    if len(pairs) > MOST_PAIRS:
        return False
    return any(judge(first.strip(), second.strip(), asked) is Verdict.OVERRIDES for first, second in pairs)


def names(text: str) -> set[str]:
    """Return the words that are written with a capital."""
    return {folded for word in NAME.findall(text) if word[0].isupper() for folded in words(word)}
