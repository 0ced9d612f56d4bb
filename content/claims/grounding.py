"""Check the sentences of a section against the sources that it cites, and find the newest support of each.

A source supports a quote if it has the quote word for word, but for markup. It supports any other sentence if one of
its sentences, or two in a row, have its names, its numbers and most of its other words, and are negated if and only if
it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from html import unescape
from itertools import islice, pairwise
from typing import NamedTuple

from ..markdown.plain import plain as plain_text
from ..search.passages import sentences
from ..text_cache import TextCache
from .claims import CITATION_MARK, QUOTED, unescaped
from .contradictions import NEGATIONS
from .corrections import content, names_in

SENTENCES_MAX = 400  # sentences of one section
SOURCES_MAX = 500_000  # characters of the sources of one section that are read, from the first source on
WORDS_MIN = 3  # words of a sentence that claims something, without stop words
SHARE = 0.75  # share of these words that a source must have
OPENING = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+(?:\d{4}-\d\d-\d\d(?: — [^:]{1,200})?:?\s*)?")
MARKUP = re.compile(r"\[\[(?:[^][|]{0,500}\|)?([^][|]{0,500})\]\]|!?\[([^][]{0,500})\]\([^()]{0,2000}\)|[*_`~]{1,3}")
REFERENCE = re.compile(
    r"(?<![\w\]!])\[([^\[\]\n]{1,300})\]\[[^\[\]\n]{0,60}\]|\[\^[^\[\]\s]{1,60}\]"
)  # `[text][1]`, `[^1]`
WORD = re.compile(r"[^\W_]+")
LISTED = re.compile(
    r"^\s*[-*+] (?:… \(\+\d+\)|\[\*\*.{1,600}\*\*\]\(/wiki/|(?:\[?\*\*.{1,600}\*\*\S*) ×\d+)|^\s*#|^\s*\|"
)


class Evidence(NamedTuple):
    """A source that a section cites: the label of its citation mark, its text, and when it was captured."""

    label: str
    text: str
    at: datetime


class ClaimSentence(NamedTuple):
    """A sentence of a section, whether it is a quote, and the labels of the citation marks on its line."""

    text: str
    is_quote: bool
    labels: tuple[str, ...]


def newest_support(body: str, evidence: Sequence[Evidence]) -> list[datetime | None]:
    """Return, for each sentence of a section, when the newest source that supports it was captured, or None."""
    found, evidence = [], list(limit_sources(evidence))
    for sentence in claim_sentences(body):
        cited = [source for source in evidence if source.label in sentence.labels] if sentence.labels else evidence
        moments = [source.at for source in cited if supports(source.text, sentence)]
        found.append(max(moments, default=None))
    return found


def limit_sources(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield the sources up to SOURCES_MAX characters in all. The last one may be cut."""
    left = SOURCES_MAX
    for source in evidence:
        if left <= 0:
            return
        yield source._replace(text=source.text[:left])
        left -= len(source.text)


def claim_sentences(body: str) -> list[ClaimSentence]:
    """Return the sentences that claim something, at most SENTENCES_MAX.

    Headings, tables, lists of pages and numbers of omitted items are left out.
    """
    return list(islice(_read_claims(body), SENTENCES_MAX))


def _read_claims(body: str) -> Iterator[ClaimSentence]:
    for line in body.splitlines():
        if not line.strip() or LISTED.match(line):
            continue
        labels = tuple(dict.fromkeys(CITATION_MARK.findall(line)))
        text = CITATION_MARK.sub("", line)
        for quote in QUOTED.findall(text) if labels else ():
            yield ClaimSentence(unescaped(quote), True, labels)
        rest = OPENING.sub("", QUOTED.sub("", text) if labels else text)
        for sentence in sentences(plain(rest)):
            if len(content(sentence)) >= WORDS_MIN:
                yield ClaimSentence(" ".join(sentence.split()), False, labels)


def plain(text: str) -> str:
    return unescaped(MARKUP.sub(lambda found: found[1] or found[2] or "", text))


def supports(source: str, sentence: ClaimSentence) -> bool:
    """Return whether a source says the sentence."""
    if sentence.is_quote:
        quote = flat(sentence.text).removesuffix("…").rstrip()
        return WORD.search(quote) is not None and (quote in flat(source) or padded_words(quote) in shown_words(source))
    wanted, names = frozenset(content(sentence.text)), names_in(sentence.text)
    named = {word for word in wanted if word[0].isdigit()} | (names & wanted)
    negations = is_negative(sentence.text)
    return any(
        named <= words and negations == is_not and len(wanted & words) >= SHARE * len(wanted)
        for words, is_not in windows(source)
    )


def read_flat(text: str) -> str:
    """Return a text with each run of white space as one space, as in quotes."""
    return " ".join(text.split())


def padded_words(text: str) -> str:
    """Return the words of a text, with a space before and after each."""
    return f" {' '.join(WORD.findall(text))} "


def read_shown_words(text: str) -> str:
    """Return the words that a reader of a markdown text sees, with a space before and after each."""
    return padded_words(unescape(plain_text(REFERENCE.sub(r"\1", text))))


def read_windows(source: str) -> tuple[tuple[frozenset[str], bool], ...]:
    """Return the words of each sentence of a source, and of each two in a row, and whether they have a negation."""
    read = [(frozenset(content(sentence)), is_negative(sentence)) for sentence in sentences(source) if sentence.strip()]
    pairs = [(first | second, no or not_) for (first, no), (second, not_) in pairwise(read)]
    return (*read, *pairs)


# The sources of a section are read only once, and so are those of several sections if they are short.
flat = TextCache(read_flat, SOURCES_MAX)
shown_words = TextCache(read_shown_words, SOURCES_MAX)
windows = TextCache(read_windows, SOURCES_MAX)
"""This cache takes about 40 bytes for each character: 20 MB."""


def is_negative(text: str) -> bool:
    return not NEGATIONS.isdisjoint(re.findall(r"[\w'’]+", text.casefold().replace("n't", " not")))
