"""Lexemes as the index has them, and the statistics of the words of a wiki."""

from collections.abc import Iterable
from math import ceil, log2
from uuid import UUID
from zlib import crc32

from content.languages import COMPOUNDING
from content.normalization import normalize
from db.sql import statements

from ..transactions.writer import Writer

LETTERS = range(0x1000, 0xD000)  # 49,152 characters of three bytes each
MARK = ":"  # no word has one
PASSAGES = 100  # and the number of an analyser is the number of an index of passages; an index of pages has the latter


def scope_letter(tenant_id: UUID, owner_id: UUID, analyser: int) -> str:
    return chr(LETTERS[crc32(tenant_id.bytes + owner_id.bytes + bytes([analyser])) % len(LETTERS)])


def marks(letter: str, type_: str, tags: Iterable[str], headings: Iterable[str]) -> list[str]:
    """Return what a page is, and the words of its headings, as lexemes beside its words: found by the same index."""
    found = {tag_mark(letter, tag) for tag in tags} | {heading_mark(letter, heading) for heading in headings}
    return [letter + MARK, type_mark(letter, type_), *sorted(found)]


def type_mark(letter: str, type_: str) -> str:
    return f"{letter}{MARK}type{MARK}{type_}"


def tag_mark(letter: str, tag: str) -> str:
    """Return the mark of a tag. Capitals, spaces and ways to encode an accent make no difference."""
    said = " ".join(normalize("NFC", tag).casefold().split())
    return f"{letter}{MARK}tag{MARK}{said[:200]}"


def heading_mark(letter: str, heading: str) -> str:
    return f"{letter}{MARK}heading{MARK}{heading[:200]}"


def quoted(lexeme: str) -> str:
    """Quote the lexeme for a tsquery: nothing in it is an operator."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def one_of(lexemes: Iterable[str], tag: str = "") -> str:
    """Return a tsquery for any of them. `tag` is what tsquery has behind a lexeme: `:*`, `:A`."""
    return "(" + "|".join(quoted(lexeme) + tag for lexeme in lexemes) + ")"


STATISTICS = statements("search/statistics")
SHARE, MOST = 10, 400  # a tenth of the pages, and never more than so many
USUAL, LARGE = 500, 1_500  # bytes of a partition of counts when made, and when there are too few


def pending_limit(pages: int) -> int:
    """Return how many changed pages may wait to be counted."""
    return min(MOST, pages // SHARE)


async def fold_when_due(writer: Writer, analyser: int, *, pages: int, waiting: int, later: bool = False) -> None:
    """Fold when enough pages wait. `later` if more follow and then `fold`: they wait, but for a wiki's first."""
    if waiting > (MOST if later and pages else pending_limit(pages)):
        await fold(writer, analyser)


async def fold(writer: Writer, analyser: int) -> list[int]:
    """Count what the log says, and empty it. When the counts of words have grown large, they are split further.

    Returns the other analysers that have an index of the wiki.
    """
    row = await writer.one(STATISTICS["fold_terms"], analyser=analyser, compounding=list(COMPOUNDING))
    assert row is not None
    if row["size"] and row["size"] > LARGE:
        times = 2 ** ceil(log2(row["size"] / USUAL))
        await writer.run(STATISTICS["add_shelves"], analyser=analyser, times=times)
    others: list[int] = row["others"]
    return others
