"""The rows that search reads of a page, in step with it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from content.languages import language_of
from content.words import ANALYSER, ANALYSERS
from db.ids import new_id
from db.scope import Scope
from db.sql import statements

from ..long_texts import read_through
from ..page_names import Names
from ..records import Page
from ..writer import Writer
from .lexemes import marks, scope_letter
from .statistics import fold, fold_when_due

INDEX = statements("search_index")
VECTOR_MAX = 900_000  # bytes; Postgres refuses a tsvector of 1 MiB
LETTER_BYTES = 3
SHORTEST, LONGEST = 2, 32  # characters of a word that can be completed or mended


@dataclass(frozen=True, slots=True)
class Edition:
    """The index of a wiki as one analyser makes it, and what was last counted."""

    analyser: int
    is_ready: bool


@dataclass(frozen=True, slots=True)
class Said:
    """All that can be found of a page; `words` are those of its body."""

    page_id: UUID
    type: str
    status: str
    tags: Sequence[str]
    language: str
    title: str
    summary: str
    headings: Sequence[str]
    names: Sequence[str]
    words: str


async def write_search(writer: Writer, page: Page, names: Names, words: str | None = None) -> None:
    """What can be found of the page, whether or not it may be found now. `words` are those of its body, if known."""
    if words is None:
        words = await read_through(len(page.body), searchable, page.body)
    language, editions = await find_editions(writer, page)
    for edition in editions:
        if edition.analyser in ANALYSERS:
            await write_page(writer, page, names, words, language, edition)
        else:
            await writer.run(INDEX["leave_page"], page_id=page.id, change_id=new_id(), analysers=list(ANALYSERS))


async def find_editions(writer: Writer, page: Page) -> tuple[str, list[Edition]]:
    """The wiki's language and what there is to write; the first page of a wiki opens its index."""
    rows = await writer.all(INDEX["find_analysers"])
    if rows[0]["analyser"] is None:
        await writer.run(INDEX["open_scope"], page_id=page.id, analyser=ANALYSER)
        rows = await writer.all(INDEX["find_analysers"])
    return rows[0]["language"], [Edition(row["analyser"], row["state"] == "ready") for row in rows]


async def write_page(writer: Writer, page: Page, names: Names, words: str, language: str, edition: Edition) -> None:
    if edition.analyser != ANALYSER:
        words = await read_through(len(page.body), searchable, page.body, edition.analyser)
    said = Said(
        page_id=page.id,
        type=page.type,
        status=page.status,
        tags=page.tags,
        language=language_of(page.metadata, language),
        title=page.title,
        summary=page.summary or "",
        headings=[section.heading for section in page.sections],
        names=sorted(names.aliases | names.slugs),
        words=words,
    )
    values = await read_through(len(words), row_of, writer.scope, edition.analyser, said)
    row = await writer.one(INDEX["write_page"], **values)
    if row is not None and edition.is_ready:
        await fold_when_due(writer, edition.analyser, pages=row["pages"], waiting=row["waiting"] + 1)


def row_of(scope: Scope, analyser: int, said: Said) -> dict[str, Any]:
    """What the statement takes, but for the scope."""
    analyse = ANALYSERS[analyser]
    title, summary = analyse(said.title), analyse(said.summary)
    others = other_words(title, map(analyse, said.names))
    headings = [heading for given in said.headings if (heading := " ".join(analyse(given)))]
    body = said.words.split(" ") if said.words else []
    letter = scope_letter(scope.tenant_id, scope.owner_id, analyser)
    return {
        "page_id": said.page_id,
        "analyser": analyser,
        "letter": letter,
        "marks": marks(letter, said.type, said.tags, headings),
        "language": said.language,
        "status": said.status,
        "type": said.type,
        "tags": said.tags,
        "title": " ".join(title),
        "names": " ".join(others),
        "leads": " ".join([*headings, *summary]),
        "body": said.words,
        "title_words": len(title),
        "words": len(title) + len(summary) + len(body),
        "change_id": new_id(),
        "text_words": vocabulary([*summary, *body]),
        "name_words": vocabulary([*title, *others]),
    }


def other_words(title: list[str], names: Iterable[list[str]]) -> list[str]:
    """The words of names that say something else: a slug says what the title says, and would count it again."""
    different = {tuple(name): name for name in names if name != title}
    return [word for name in different.values() for word in name]


async def restate_search(writer: Writer, page: Page) -> None:
    """Its words are the same: only the status changed."""
    await writer.run(INDEX["mark_page"], page_id=page.id, status=page.status)


async def forget_search(writer: Writer, page_id: UUID) -> None:
    """Before the page goes. With fewer pages fewer may wait to be counted, so that is done."""
    await writer.run(INDEX["forget_page"], page_id=page_id)
    for analyser in ANALYSERS:
        await fold(writer, analyser)


def vocabulary(words: Sequence[str]) -> list[str]:
    """Each word once that people may complete or mistype."""
    return sorted({word for word in words if SHORTEST <= len(word) <= LONGEST})


def searchable(text: str, analyser: int = ANALYSER) -> str:
    """The words of a body, as many as a tsvector can hold."""
    words = ANALYSERS[analyser](text)
    seen: set[str] = set()
    size = 0
    for count, word in enumerate(words):
        size += 2 if word in seen else len(word.encode()) + LETTER_BYTES + 8
        seen.add(word)
        if size > VECTOR_MAX:
            return " ".join(words[:count])
    return " ".join(words)
