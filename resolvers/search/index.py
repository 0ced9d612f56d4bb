"""The search index of pages, written in the transaction that writes a page."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from content.languages import language_of
from content.markdown.plain import strip_comments
from content.search.words import ANALYSER, ANALYSERS, TAGGED, UNCOMMENTED, whole_words
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from ..model.names import Names
from ..model.pages import Page
from ..transactions.writer import Writer
from .lexemes import fold, fold_when_due, marks, scope_letter

INDEX = statements("search/index")
APART = "\x1f"
VECTOR_MAX = 900_000  # bytes; Postgres refuses a tsvector of 1 MiB
LETTER_BYTES = 3
SHORTEST, LONGEST = 2, 32  # characters of a word that can be completed or corrected


@dataclass(frozen=True, slots=True)
class Edition:
    """The index of a wiki by one analyser. Queries use it once it is ready."""

    analyser: int
    is_ready: bool


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """The texts of a page that are indexed; `words` are the analysed words of its body."""

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


class SearchEntry(NamedTuple):
    """A page to index, with its names and, if they are known already, the analysed words of its body."""

    page: Page
    names: Names
    words: str | None = None


async def index_pages(writer: Writer, *pages: SearchEntry, later: bool = False) -> None:
    """Index these pages, whatever their status.

    `later` says that the caller will call `count_words` after more pages, so that their words need not be counted now.
    """
    if writer.gathered is not None:
        writer.gathered.update({found.page.id: found for found in pages})
        return
    known = [found if found.words is not None else found._replace(words=await words_of(found.page)) for found in pages]
    page_ids = [found.page.id for found in pages]
    language, editions = await find_editions(writer, page_ids)
    for edition in editions:
        if edition.analyser in ANALYSERS:
            await write_pages(writer, known, language, edition, later)
        else:
            await remove_pages(writer, page_ids)


async def find_editions(writer: Writer, page_ids: Sequence[UUID]) -> tuple[str, list[Edition]]:
    """Return the language of the wiki and its indexes. The first pages of a wiki open its index."""
    language, found = writer.editions or await read_editions(writer)
    if not found:
        state = await writer.value(INDEX["open_scope"], page_ids=page_ids, analyser=ANALYSER)
        language, found = (language, [(ANALYSER, state)]) if state else await read_editions(writer)
    writer.editions = language, found
    return language, [Edition(analyser, state == "ready") for analyser, state in found]


async def read_editions(writer: Writer) -> tuple[str, list[tuple[int, str]]]:
    rows = await writer.all(INDEX["find_analysers"])
    return rows[0]["language"], [(row["analyser"], row["state"]) for row in rows if row["analyser"] is not None]


async def write_pages(
    writer: Writer, pages: Sequence[SearchEntry], language: str, edition: Edition, later: bool
) -> None:
    analyser = edition.analyser
    if analyser != ANALYSER:
        pages = [found._replace(words=await words_of(found.page, analyser)) for found in pages]
    indexed = [indexed_page(found, language) for found in pages]
    size = sum(
        len(page.words) + sum(map(len, [page.title, page.summary, *page.names, *page.headings])) for page in indexed
    )
    values = await offload(size, rows_of, writer.scope, analyser, indexed)
    row = await writer.one(INDEX["write_pages"], **values)
    if row is not None and edition.is_ready:
        waiting = row["waiting"] + len(pages)
        if row["is_in_new_language"]:  # queries are stemmed in a language only after a fold has recorded it
            await fold(writer, analyser)
        else:
            await fold_when_due(writer, analyser, pages=row["pages"], waiting=waiting, later=later)


async def count_words(writer: Writer) -> list[int]:
    """Fold all pending changes into the word counts; return the analysers whose indexes were folded."""
    others = [other for other in await fold(writer, ANALYSER) if other in ANALYSERS]
    for other in others:
        await fold(writer, other)
    return [ANALYSER, *others]


async def remove_pages(writer: Writer, page_ids: Sequence[UUID]) -> None:
    for page_id in page_ids:
        await writer.run(INDEX["leave_page"], page_id=page_id, change_id=new_id(), analysers=list(ANALYSERS))


async def words_of(page: Page, analyser: int = ANALYSER) -> str:
    return await offload(len(page.body), searchable, page.body, analyser)


def indexed_page(found: SearchEntry, language: str) -> IndexedPage:
    page, names, words = found
    return IndexedPage(
        page_id=page.id,
        type=page.type,
        status=page.status,
        tags=page.tags,
        language=language_of(page.metadata, language),
        title=page.title,
        summary=page.summary or "",
        headings=[section.heading for section in page.sections],
        names=sorted(names.aliases | names.slugs),
        words=words or "",
    )


def rows_of(scope: Scope, analyser: int, pages: Sequence[IndexedPage]) -> dict[str, Any]:
    """Return the parameters of `write_pages` except the scope: lists with an item for each page."""
    letter = scope_letter(scope.tenant_id, scope.owner_id, analyser)
    rows = [row_of(letter, analyser, page) for page in pages]
    return {"analyser": analyser, "letter": letter, **{name: [row[name] for row in rows] for name in rows[0]}}


def row_of(letter: str, analyser: int, page: IndexedPage) -> dict[str, Any]:
    """Return the item of one page for each of the lists. Tags and marks have no control characters, words no spaces."""
    analyse, parts = ANALYSERS[analyser], list[str]()

    def words_of_name(name: str) -> list[str]:
        """Return the whole words of a name, and add the parts of compounds to `parts`, indexed like headings."""
        found = whole_words(name, analyser)
        parts.extend(part for word in found for part in word[1:])
        return [word[0] for word in found]

    title, summary = words_of_name(page.title), analyse(page.summary)
    others = other_words(title, map(words_of_name, page.names))
    headings = list(filter(None, (" ".join(words_of_name(heading)) for heading in page.headings)))
    tags = [word for tag in page.tags for word in analyse(tag)] if analyser >= TAGGED else []
    body = page.words.split(" ") if page.words else []
    return {
        "page_ids": page.page_id,
        "change_ids": new_id(),
        "languages": page.language,
        "statuses": page.status,
        "types": page.type,
        "tags": APART.join(page.tags),
        "titles": " ".join(title),
        "names": " ".join(others),
        "leads": " ".join([*headings, *dict.fromkeys(parts), *tags, *summary]),
        "bodies": page.words,
        "marks": APART.join(marks(letter, page.type, page.tags, headings)),
        "title_words": len(title),
        "words": len(title) + len(summary) + len(body),
        "text_words": " ".join(vocabulary([*parts, *tags, *summary, *body])),
        "name_words": " ".join(vocabulary([*title, *others])),
    }


def other_words(title: list[str], names: Iterable[list[str]]) -> list[str]:
    """Return the words of the names that differ from the title. A slug repeats the title and would count twice."""
    different = {tuple(name): name for name in names if name != title}
    return [word for name in different.values() for word in name]


async def update_search_status(writer: Writer, pages: Sequence[Page]) -> None:
    """Write the new status of the pages to the index; their words have not changed."""
    for page in pages:
        if writer.gathered and (found := writer.gathered.get(page.id)):
            writer.gathered[page.id] = found._replace(page=page)
    if pages:
        statuses = [page.status for page in pages]
        await writer.later(INDEX["mark_pages"], page_ids=[page.id for page in pages], statuses=statuses)


async def remove_from_search(writer: Writer, page_id: UUID) -> None:
    """Remove a page from the index before it is deleted.

    The words of the wiki are counted at once, because fewer changes may be pending in a smaller wiki.
    """
    await writer.run(INDEX["leave_page"], page_id=page_id, change_id=new_id(), analysers=[])
    await count_words(writer)


def vocabulary(words: Sequence[str]) -> list[str]:
    """Return the distinct words that queries can complete or correct."""
    return sorted({word for word in words if SHORTEST <= len(word) <= LONGEST})


def searchable(text: str, analyser: int = ANALYSER) -> str:
    """Return the words of a body, cut to what a tsvector can hold."""
    words = ANALYSERS[analyser](strip_comments(text) if analyser >= UNCOMMENTED else text)
    joined = " ".join(words)
    if 2 * len(words) + (LETTER_BYTES + 8) * len(set(words)) + 4 * len(joined) <= VECTOR_MAX:
        return joined  # it fits even if all letters have four bytes
    seen: set[str] = set()
    size = 0
    for count, word in enumerate(words):
        size += 2 if word in seen else len(word.encode()) + LETTER_BYTES + 8
        seen.add(word)
        if size > VECTOR_MAX:
            return " ".join(words[:count])
    return joined


@asynccontextmanager
async def index_together(writer: Writer) -> AsyncIterator[None]:
    """Index all pages that are saved inside the block once, at its end. No page may be deleted inside the block."""
    gathered = writer.gathered = {}
    yield
    writer.gathered = None
    if gathered:
        await index_pages(writer, *gathered.values())


async def has_unsearchable(database: Database, tenant_id: UUID) -> bool:
    """Return whether a wiki of the tenant has pages or sources but no complete index. Cheaper than counting them."""
    async with database.connection() as connection:
        found: bool = await connection.value(INDEX["has_unsearchable"], tenant_id=tenant_id, analyser=ANALYSER)
    return found
