"""wiki_merge puts pages into another one."""

from uuid import UUID

from pydantic import BaseModel, Field

from resolvers.pages.merging import MOST, merge_many

from .caller import Caller
from .pages import PageName, find_page
from .tool import KeyedInput, Tool, ToolOutput
from .write import ExpectedVersion, find_written


class MergeInput(KeyedInput):
    pages: list[PageName] = Field(min_length=1, max_length=MOST, description="Pages to merge, in this order.")
    into: PageName = Field(description="Page that remains, with its type.")
    expected_version: ExpectedVersion = None


class Merged(BaseModel):
    page: str = Field(description="type/slug of the page that remains.")
    version: int
    changed: bool = Field(description="False if all were merged before.")


async def merge(caller: Caller, given: MergeInput) -> ToolOutput:
    gone = [await find_page(caller, name) for name in given.pages]
    into = await find_page(caller, given.into)
    from_ids, into_id = [UUID(page.id) for page in gone], UUID(into.id)
    saved = await caller.write(
        lambda database, scope: merge_many(database, scope, from_ids, into_id, expected_version=given.expected_version)
    )
    data = Merged(**(await find_written(caller, saved)).model_dump())
    names = ", ".join(page.name for page in gone)
    said = f"Merged {names} into {data.page}: it is at version {data.version} now."
    return ToolOutput(data, said if data.changed else f"{data.page} contains {names} already: nothing was written.")


WIKI_MERGE = Tool(
    "wiki_merge",
    "Merge pages",
    (
        "Merge pages about one thing into one of them, with their text, sources and links. They are "
        "archived, and their names lead to it."
    ),
    MergeInput,
    Merged,
    merge,
    writes=True,
    destroys=True,
    repeats=False,
)
