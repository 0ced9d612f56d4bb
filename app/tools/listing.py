"""wiki_list: the pages of the wiki, in an order."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from content.limits import TAG, TITLE

from .budget import CHARS, Cursor, Limit, MaxChars, Words, lines, read_on
from .caller import Caller
from .pages import PageLine, PageType, line_of, said, types_of
from .paging import Edges, part
from .tool import Given, Told, Tool


class Listing(Given):
    type: PageType | None = None
    tag: str | None = Field(None, max_length=TAG.most, description="Only pages that have this tag.")
    title_prefix: str | None = Field(None, max_length=TITLE.most, description="Only titles that begin so.")
    updated_since: datetime | None = Field(None, description="Changed then or later.")
    order_by: Literal["title", "updated", "created", "hubness"] = Field(
        "title", description="title, or the last changed, the newest, or the most linked first."
    )
    archived: bool = Field(False, description="Those that were put away, instead of the active ones.")
    limit: Limit = 50
    cursor: Cursor = None
    max_chars: MaxChars = CHARS


class Pages(BaseModel):
    pages: list[PageLine]
    total: int
    next_cursor: str | None


async def list_pages(caller: Caller, given: Listing) -> Told:
    filter = {
        "types": types_of(given.type),
        "tags": [given.tag] if given.tag else None,
        "titlePrefix": given.title_prefix,
        "updatedSince": given.updated_since and given.updated_since.isoformat(),
        "status": "ARCHIVED" if given.archived else "ACTIVE",
    }
    order = given.order_by.upper()
    found = (
        await caller.read("list", filter=filter, orderBy=order, first=given.limit, after=given.cursor)
    )["wikiPages"]  # fmt: skip

    def shown(edges: Edges, cursor: str | None) -> Pages:
        return Pages(
            pages=[line_of(edge["node"]) for edge in edges],
            total=found["totalCount"],
            next_cursor=cursor,
        )

    return part(found, given.max_chars, shown, words_of)


def words_of(data: Pages) -> Words:
    if not data.pages:
        return Words("There are no such pages.")
    return Words(f"{len(data.pages)} of {data.total} pages.", lines(map(said, data.pages)), read_on(data.next_cursor))


WIKI_LIST = Tool(
    "wiki_list",
    "List pages",
    "List the pages of the wiki, each with its summary and tags.",
    Listing,
    Pages,
    list_pages,
)
