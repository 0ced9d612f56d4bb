"""wiki_backlinks and wiki_graph: the links between pages."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from .caller import Caller
from .output_limit import CHARS, FENCE_LENGTH, Cursor, Limit, MaxChars, Words, lines, next_hint, paragraphs, rows_within
from .pages import Edges, PageLine, PageName, find_page, fit_rows, format_line, line_of, read_part
from .tool import Tool, ToolInput, ToolOutput

MORE_LINKS = "There is more than fits: ask for one page's surroundings, or with a greater limit."
OVERHEAD = len(MORE_LINKS) + FENCE_LENGTH + 30  # characters besides pages and links
EDGES = 3  # links that are requested per page of a graph


class LinkInput(ToolInput):
    page: PageName
    limit: Limit = 20
    cursor: Cursor = None
    max_chars: MaxChars = CHARS


class Linking(BaseModel):
    page: str
    linked_from: list[PageLine]
    total: int
    next_cursor: str | None


async def backlinks(caller: Caller, arguments: LinkInput) -> ToolOutput:
    found, page = await read_part(caller, "backlinks", arguments.page, arguments.limit, arguments.cursor)
    links = page["backlinks"]

    def build(edges: Edges, cursor: str | None) -> Linking:
        return Linking(
            page=found.name,
            linked_from=[line_of(edge["node"]) for edge in edges],
            total=links["totalCount"],
            next_cursor=cursor,
        )

    return fit_rows(links, arguments.max_chars, build, words_of)


def words_of(data: Linking) -> Words:
    return Words(
        f"{len(data.linked_from)} of {data.total} pages link to {data.page}.",
        lines(map(format_line, data.linked_from)),
        next_hint(data.next_cursor),
    )


class GraphInput(ToolInput):
    page: PageName | None = Field(None, description="Page at the center; defaults to the whole wiki.")
    depth: Annotated[int, Field(ge=1, le=3, description="Maximum distance from that page, in links.")] = 1
    limit: Annotated[int, Field(ge=1, le=200, description="Maximum number of pages.")] = 50
    max_chars: MaxChars = CHARS


class Node(BaseModel):
    page: str
    title: str
    links: int = Field(description="Number of linked pages, including those not shown.")


class Edge(BaseModel):
    start: str
    end: str
    kind: str = Field(description="reference, parent_of or child_of.")


class Graph(BaseModel):
    pages: list[Node] = Field(description="Nearest first, or most central first.")
    links: list[Edge] = Field(description="Between the pages that are shown.")
    is_cut: bool = Field(description="Whether pages or links were omitted.")


async def get_graph(caller: Caller, arguments: GraphInput) -> ToolOutput:
    sizes = {"limit": arguments.limit, "edges": arguments.limit * EDGES}
    if arguments.page is None:
        graph = (await caller.read("graph", **sizes))["wikiGraph"]
    else:
        found = await find_page(caller, arguments.page)
        graph = (await caller.read("neighbourhood", pageId=found.id, depth=arguments.depth, **sizes))[
            "wikiNeighbourhood"
        ]
    return graph_output(graph or {"nodes": [], "edges": []}, arguments)


def graph_output(graph: dict[str, Any], arguments: GraphInput) -> ToolOutput:
    """Return the graph as far as it fits into `max_chars`, of which pages may use two thirds and links a third."""
    room = arguments.max_chars - OVERHEAD
    names = {node["id"]: f"{node['entityType'].lower()}/{node['slug']}" for node in graph["nodes"]}
    nodes = [Node(page=names[node["id"]], title=node["label"], links=node["edgeCount"]) for node in graph["nodes"]]
    shown_nodes = rows_within(nodes, room * 2 // 3, format_node)
    shown_names = {node.page for node in shown_nodes}
    edges = [
        Edge(start=names[edge["source"]], end=names[edge["target"]], kind=edge["kind"].lower())
        for edge in graph["edges"]
        if names.get(edge["source"]) in shown_names and names.get(edge["target"]) in shown_names
    ]
    shown_edges = rows_within(edges, room // 3, format_edge)
    is_full = len(nodes) == arguments.limit or len(graph["edges"]) == arguments.limit * EDGES
    is_cut = is_full or len(shown_nodes) < len(nodes) or len(shown_edges) < len(edges)
    data = Graph(pages=shown_nodes, links=shown_edges, is_cut=is_cut)
    if not shown_nodes:
        return ToolOutput(data, "There are no active pages to draw.")
    words = Words(
        f"{len(shown_nodes)} pages, {len(shown_edges)} links.",
        paragraphs(lines(map(format_node, shown_nodes)), lines(map(format_edge, shown_edges))),
        MORE_LINKS if data.is_cut else None,
    )
    return ToolOutput(data, words.to_text(arguments.max_chars))


def format_node(node: Node) -> str:
    return f'- {node.page} "{node.title}" ({node.links} links)'


def format_edge(edge: Edge) -> str:
    return f"{edge.start} -> {edge.end} ({edge.kind})"


WIKI_BACKLINKS = Tool(
    "wiki_backlinks",
    "What links to a page",
    "List the pages that link to a page.",
    LinkInput,
    Linking,
    backlinks,
)
WIKI_GRAPH = Tool(
    "wiki_graph",
    "Pages and their links",
    "Get the pages around a page, or the most central pages of the wiki, with the links between them.",
    GraphInput,
    Graph,
    get_graph,
)
