"""The statements of decisions in a source, each with its line and its position in a sentence."""

import re
from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple

from content.search.words import SPACELESS

from ..readings import Reading
from ..texts.text import TextLine, fold_text, padded
from . import minutes, personal
from .lists import ITEM, LABELLED, LABELLED_AFTER, NOWHERE, Place, indent_of, may_list, places, settles
from .minutes import is_minutes
from .motions import find_motion, is_count, may_move
from .sentences import SENTENCE_MAX, find_statement, is_reported, is_undecided, may_decide
from .stated import Stated

# A chosen alternative without what it is: `We take option B`. The next sentence says what it is.
OPTION = re.compile(
    r"^.{0,30}?(?:\b(?:option|variante?|plan|alternative|vorschlag|opción|opção|opzione) (?:[A-Z]|\d)\b"
    r"|(?:案|方案|プラン) ?(?:[A-ZＡ-Ｚ]|\d|[一二三]))",
    re.IGNORECASE,
)
OPTION_MAX = 40  # characters of such a sentence
# People with whom the writer decided.
WITH = re.compile(r"(?:和|跟|与|與|同|陪|带|帶|给|給)[^，,。]{1,8}(?:商量|讨论|討論|说好|聊|谈)|我")


class Statement(NamedTuple):
    """A sentence that states a decision."""

    line: TextLine
    first: int
    """The index of the first sentence of the line in the source."""
    at: int
    """The index of the sentence in the line."""
    text: str
    """The sentence, or what a motion says."""
    stated: Stated


class Hints(NamedTuple):
    """The kinds of decisions that a text may contain."""

    may_decide: bool
    is_personal: bool
    may_move: bool
    may_list: bool
    in_minutes: bool


def statements(reading: Reading) -> Iterator[Statement]:
    """Yield the statements of decisions in a source, in order."""
    hints, first, above = _hints(reading), 0, _Above()
    if not any(hints):
        return
    listed = places(reading.lines) if hints.may_list else repeat(NOWHERE)
    for line, place in zip(reading.lines, listed, strict=False):
        texts = [sentence.text for sentence in line.sentences]
        for at, text, stated in _stated(reading, texts, place, above.read(line), hints):
            yield Statement(line, first, at, text, stated)
        first += len(line.sentences)


def _hints(reading: Reading) -> Hints:
    """Return which kinds of decisions the whole text may contain, so that its sentences are searched for these only."""
    text = "\n".join(sentence.text for sentence in reading.sentences)
    return Hints(
        may_decide(text),
        personal.may_decide(text, reading.language),
        may_move(text),
        may_list(text, reading.lines),
        is_minutes(reading.lines),
    )


class _Above:
    """The text above a line: of the item to which it belongs, or of its heading."""

    def __init__(self) -> None:
        self._items: list[tuple[int, str]] = []
        self._heading = self._last = ""

    def read(self, line: TextLine) -> str:
        """Return the text above the next line."""
        if line.heading != self._heading:
            self._items, self._heading, self._last = [], line.heading, ""
        if not ITEM.match(line.raw):
            above, self._last = self._last or self._heading, line.sentences[-1].text
            return above
        indent = indent_of(line)
        while self._items and self._items[-1][0] >= indent:
            self._items.pop()
        above = self._items[-1][1] if self._items else self._heading
        self._items.append((indent, line.sentences[0].text))
        self._last = line.sentences[-1].text
        return above


def _stated(
    reading: Reading, texts: list[str], place: Place, above: str, hints: Hints
) -> Iterator[tuple[int, str, Stated]]:
    """Yield (index, text, position) of each decision that the sentences of a line state.

    The text is that of a motion, if the sentence says that one was carried.
    """
    if place.is_label:
        return
    motion = find_motion(texts, above) if hints.may_move else None
    listed = _listed(texts, place) if hints.may_list and motion is None else None
    if listed:
        yield listed
    for at, text in enumerate(texts):
        if listed and at <= listed[0]:
            continue
        if motion and motion.at == at:
            yield at, motion.what, Stated(0, 0, is_sure=True)
            continue
        is_headed = place.is_headed and not at
        stated = None
        if (hints.may_decide or is_headed) and not (hints.may_move and is_count(text)):
            stated = find_statement(text, is_headed=is_headed)
        if stated is None and hints.in_minutes:
            stated = minutes.find_statement(text)
        if stated is None and hints.is_personal:
            stated = personal.find_statement(text, reading.language)
        if stated and (is_undecided(text) or is_reported(text, stated.start)):
            continue
        if stated and hints.in_minutes and not stated.is_whole:
            stated = stated._replace(is_weak=False)
        if stated and not (SPACELESS.search(text) and not stated.is_sure and _is_others(reading, text[: stated.start])):
            yield at, text, stated


def _listed(texts: list[str], place: Place) -> tuple[int, str, Stated] | None:
    """Return (index, text, position) of the decision in a line that is in a list of decisions or has a label."""
    first = texts[0]
    if labelled := LABELLED.match(first):
        stated = Stated(labelled.end(), labelled.end(), is_sure=True)
    elif after := next(((at, found) for at, text in enumerate(texts) if (found := LABELLED_AFTER.search(text))), None):
        at, found = after
        if at and found[0].endswith(tuple(")）]】")):  # a label of the whole item
            return 0, first, Stated(0, 0, is_sure=True)
        return at, texts[at], Stated(0, 0, is_sure=True, until=found.start())
    elif place.is_listed:
        stated = Stated(0, 0, is_sure=True)
    else:
        return None
    if not settles(first[stated.start :]) or is_undecided(first) or len(first) > SENTENCE_MAX:
        return None
    if not stated.start and (better := find_statement(first, is_headed=True)):
        stated = better
    if len(texts) > 1 and len(first) <= OPTION_MAX and OPTION.match(first[stated.start :]):
        return 1, texts[1], Stated(0, 0, is_sure=True)
    return 0, first, stated


def _is_others(reading: Reading, before: str) -> bool:
    """Return whether the words before a verb without a subject name a person, who then is its subject."""
    words = fold_text(before)
    return any(sighting.is_person and padded(key) in words for key, sighting in reading.sightings.items()) and not (
        WITH.search(before)
    )
