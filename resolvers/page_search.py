"""The row that full-text search reads, in step with the page."""

import re
from functools import lru_cache

from content.names import normalise
from db.sql import statements

from .records import Page
from .writer import Writer

SEARCH = statements("search_index")
PIECE = re.compile(r"\S{1,100}")  # `normalise` is made for names and stops after 200 characters
WORD_MAX = 64  # characters; longer ones are data, not words
VECTOR_MAX = 900_000  # bytes; Postgres refuses a tsvector of 1 MiB


async def write_search(writer: Writer, page: Page, words: str) -> None:
    """What can be found of the page, whether or not it may be found now. `words` are those of its body."""
    await writer.run(
        SEARCH["write_search"],
        page_id=page.id,
        status=page.status,
        title=searchable(page.title),
        summary=searchable(page.summary or ""),
        body=words,
        last_compiled_at=page.last_compiled_at,
    )


async def mark_search(writer: Writer, page: Page) -> None:
    """Its words are the same: only the status or the last compile changed."""
    await writer.run(SEARCH["mark_search"], page_id=page.id, status=page.status, last_compiled_at=page.last_compiled_at)


def searchable(text: str) -> str:
    """Normalised words, as many as a tsvector can hold."""
    words = [word[:WORD_MAX] for piece in PIECE.findall(text) for word in normalised(piece).split()]
    seen: set[str] = set()
    size = 0
    for count, word in enumerate(words):
        size += 2 if word in seen else room(word)
        seen.add(word)
        if size > VECTOR_MAX:
            return " ".join(words[:count])
    return " ".join(words)


@lru_cache(maxsize=50_000)
def normalised(piece: str) -> str:
    """The words of a text come again and again, and normalising is slow."""
    return normalise(piece)


def room(word: str) -> int:
    """Bytes that a new word takes at most: one with a hyphen is also stored in its parts."""
    return (2 if "-" in word else 1) * (len(word.encode()) + 8)
