"""wiki_history: the versions that a page had."""

from typing import Any

from pydantic import BaseModel, Field

from resolvers.errors import NotFound

from .budget import CHARS, Cursor, Limit, MaxChars, Words, lines, read_on
from .caller import Caller
from .pages import MORE, PageName, find_page
from .paging import Edges, part
from .tool import Given, Told, Tool


class Looking(Given):
    page: PageName
    limit: Limit = 20
    cursor: Cursor = None
    max_chars: MaxChars = CHARS


class Version(BaseModel):
    version: int
    title: str
    edit_summary: str | None
    author: str = Field(description="agent, user, compiler or service, and who of them.")
    created_at: str


class History(BaseModel):
    page: str
    versions: list[Version] = Field(description="The newest first.")
    total: int
    next_cursor: str | None


async def look_back(caller: Caller, given: Looking) -> Told:
    found = await find_page(caller, given.page)
    answer = await caller.read("history", type=found.type, slug=found.slug, first=given.limit, after=given.cursor)
    if answer["wikiPage"] is None:
        raise NotFound(f'There is no page "{found.name}" any more. {MORE}')
    revisions = answer["wikiPage"]["revisions"]

    def shown(edges: Edges, cursor: str | None) -> History:
        return History(
            page=found.name,
            versions=[version(edge["node"]) for edge in edges],
            total=revisions["totalCount"],
            next_cursor=cursor,
        )

    return part(revisions, given.max_chars, shown, words_of)


def version(node: dict[str, Any]) -> Version:
    return Version(
        version=node["version"],
        title=node["title"],
        edit_summary=node["editSummary"],
        author=f"{node['authorKind'].lower()} {node['authorId']}",
        created_at=node["createdAt"],
    )


def said(one: Version) -> str:
    return f"- {one.version}, {one.created_at}, {one.author}: {one.edit_summary or 'no summary'}"


def words_of(data: History) -> Words:
    return Words(
        f"{len(data.versions)} of {data.total} versions of {data.page}, the newest first.",
        lines(map(said, data.versions)),
        read_on(data.next_cursor),
    )


WIKI_HISTORY = Tool(
    "wiki_history",
    "History of a page",
    "Who changed a page when, and what they said of it.",
    Looking,
    History,
    look_back,
)
