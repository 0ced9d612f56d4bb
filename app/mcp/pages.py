"""Pages as tools name and show them."""

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
SUGGESTED = 5
MORE = "Find pages with wiki_search or wiki_list."


class AmbiguousPage(CairnError):
    """A name that several pages have."""

    code = "AMBIGUOUS_PAGE"


class PageLookup(NamedTuple):
    """The place of a page, in GraphQL's words."""

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
    """The page that a model means; NotFound and AmbiguousPage say how to name it."""
    type, called = split_name(name)
    page = the_one((await caller.read("named", name=called, type=type))["pages"], called)
    if page is None:
        raise await unknown(caller, name)
    return PageLookup(page["id"], page["type"], page["slug"])


def the_one(found: Sequence[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The page that a name means, of those that answer to it; raises AmbiguousPage where several do so equally."""
    if not found:
        return None
    best = [one["page"] for one in found if (one["kind"], one["page"]["status"]) == first(found)]
    if len(best) > 1:
        names = ", ".join(map(format_page_name, best))
        raise AmbiguousPage(f'More than one page is called "{name[:200]}". Name the one you mean: {names}.')
    page: dict[str, Any] = best[0]
    return page


def first(found: Sequence[dict[str, Any]]) -> tuple[str, str]:
    return found[0]["kind"], found[0]["page"]["status"]


async def unknown(caller: Caller, name: str) -> CairnError:
    """The error for a name that no page answers to, with those that may be meant."""
    type, called = split_name(name)
    near = await caller.read("suggest", name=called)
    names = dict.fromkeys(format_page_name(one["page"]) for one in (*near["begun"], *near["found"]))
    meant = f"Perhaps you mean one of these: {', '.join(list(names)[:SUGGESTED])}." if names else MORE
    if type is None and "/" in called:
        return BadInput(
            f'There is no page "{name[:200]}", and a type is one of {", ".join(PAGE_TYPES)}. {meant}', "page"
        )
    return NotFound(f'There is no page "{name[:200]}" in this wiki. {meant}')


def split_name(name: str) -> tuple[str | None, str]:
    """`topic/austin` → ("TOPIC", "austin"), also as the text of a page links to it, or as the URI of a resource.

    What has no type in front is a name as a whole, such as the title `TCP/IP`.
    """
    name = name.strip().removeprefix("cairn://page/").removeprefix("/wiki/").strip("[]/ ")
    type, slash, slug = name.partition("/")
    return (type.upper(), slug) if slash and type.lower() in PAGE_TYPES else (None, name)


def page_type(name: str) -> str:
    if name.lower() not in PAGE_TYPES:
        raise BadInput(f"A page's type is one of {', '.join(PAGE_TYPES)}.", "type")
    return name.upper()


def types_of(name: str | None) -> list[str] | None:
    """Return a filter's types for the name of one, or None if none is named."""
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
    """Format a page as one line."""
    tags = f" [{', '.join(line.tags)}]" if line.tags else ""
    about = f": {' '.join(line.summary.split())}" if line.summary else ""
    return f'- {line.page} "{line.title}"{tags}{about}'


Edges = Sequence[dict[str, Any]]
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


def fit_rows(
    connection: dict[str, Any], most: int, build: Callable[[Edges, str | None], M], words_of: Callable[[M], Words]
) -> ToolOutput:
    """Return as many rows as fit into `most` characters. `build` makes the answer of rows and the cursor after them."""

    def answer(kept: Edges) -> M:
        return build(kept, next_cursor(connection, kept))

    data = answer(rows_that_fit(connection["edges"], most, lambda kept: words_of(answer(kept))))
    return ToolOutput(data, words_of(data).within(most))


def rows_that_fit(rows: Sequence[T], most: int, words: Callable[[Sequence[T]], Words]) -> Sequence[T]:
    """Return as many of the first rows as there is room for, and one at least."""
    if not rows or words(rows).fits(most):
        return rows
    few, many = 1, len(rows)
    while many - few > 1:
        some = (few + many) // 2
        few, many = (some, many) if words(rows[:some]).fits(most) else (few, some)
    return rows[:few]


def next_cursor(connection: dict[str, Any], kept: Edges) -> str | None:
    """Return the cursor after the last row that is shown."""
    if not kept or (len(kept) == len(connection["edges"]) and not connection["pageInfo"]["hasNextPage"]):
        return None
    cursor: str = kept[-1]["cursor"]
    return cursor
