"""The catalogue of all tools, in the order in which they are listed."""

from collections.abc import Sequence

from .context import WIKI_CONTEXT
from .history import WIKI_DIFF, WIKI_HISTORY, WIKI_RESTORE
from .knowledge import KNOWLEDGE_DELETE, KNOWLEDGE_LIST, KNOWLEDGE_SEARCH, KNOWLEDGE_WRITE
from .links import WIKI_BACKLINKS, WIKI_GRAPH
from .read import READ_WIKI_PAGE, WIKI_READ
from .remember import WIKI_REMEMBER
from .resources import WIKI_HOT_INDEX
from .search import SEARCH_WIKI, WIKI_LIST, WIKI_SEARCH
from .tool import Tool
from .write import WIKI_APPEND, WIKI_CREATE, WIKI_EDIT, WIKI_SUPERSEDE, WIKI_UPDATE

TOOLS = (
    WIKI_CONTEXT, WIKI_SEARCH, WIKI_READ, WIKI_LIST, WIKI_CREATE, WIKI_EDIT, WIKI_APPEND,
    WIKI_SUPERSEDE, WIKI_UPDATE, WIKI_HISTORY, WIKI_DIFF, WIKI_RESTORE, WIKI_BACKLINKS, WIKI_GRAPH, WIKI_REMEMBER,
    WIKI_HOT_INDEX, KNOWLEDGE_SEARCH, KNOWLEDGE_WRITE, KNOWLEDGE_LIST, KNOWLEDGE_DELETE,
)  # fmt: skip
OLDER_NAMES = (SEARCH_WIKI, READ_WIKI_PAGE)
"""Answered always, and listed only where an operator wants it: each costs a prompt as much as the tool itself."""
BY_NAME = {tool.name: tool for tool in (*TOOLS, *OLDER_NAMES)}


def listed_tools(*, may_write: bool = True, with_older_names: bool = False) -> Sequence[Tool]:
    """Return the tools that a caller is shown: without the right to write, those that only read."""
    every = (*TOOLS, *OLDER_NAMES) if with_older_names else TOOLS
    return [tool for tool in every if may_write or not tool.writes]
