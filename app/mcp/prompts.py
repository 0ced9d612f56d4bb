"""Prompts that a person may begin with: the text of each is a file beside this one."""

from importlib.resources import files
from typing import Annotated

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)
from pydantic import BaseModel, Field

from .caller import Caller
from .output_limit import fenced, lines, paragraphs
from .pages import PageLine, line_of
from .tool import Given, Told, Tool

WRITING = Prompt(
    name="wiki-writing",
    title="Write in the wiki",
    description="How pages of this wiki are written: which type, which sections, how to link, how to change.",
    arguments=[PromptArgument(name="subject", description="What to write about.", required=False)],
)
SUBJECT_MAX = 2_000


async def list_prompts() -> ListPromptsResult:
    return ListPromptsResult(prompts=[WRITING])


async def get_prompt(name: str, arguments: dict[str, str]) -> GetPromptResult:
    """Raises MCPError for an unknown one."""
    if name != WRITING.name:
        raise MCPError(INVALID_PARAMS, f"There is one prompt: {WRITING.name}.")
    text = files("app.mcp").joinpath("prompts/wiki-writing.md").read_text(encoding="utf-8")
    if subject := arguments.get("subject", "").strip()[:SUBJECT_MAX]:
        text += f"\n## Now\n\nWrite, or bring up to date, what the wiki says about this: {subject}\n"
    return GetPromptResult(
        description=WRITING.description, messages=[PromptMessage(role="user", content=TextContent(text=text))]
    )


class AtHand(Given):
    limit: Annotated[int, Field(ge=1, le=20, description="How many at most.")] = 5


class HotEntry(PageLine):
    """A page that is at hand."""

    score: float = Field(description="Calls of the tools that its tags speak of, and its own reads, in 30 days.")


class HotIndex(BaseModel):
    entries: list[HotEntry] = Field(description="The hottest first.")


async def hot_index(caller: Caller, given: AtHand) -> Told:
    found = (await caller.read("hot", limit=given.limit))["wikiHotIndex"]
    entries = [HotEntry(**line_of(one["page"]).model_dump(), score=one["score"]) for one in found]
    return Told(HotIndex(entries=entries), text_of(entries))


def text_of(entries: list[HotEntry]) -> str:
    """No summaries: the index costs a prompt a line an entry."""
    if not entries:
        return "Nothing is at hand yet. Use wiki_search."
    said = (f"- {one.page}" + (f" [{', '.join(one.tags)}]" if one.tags else "") for one in entries)
    return paragraphs("Knowledge index: wiki_read or knowledge_search gives the text.", fenced(lines(said)))


WIKI_HOT_INDEX = Tool(
    "wiki_hot_index",
    "What is at hand",
    "The pages that agents read most and the entries whose tags speak of the tools they call: "
    "an index of a few lines for the beginning of a prompt.",
    AtHand,
    HotIndex,
    hot_index,
)
