"""Pages as tools name and show them."""

from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field

from db.tables import PAGE_TYPES
from resolvers.errors import BadInput, CairnError, NotFound

from .caller import Caller

PageName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="The page: `type/slug`, or its slug alone where only one type has it.",
        examples=["topic/austin", "austin-texas"],
    ),
]
PageType = Annotated[str, Field(description=f"One of {', '.join(PAGE_TYPES)}.", examples=["topic"])]
MORE = "Find pages with wiki_search or wiki_list."


class AmbiguousPage(CairnError):
    """A slug that pages of several types have."""

    code = "AMBIGUOUS_PAGE"


class Found(NamedTuple):
    """Where a page is, in GraphQL's words."""

    id: str
    type: str
    slug: str

    @property
    def name(self) -> str:
        return f"{self.type.lower()}/{self.slug}"


class PageLine(BaseModel):
    """A page in a list."""

    page: str = Field(description="Its name as type/slug: what the other tools take.")
    title: str
    summary: str | None = None
    tags: list[str] = []
    version: int | None = None
    updated_at: str | None = None


async def find_page(caller: Caller, name: str) -> Found:
    """The page that a model means; NotFound and AmbiguousPage say how to name it."""
    type, slug = parted(name)
    if type is not None:
        found = [(await caller.read("page_named", type=type, slug=slug))["wikiPage"]]
    else:
        found = list((await caller.read("page_by_slug", slug=slug)).values())
    pages = {page["id"]: page for page in found if page}
    current = [page for page in pages.values() if page["redirectedFrom"] is None] or list(pages.values())
    if not current:
        raise NotFound(f'There is no page "{name[:200]}" in this wiki. {MORE}')
    if len(current) > 1:
        names = ", ".join(named(page) for page in current)
        raise AmbiguousPage(f'More than one page has the slug "{slug}". Name the one you mean: {names}.')
    return Found(current[0]["id"], current[0]["type"], current[0]["slug"])


def parted(name: str) -> tuple[str | None, str]:
    """`topic/austin` → ("TOPIC", "austin"), also as the text of a page links to it, or as the URI of a resource."""
    name = name.strip().removeprefix("cairn://page/").removeprefix("/wiki/").strip("[]/ ")
    type, slash, slug = name.partition("/")
    return (page_type(type), slug) if slash else (None, name)


def page_type(name: str) -> str:
    if name.lower() not in PAGE_TYPES:
        raise BadInput(f"A page's type is one of {', '.join(PAGE_TYPES)}.", "type")
    return name.upper()


def types_of(name: str | None) -> list[str] | None:
    """For a filter."""
    return None if name is None else [page_type(name)]


def named(page: dict[str, Any]) -> str:
    return f"{page['type'].lower()}/{page['slug']}"


def line_of(page: dict[str, Any]) -> PageLine:
    return PageLine(
        page=named(page),
        title=page["title"],
        summary=page.get("summary"),
        tags=page.get("tags") or [],
        version=page.get("version"),
        updated_at=page.get("updatedAt"),
    )


def said(line: PageLine) -> str:
    """On one line."""
    tags = f" [{', '.join(line.tags)}]" if line.tags else ""
    about = f": {' '.join(line.summary.split())}" if line.summary else ""
    return f'- {line.page} "{line.title}"{tags}{about}'
