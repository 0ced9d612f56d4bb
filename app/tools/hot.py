"""wiki_hot_index: what is at hand, as a few lines for the beginning of a prompt."""

from typing import Annotated

from pydantic import BaseModel, Field

from .budget import fenced, lines, paragraphs
from .caller import Caller
from .pages import PageLine, line_of
from .tool import Given, Told, Tool


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
