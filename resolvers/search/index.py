"""The rows that search reads of a page, in step with it."""

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
from lib.threads import read_in_thread

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
    """The index of a wiki as one analyser makes it, and what was last counted."""

    analyser: int
    is_ready: bool


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """The text by which a page can be found; `words` are those of its body."""

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


class Findable(NamedTuple):
    """A page, the names that it answers to, and the words of its body, if they are known."""

    page: Page
    names: Names
    words: str | None = None


async def write_search(writer: Writer, *pages: Findable, later: bool = False) -> None:
    """Write what can be found of these pages, whether or not they may be found now.

    `later` when their words are soon to be counted together with others', by `count_words`.
    """
    if writer.gathered is not None:
        writer.gathered.update({one.page.id: one for one in pages})
        return
    known = [one if one.words is not None else one._replace(words=await words_of(one.page)) for one in pages]
    page_ids = [one.page.id for one in pages]
    language, editions = await find_editions(writer, page_ids)
    for edition in editions:
        if edition.analyser in ANALYSERS:
            await write_pages(writer, known, language, edition, later)
        else:
            await leave_pages(writer, page_ids)


async def find_editions(writer: Writer, page_ids: Sequence[UUID]) -> tuple[str, list[Edition]]:
    """The wiki's language and what there is to write; the first pages of a wiki open its index."""
    language, found = writer.editions or await read_editions(writer)
    if not found:
        state = await writer.value(INDEX["open_scope"], page_ids=page_ids, analyser=ANALYSER)
        language, found = (language, [(ANALYSER, state)]) if state else await read_editions(writer)
    writer.editions = language, found
    return language, [Edition(analyser, state == "ready") for analyser, state in found]


async def read_editions(writer: Writer) -> tuple[str, list[tuple[int, str]]]:
    rows = await writer.all(INDEX["find_analysers"])
    return rows[0]["language"], [(row["analyser"], row["state"]) for row in rows if row["analyser"] is not None]


async def write_pages(writer: Writer, pages: Sequence[Findable], language: str, edition: Edition, later: bool) -> None:
    analyser = edition.analyser
    if analyser != ANALYSER:
        pages = [one._replace(words=await words_of(one.page, analyser)) for one in pages]
    said = [index_values(one, language) for one in pages]
    size = sum(len(one.words) + sum(map(len, [one.title, one.summary, *one.names, *one.headings])) for one in said)
    values = await read_in_thread(size, rows_of, writer.scope, analyser, said)
    row = await writer.one(INDEX["write_pages"], **values)
    if row is not None and edition.is_ready:
        waiting = row["waiting"] + len(pages)
        if row["is_in_new_language"]:  # its stems are found from now on: what a folding says of languages cannot wait
            await fold(writer, analyser)
        else:
            await fold_when_due(writer, analyser, pages=row["pages"], waiting=waiting, later=later)


async def count_words(writer: Writer) -> list[int]:
    """Count all words that wait, in one go; return the analysers that have counted."""
    others = [other for other in await fold(writer, ANALYSER) if other in ANALYSERS]
    for other in others:
        await fold(writer, other)
    return [ANALYSER, *others]


async def leave_pages(writer: Writer, page_ids: Sequence[UUID]) -> None:
    for page_id in page_ids:
        await writer.run(INDEX["leave_page"], page_id=page_id, change_id=new_id(), analysers=list(ANALYSERS))


async def words_of(page: Page, analyser: int = ANALYSER) -> str:
    return await read_in_thread(len(page.body), searchable, page.body, analyser)


def index_values(one: Findable, language: str) -> IndexedPage:
    page, names, words = one
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
    """Return the parameters of the statement, except the scope: lists with an item for each page."""
    letter = scope_letter(scope.tenant_id, scope.owner_id, analyser)
    rows = [row_of(letter, analyser, said) for said in pages]
    return {"analyser": analyser, "letter": letter, **{name: [row[name] for row in rows] for name in rows[0]}}


def row_of(letter: str, analyser: int, said: IndexedPage) -> dict[str, Any]:
    """Return one page's item in each of the lists. Tags and marks hold no control characters, words no spaces."""
    analyse, parts = ANALYSERS[analyser], list[str]()

    def words_of_name(name: str) -> list[str]:
        """Its parts find a page as its headings do: a name begins and ends with whole words."""
        found = whole_words(name, analyser)
        parts.extend(part for word in found for part in word[1:])
        return [word[0] for word in found]

    title, summary = words_of_name(said.title), analyse(said.summary)
    others = other_words(title, map(words_of_name, said.names))
    headings = [heading for given in said.headings if (heading := " ".join(words_of_name(given)))]
    tags = [word for tag in said.tags for word in analyse(tag)] if analyser >= TAGGED else []
    body = said.words.split(" ") if said.words else []
    return {
        "page_ids": said.page_id,
        "change_ids": new_id(),
        "languages": said.language,
        "statuses": said.status,
        "types": said.type,
        "tags": APART.join(said.tags),
        "titles": " ".join(title),
        "names": " ".join(others),
        "leads": " ".join([*headings, *dict.fromkeys(parts), *tags, *summary]),
        "bodies": said.words,
        "marks": APART.join(marks(letter, said.type, said.tags, headings)),
        "title_words": len(title),
        "words": len(title) + len(summary) + len(body),
        "text_words": " ".join(vocabulary([*parts, *tags, *summary, *body])),
        "name_words": " ".join(vocabulary([*title, *others])),
    }


def other_words(title: list[str], names: Iterable[list[str]]) -> list[str]:
    """Return the words of names that say something else: a slug says what the title says, and would count again."""
    different = {tuple(name): name for name in names if name != title}
    return [word for name in different.values() for word in name]


async def restate_search(writer: Writer, pages: Sequence[Page]) -> None:
    """Mark the pages with their new status: their words are the same."""
    for page in pages:
        if writer.gathered and (found := writer.gathered.get(page.id)):
            writer.gathered[page.id] = found._replace(page=page)
    if pages:
        statuses = [page.status for page in pages]
        await writer.later(INDEX["mark_pages"], page_ids=[page.id for page in pages], statuses=statuses)


async def forget_search(writer: Writer, page_id: UUID) -> None:
    """Remove a page from the index before it goes. With fewer pages fewer may wait to be counted, so that is done."""
    await writer.run(INDEX["leave_page"], page_id=page_id, change_id=new_id(), analysers=[])
    await count_words(writer)


def vocabulary(words: Sequence[str]) -> list[str]:
    """Each word once that people may complete or mistype."""
    return sorted({word for word in words if SHORTEST <= len(word) <= LONGEST})


def searchable(text: str, analyser: int = ANALYSER) -> str:
    """The words of a body, as many as a tsvector can hold."""
    words = ANALYSERS[analyser](strip_comments(text) if analyser >= UNCOMMENTED else text)
    joined = " ".join(words)
    if 2 * len(words) + (LETTER_BYTES + 8) * len(set(words)) + 4 * len(joined) <= VECTOR_MAX:
        return joined  # without looking at each: even letters of four bytes would not fill it
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
    """Write what can be found of the pages saved in here at the end, as it is then.

    No page may be deleted meanwhile.
    """
    gathered = writer.gathered = {}
    yield
    writer.gathered = None
    if gathered:
        await write_search(writer, *gathered.values())


async def has_unsearchable(database: Database, tenant_id: UUID) -> bool:
    """Return whether a wiki of the tenant has pages and no whole index: cheaper than counting them."""
    async with database.connection() as connection:
        found: bool = await connection.value(INDEX["has_unsearchable"], tenant_id=tenant_id, analyser=ANALYSER)
    return found
