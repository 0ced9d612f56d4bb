"""All tools, in the order in which they are listed."""

from .history import WIKI_HISTORY
from .hot import WIKI_HOT_INDEX
from .knowledge import KNOWLEDGE_DELETE, KNOWLEDGE_LIST, KNOWLEDGE_SEARCH, KNOWLEDGE_WRITE
from .links import WIKI_BACKLINKS, WIKI_GRAPH
from .listing import WIKI_LIST
from .reading import READ_WIKI_PAGE, WIKI_READ
from .remembering import WIKI_REMEMBER
from .searching import SEARCH_WIKI, WIKI_SEARCH
from .writing import WIKI_CREATE, WIKI_EDIT

TOOLS = (
    WIKI_SEARCH, WIKI_READ, WIKI_LIST, WIKI_CREATE, WIKI_EDIT, WIKI_HISTORY, WIKI_BACKLINKS, WIKI_GRAPH,
    WIKI_REMEMBER, WIKI_HOT_INDEX, KNOWLEDGE_SEARCH, KNOWLEDGE_WRITE, KNOWLEDGE_LIST, KNOWLEDGE_DELETE,
    SEARCH_WIKI, READ_WIKI_PAGE,
)  # fmt: skip
BY_NAME = {tool.name: tool for tool in TOOLS}
