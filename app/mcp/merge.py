"""wiki_merge merges a page into another page."""

from uuid import UUID

from pydantic import BaseModel, Field

from resolvers.pages.merging import merge_many

from .caller import Caller
from .pages import PageName, find_page
from .tool import KeyedInput, Tool, ToolOutput
from .write import ExpectedVersion, find_written


class MergeInput(KeyedInput):
    page: PageName = Field(description="Page to merge, with its type.")
    into: PageName = Field(description="Page that remains, with its type.")
    expected_version: ExpectedVersion = None


class Merged(BaseModel):
    page: str = Field(description="type/slug of the page that remains.")
    version: int
    changed: bool = Field(description="False if it was merged before.")


async def merge(caller: Caller, arguments: MergeInput) -> ToolOutput:
    merged, into = await find_page(caller, arguments.page), await find_page(caller, arguments.into)
    ids, into_id = [UUID(merged.id)], UUID(into.id)
    saved = await caller.write(
        lambda database, scope: merge_many(database, scope, ids, into_id, expected_version=arguments.expected_version)
    )
    data = Merged(**(await find_written(caller, saved)).model_dump())
    if data.changed:
        message = f"Merged {merged.name} into {data.page}: it is at version {data.version} now."
    else:
        message = f"{data.page} contains {merged.name} already: nothing was written."
    return ToolOutput(data, message)


WIKI_MERGE = Tool(
    "wiki_merge",
    "Merge two pages",
    (
        "Merge a page into another one about the same thing, with its text, sources and links. It is archived, and "
        "its names lead to the other."
    ),
    MergeInput,
    Merged,
    merge,
    writes=True,
    destroys=True,
    is_idempotent=False,
)
