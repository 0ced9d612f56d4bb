"""The lexemes in the index, and the word counts of a wiki."""

from collections.abc import Iterable
from math import ceil, log2
from uuid import UUID
from zlib import crc32

from content.languages import COMPOUNDING
from content.normalization import normalize
from db.sql import statements

from ..transactions.writer import Writer

LETTERS = range(0x1000, 0xD000)  # 49,152 characters of three bytes each
MARK = ":"  # no word has a colon
PASSAGES = 100  # added to the number of an analyser, it is the number of the analyser's index of passages


def scope_letter(tenant_id: UUID, owner_id: UUID, analyser: int) -> str:
    return chr(LETTERS[crc32(tenant_id.bytes + owner_id.bytes + bytes([analyser])) % len(LETTERS)])


def marks(letter: str, type_: str, tags: Iterable[str], headings: Iterable[str]) -> list[str]:
    """Return the marks of a page: lexemes for its type, tags and headings, found by the same index as its words."""
    found = {tag_mark(letter, tag) for tag in tags} | {heading_mark(letter, heading) for heading in headings}
    return [letter + MARK, type_mark(letter, type_), *sorted(found)]


def type_mark(letter: str, type_: str) -> str:
    return f"{letter}{MARK}type{MARK}{type_}"


def tag_mark(letter: str, tag: str) -> str:
    """Return the mark of a tag. Tags that differ in case, spacing or Unicode encoding have the same mark."""
    said = " ".join(normalize("NFC", tag).casefold().split())
    return f"{letter}{MARK}tag{MARK}{said[:200]}"


def heading_mark(letter: str, heading: str) -> str:
    return f"{letter}{MARK}heading{MARK}{heading[:200]}"


def quoted(lexeme: str) -> str:
    """Quote the lexeme for a tsquery, so that its characters are not operators."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def one_of(lexemes: Iterable[str], tag: str = "") -> str:
    """Return a tsquery for any of the lexemes. `tag` is a suffix of a lexeme in a tsquery, such as `:*` or `:A`."""
    return "(" + "|".join(quoted(lexeme) + tag for lexeme in lexemes) + ")"


STATISTICS = statements("search/statistics")
SHARE, PENDING_MAX = 10, 400  # pages with pending changes: one in SHARE of all pages, and at most PENDING_MAX
USUAL, LARGE = 500, 1_500  # bytes of a partition of counts after a split, and bytes above which it is split


def pending_limit(pages: int) -> int:
    """Return how many changed pages may be pending before they are folded into the counts."""
    return min(PENDING_MAX, pages // SHARE)


async def fold_when_due(writer: Writer, analyser: int, *, pages: int, waiting: int, later: bool = False) -> None:
    """Fold if enough changed pages are pending.

    `later` says that the caller writes more pages and folds then: pages wait longer, except the first ones of a wiki.
    """
    if waiting > (PENDING_MAX if later and pages else pending_limit(pages)):
        await fold(writer, analyser)


async def fold(writer: Writer, analyser: int) -> list[int]:
    """Fold the pending changes of pages into the word counts, and split the counts further if they have grown large.

    Returns the other analysers that have an index of the wiki.
    """
    row = await writer.one(STATISTICS["fold_terms"], analyser=analyser, compounding=list(COMPOUNDING))
    assert row is not None
    if row["size"] and row["size"] > LARGE:
        times = 2 ** ceil(log2(row["size"] / USUAL))
        await writer.run(STATISTICS["add_shelves"], analyser=analyser, times=times)
    others: list[int] = row["others"]
    return others
