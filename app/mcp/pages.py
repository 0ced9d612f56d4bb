"""Finds the pages that tools name, and formats lists of pages."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from db.tables import PAGE_TYPES
from resolvers.errors import BadInput, CairnError, NotFound

from .caller import Caller
from .output_limit import Words
from .tool import ToolOutput

PageName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="`topic/austin`, or the slug, title or alias of one page.",
    ),
]
PageType = Annotated[str, Field(description=f"One of {', '.join(PAGE_TYPES)}.")]
MAX_SUGGESTIONS = 5
FIND_HINT = "Find pages with wiki_search or wiki_list."


class AmbiguousPage(CairnError):
    """Several pages have the name."""

    code = "AMBIGUOUS_PAGE"


class PageLookup(NamedTuple):
    """A page that was found by its name. `type` is a value of the GraphQL enum."""

    id: str
    type: str
    slug: str

    @property
    def name(self) -> str:
        return f"{self.type.lower()}/{self.slug}"


class PageLine(BaseModel):
    """A page in a list."""

    page: str = Field(description="type/slug, for other tools.")
    title: str
    summary: str | None = None
    tags: list[str] = []
    version: int | None = None
    updated_at: str | None = None


async def find_page(caller: Caller, name: str) -> PageLookup:
    """Return the page with this name. Raises NotFound, AmbiguousPage and BadInput, which say how to name a page."""
    type, plain_name = split_name(name)
    page = best_match((await caller.read("named", name=plain_name, type=type))["pages"], plain_name)
    if page is None:
        raise await page_not_found(caller, name)
    return PageLookup(page["id"], page["type"], page["slug"])


async def read_part(
    caller: Caller, document: str, name: str, limit: int, cursor: str | None
) -> tuple[PageLookup, dict[str, Any]]:
    """Return the page with this name, and its data in a document that reads a list of the page. Raises NotFound."""
    found = await find_page(caller, name)
    answer = await caller.read(document, type=found.type, slug=found.slug, first=limit, after=cursor)
    page: dict[str, Any] | None = answer["wikiPage"]
    if page is None:
        raise NotFound(f'There is no page "{found.name}" any more. {FIND_HINT}')
    return found, page


def best_match(matches: Sequence[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """Return the page of the best match, or None. Raises AmbiguousPage if several pages match equally well.

    Matches are ordered by their kind, such as slug or alias, and by the status of the page.
    """
    if not matches:
        return None
    best = [match["page"] for match in matches if rank(match) == rank(matches[0])]
    if len(best) > 1:
        names = ", ".join(map(format_page_name, best))
        raise AmbiguousPage(f'More than one page is called "{name[:200]}". Name the one you mean: {names}.')
    page: dict[str, Any] = best[0]
    return page


def rank(match: dict[str, Any]) -> tuple[str, str]:
    return match["kind"], match["page"]["status"]


async def page_not_found(caller: Caller, name: str) -> CairnError:
    """Return the error for a name that no page has, with the names of similar pages."""
    type, plain_name = split_name(name)
    similar = await caller.read("suggest", name=plain_name)
    names = dict.fromkeys(format_page_name(match["page"]) for match in (*similar["begun"], *similar["found"]))
    hint = f"Perhaps you mean one of these: {', '.join(list(names)[:MAX_SUGGESTIONS])}." if names else FIND_HINT
    if type is None and "/" in plain_name:
        return BadInput(
            f'There is no page "{name[:200]}", and a type is one of {", ".join(PAGE_TYPES)}. {hint}', "page"
        )
    return NotFound(f'There is no page "{name[:200]}" in this wiki. {hint}')


def split_name(name: str) -> tuple[str | None, str]:
    """Return the type and the slug of a name: `topic/austin` becomes ("TOPIC", "austin").

    Links as in the text of a page and URIs of resources are accepted too. A name that does not begin with a type has
    none: it is a slug, a title or an alias, such as `TCP/IP`.
    """
    name = name.strip().removeprefix("cairn://page/").removeprefix("/wiki/").strip("[]/ ")
    type, slash, slug = name.partition("/")
    return (type.upper(), slug) if slash and type.lower() in PAGE_TYPES else (None, name)


def page_type(name: str) -> str:
    if name.lower() not in PAGE_TYPES:
        raise BadInput(f"A page's type is one of {', '.join(PAGE_TYPES)}.", "type")
    return name.upper()


def types_of(name: str | None) -> list[str] | None:
    """Return the types of a GraphQL filter for the name of a type, or None without a name."""
    return None if name is None else [page_type(name)]


def format_page_name(page: dict[str, Any]) -> str:
    return f"{page['type'].lower()}/{page['slug']}"


def line_of(page: dict[str, Any]) -> PageLine:
    return PageLine(
        page=format_page_name(page),
        title=page["title"],
        summary=page.get("summary"),
        tags=page.get("tags") or [],
        version=page.get("version"),
        updated_at=page.get("updatedAt"),
    )


def format_line(line: PageLine) -> str:
    """Return a page as a line of text."""
    tags = f" [{', '.join(line.tags)}]" if line.tags else ""
    about = f": {' '.join(line.summary.split())}" if line.summary else ""
    return f'- {line.page} "{line.title}"{tags}{about}'


Edges = Sequence[dict[str, Any]]
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


def fit_rows(
    connection: dict[str, Any], max_chars: int, build: Callable[[Edges, str | None], M], words_of: Callable[[M], Words]
) -> ToolOutput:
    """Return the output with as many rows of a connection as fit into `max_chars`.

    `build` creates the data from rows and the cursor after them.
    """

    def data_of(rows: Edges) -> M:
        return build(rows, next_cursor(connection, rows))

    data = data_of(rows_that_fit(connection["edges"], max_chars, lambda rows: words_of(data_of(rows))))
    return ToolOutput(data, words_of(data).to_text(max_chars))


def rows_that_fit(rows: Sequence[T], max_chars: int, words_of: Callable[[Sequence[T]], Words]) -> Sequence[T]:
    """Return the first rows whose text fits into `max_chars`, but at least one row. It is a binary search."""
    if not rows or words_of(rows).fits(max_chars):
        return rows
    low, high = 1, len(rows)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if words_of(rows[:middle]).fits(max_chars) else (low, middle)
    return rows[:low]


def next_cursor(connection: dict[str, Any], rows: Edges) -> str | None:
    """Return the cursor after the last of these rows, or None if no row follows."""
    if not rows or (len(rows) == len(connection["edges"]) and not connection["pageInfo"]["hasNextPage"]):
        return None
    cursor: str = rows[-1]["cursor"]
    return cursor
