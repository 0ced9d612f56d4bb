"""Which sources go into one request, and where a long one is cut.

Requests follow the order of the sources. Short sources share one, up to REQUEST_MAX characters and SOURCES_MAX sources;
a longer source has requests of its own, one for each part. Of a source READ_MAX characters are read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..planner import SourceText

REQUEST_MAX = 24_000
SOURCES_MAX = 10
READ_MAX = 200_000


@dataclass(frozen=True, slots=True)
class Part:
    """What a request holds of a source: all of it, or the `number`-th of `of` pieces."""

    source: SourceText
    text: str
    number: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True)
class Group:
    """Whole sources, and the requests that they take: a planner reads all of a group or nothing of it."""

    sources: tuple[SourceText, ...]
    requests: tuple[tuple[Part, ...], ...]


def groups(sources: Sequence[SourceText]) -> Iterator[Group]:
    """Each source in one group, in their order."""
    waiting: list[SourceText] = []
    size = 0
    for source in sources:
        length = min(len(source.content), READ_MAX)
        is_full = len(waiting) == SOURCES_MAX or size + length > REQUEST_MAX
        if waiting and is_full:
            yield together(waiting)
            waiting, size = [], 0
        if length > REQUEST_MAX:
            yield alone(source)
        else:
            waiting.append(source)
            size += length
    if waiting:
        yield together(waiting)


def together(sources: Sequence[SourceText]) -> Group:
    return Group(tuple(sources), (tuple(Part(source, source.content) for source in sources),))


def alone(source: SourceText) -> Group:
    texts = list(pieces(source.content[:READ_MAX]))
    return Group((source,), tuple((Part(source, text, n, len(texts)),) for n, text in enumerate(texts, start=1)))


def pieces(text: str) -> Iterator[str]:
    """At most REQUEST_MAX characters each, cut between paragraphs, lines or words where there are any."""
    start = 0
    while len(text) - start > REQUEST_MAX:
        end = cut(text, start + REQUEST_MAX // 2, start + REQUEST_MAX)
        yield text[start:end]
        start = end
    yield text[start:]


def cut(text: str, least: int, most: int) -> int:
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, least, most)
        if found >= 0:
            return found + len(mark)
    return most
