"""Lexemes as the index has them: each begins with a letter that stands for its wiki and its analyser.

So what one wiki says lies together in the index, and the words of all others cost its readers nothing. Two wikis may
share a letter; the rows say whose they are.
"""

from collections.abc import Iterable
from uuid import UUID
from zlib import crc32

from content.normalization import normalize

LETTERS = range(0x1000, 0xD000)  # 49,152 characters of three bytes each
MARK = ":"  # no word has one


def scope_letter(tenant_id: UUID, owner_id: UUID, analyser: int) -> str:
    return chr(LETTERS[crc32(tenant_id.bytes + owner_id.bytes + bytes([analyser])) % len(LETTERS)])


def marks(letter: str, type_: str, tags: Iterable[str], headings: Iterable[str]) -> list[str]:
    """What a page is, and the words of its headings, as lexemes beside its words: found by the same index."""
    found = {tag_mark(letter, tag) for tag in tags} | {heading_mark(letter, heading) for heading in headings}
    return [letter + MARK, type_mark(letter, type_), *sorted(found)]


def type_mark(letter: str, type_: str) -> str:
    return f"{letter}{MARK}type{MARK}{type_}"


def tag_mark(letter: str, tag: str) -> str:
    """However it is written: capitals, spaces and ways to encode an accent make no difference."""
    said = " ".join(normalize("NFC", tag).casefold().split())
    return f"{letter}{MARK}tag{MARK}{said[:200]}"


def heading_mark(letter: str, heading: str) -> str:
    return f"{letter}{MARK}heading{MARK}{heading[:200]}"


def quoted(lexeme: str) -> str:
    """For a tsquery: nothing in it is an operator."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def one_of(lexemes: Iterable[str], tag: str = "") -> str:
    """Any of them. `tag` is what tsquery has behind a lexeme: `:*`, `:A`."""
    return "(" + "|".join(quoted(lexeme) + tag for lexeme in lexemes) + ")"
