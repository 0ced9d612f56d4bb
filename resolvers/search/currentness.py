"""Rank a newer passage before the older ones that it restates, and mark those that it overrides."""

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

from .interpretation import InterpretedQuery

FOREMOST = 20  # best passages of a search that are compared with each other
QUERY_SHARE_MIN = 0.4  # share of the words of the query that both passages must have,
OLDER_SHARE_MIN = 0.45  # and share of those query words that the older passage has
# Share of the lexemes of the shorter passage that both must have:
SAME = 0.7  # if the newer one does not mention a change,
CHANGED = 0.5  # if it has words of change,
TAKEN_BACK = 0.3  # and if it retracts the older statement.
COMMON_MIN = 3  # lexemes that both must have, except after a retraction
STEP = 0.001  # difference of score between a newer passage and the older one that it is ranked before
PAIRS_MAX = 100  # pairs of sentences of two passages that are judged
NAME = re.compile(r"[^\W\d_]\w*")


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A ranked passage. `superseded_by` is the source and the position of the newest passage that overrides it."""

    source_id: UUID
    position: int
    score: float
    text: str
    captured_at: datetime
    corrects: bool
    lexemes: frozenset[str]
    total: int
    """The number of passages that the search found."""
    query_words: frozenset[str] = frozenset()
    """The words of the query that the passage has; empty for a passage that is not compared with others."""
    superseded_by: tuple[UUID, int] | None = None


Words = Mapping[str, frozenset[str]]
"""The words of a query that are not stop words, each with the lexemes that it may stand for."""


def question_words(interpreted: InterpretedQuery) -> Words:
    """Return the words of the query without stop words, each with its lexemes."""
    stop_words = interpreted.stop_words_among(interpreted.words)
    lexemes_of = {
        word: frozenset(lexeme for option in options for lexeme in option.lexemes)
        for word, options in zip(interpreted.words, interpreted.options, strict=True)
        if word not in stop_words
    }
    return {word: lexemes for word, lexemes in lexemes_of.items() if lexemes}


def newest_first(rows: Sequence[Row], query_words: Words) -> list[RankedPassage]:
    """Return the passages by score, but each of the first ones before the older passages that it restates."""
    ranked = [passage_of(row, query_words if place < FOREMOST else {}) for place, row in enumerate(rows)]
    placed: list[RankedPassage] = []
    min_shared = min_shared_words(query_words)
    oldest_first = sorted(ranked[:FOREMOST], key=lambda hit: (hit.captured_at, hit.source_id, hit.position))
    for newer in oldest_first:
        comparable = enumerate(placed) if len(newer.query_words) >= min_shared else ()
        restated = [
            place
            for place, older in comparable
            if len(older.query_words) >= min_shared and restates(newer, older, query_words)
        ]
        if restated:
            newer = replace(newer, score=max(newer.score, *(placed[place].score + STEP for place in restated)))
        for place in restated:
            if overrides(newer.text, placed[place].text, query_words):
                placed[place] = replace(placed[place], superseded_by=(newer.source_id, newer.position))
        placed.append(newer)
    placed.sort(key=lambda hit: (-hit.score, hit.source_id, hit.position))
    return placed + ranked[FOREMOST:]


def passage_of(row: Row, query_words: Words) -> RankedPassage:
    lexemes = frozenset(row["lexemes"])
    return RankedPassage(
        row["source_id"], row["position"], row["score"], row["text"], row["captured_at"], row["corrects"], lexemes,
        row["found"], frozenset(word for word, forms in query_words.items() if not forms.isdisjoint(lexemes)),
    )  # fmt: skip


def restates(newer: RankedPassage, older: RankedPassage, query_words: Words) -> bool:
    """Return whether a passage restates what an older passage states.

    Both have many words of the query, the newer has the names of the older, and they share many lexemes. Fewer shared
    lexemes are enough if the newer passage has words of change or of retraction.
    """
    shared = older.query_words & newer.query_words
    if len(shared) < max(min_shared_words(query_words), OLDER_SHARE_MIN * len(older.query_words)):
        return False
    if newer.source_id != older.source_id and newer.captured_at == older.captured_at:
        return False
    common = newer.lexemes & older.lexemes
    share = len(common) / max(1, min(len(newer.lexemes), len(older.lexemes)))
    is_alike = len(common) >= COMMON_MIN and share >= (CHANGED if newer.corrects else SAME)
    if not is_alike and not (newer.corrects and share >= TAKEN_BACK):
        return False
    subject = names(older.text) & older.query_words
    if not subject <= set(words(newer.text)):
        return False
    named = frozenset(lexeme for word in subject for lexeme in query_words[word])
    says_more = bool(newer.query_words - subject or common - named)
    return is_alike or is_taken_back(newer.text, says_more)


def min_shared_words(query_words: Words) -> float:
    """Return how many words of the query two passages must share."""
    return max(min(2, len(query_words)), QUERY_SHARE_MIN * len(query_words))


def is_taken_back(text: str, says_more: bool) -> bool:
    """Return whether a text retracts a statement about its subject.

    If the text shares only the names with the older statement (`says_more` is false), it must also state what holds
    now, in the same or the next sentence: `I was wrong about Mara: her job is …`, but not `I no longer remember where I
    met Mara`.
    """
    stated = [sentence.strip() for sentence in sentences(text)]
    if says_more:
        return any(map(takes_back, stated))
    return any(
        says_instead(sentence) or (takes_back(sentence) and holds_now(following))
        for sentence, following in zip(stated, [*stated[1:], ""], strict=True)
    )


def overrides(newer: str, older: str, query_words: Words) -> bool:
    """Return whether a sentence of the newer text overrides a sentence of the older one, by the compiler's rules.

    Return False if the two texts have more than PAIRS_MAX pairs of sentences, which would take too long to judge.
    """
    pairs = list(islice(product(sentences(older), sentences(newer)), PAIRS_MAX + 1))
    if len(pairs) > PAIRS_MAX:
        return False
    return any(judge(first.strip(), second.strip(), query_words) is Verdict.OVERRIDES for first, second in pairs)


def names(text: str) -> set[str]:
    """Return the normalised words that are written with a capital."""
    return {folded for word in NAME.findall(text) if word[0].isupper() for folded in words(word)}
