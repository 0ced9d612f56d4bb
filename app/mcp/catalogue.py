"""The catalogue of all tools and toolsets, in the order in which tools are listed."""

from collections.abc import Collection, Mapping, Sequence

from resolvers.errors import BadInput

from .chat import FETCH, SEARCH
from .context import WIKI_CONTEXT
from .decide import WIKI_DECIDE
from .history import WIKI_DIFF, WIKI_HISTORY, WIKI_PROPOSALS, WIKI_RESTORE
from .knowledge import KNOWLEDGE_DELETE, KNOWLEDGE_LIST, KNOWLEDGE_SEARCH, KNOWLEDGE_WRITE
from .links import WIKI_BACKLINKS, WIKI_GRAPH
from .merge import WIKI_MERGE
from .read import READ_WIKI_PAGE, WIKI_READ
from .remember import WIKI_INGEST, WIKI_REMEMBER, WIKI_STUB
from .resources import WIKI_HOT_INDEX
from .search import SEARCH_WIKI, WIKI_LIST, WIKI_SEARCH
from .tool import Tool
from .write import WIKI_APPEND, WIKI_CREATE, WIKI_EDIT, WIKI_SUPERSEDE, WIKI_UPDATE

PAGES = (
    WIKI_CONTEXT, WIKI_SEARCH, WIKI_READ, WIKI_LIST, WIKI_CREATE, WIKI_EDIT, WIKI_APPEND, WIKI_SUPERSEDE, WIKI_UPDATE,
    WIKI_REMEMBER,
)  # fmt: skip
HISTORY = (WIKI_HISTORY, WIKI_DIFF, WIKI_RESTORE, WIKI_PROPOSALS)
LINKS = (WIKI_BACKLINKS, WIKI_GRAPH)
KNOWLEDGE = (WIKI_HOT_INDEX, KNOWLEDGE_SEARCH, KNOWLEDGE_WRITE, KNOWLEDGE_LIST, KNOWLEDGE_DELETE)
TOOLS = (*PAGES, *HISTORY, *LINKS, *KNOWLEDGE)
CURATION: tuple[Tool, ...] = (WIKI_STUB, WIKI_INGEST, WIKI_DECIDE, WIKI_MERGE)
"""Tools for curators of a wiki. They are not listed to all agents, because each tool adds some hundred tokens."""
CHAT = (SEARCH, FETCH)
"""The two tools that chat products require of a server in order to search its documents."""
OLDER_NAMES = (SEARCH_WIKI, READ_WIKI_PAGE)
DEFAULT = (
    WIKI_CONTEXT, WIKI_SEARCH, WIKI_READ, WIKI_CREATE, WIKI_EDIT, WIKI_APPEND, WIKI_REMEMBER, KNOWLEDGE_SEARCH,
)  # fmt: skip
OUTPUT_SCHEMAS = "output-schemas"
"""This name in a list of toolsets adds the output schema to every listed tool. It more than doubles the listing."""
TOOLSETS: Mapping[str, Sequence[Tool]] = {
    "pages": PAGES, "history": HISTORY, "links": LINKS, "knowledge": KNOWLEDGE, "curation": CURATION, "chat": CHAT,
    "older-names": OLDER_NAMES, "default": DEFAULT, "all": (*TOOLS, *CURATION), OUTPUT_SCHEMAS: (),
}  # fmt: skip
BY_NAME = {tool.name: tool for tool in (*TOOLS, *CURATION, *CHAT, *OLDER_NAMES)}
"""All tools by name. A tool can be called even if it is not listed to the caller."""


def visible_tools(toolsets: Collection[str] = ("default",), *, may_write: bool = True) -> Sequence[Tool]:
    """Return the tools to list to a caller. A caller that may not write gets only tools that read."""
    named = {tool.name for toolset in toolsets for tool in TOOLSETS[toolset]}
    return [tool for tool in BY_NAME.values() if tool.name in named and (may_write or not tool.writes)]


def parse_toolsets(text: str) -> frozenset[str]:
    """Return the toolsets of a comma-separated list. Raises BadInput if one does not exist."""
    names = frozenset(filter(None, (name.strip().lower() for name in text.split(","))))
    if unknown := sorted(names - TOOLSETS.keys()):
        raise BadInput(f'There is no toolset "{unknown[0][:50]}". There are {", ".join(TOOLSETS)}.', "toolsets")
    return names if names - {OUTPUT_SCHEMAS} else names | {"default"}
