"""The graph of a wiki, the pages around one page, and the blast radius of a source."""

from typing import TYPE_CHECKING, Annotated

import strawberry

from db import relations
from db.access import BY_ID

from ..enums import WikiLinkKind, WikiPageType
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from .pages import WikiPage
from .sections import WikiSection

graph = relations.graph


@strawberry.type(description="An active page as a node of the graph.")
class WikiGraphNode:
    id: strawberry.ID = column("The id of the page.")
    label: str = column("Title.", name="title")
    type: str = expression(graph.node_type, "Always `page`.")
    entity_type: WikiPageType = column("The type of the page.", name="type")
    slug: str = column("Slug.")
    strategy: str | None = expression(relations.owners.null_text, "Always null; older clients ask for it.")
    edge_count: int = expression(graph.neighbour_count, "Number of active pages that it is linked with.")
    latest_thread_id: str | None = expression(relations.owners.null_text, "Always null; older clients ask for it.")


@strawberry.type(description="A link from one page to another, one edge per directed pair.")
class WikiGraphEdge:
    source: strawberry.ID = column("Page with the link.", name="from_page_id")
    target: strawberry.ID = column("Page that the link points to.", name="to_page_id")
    label: str = expression(graph.label, "Always `references`.")
    weight: float = expression(graph.weight, "Always 0.5.")
    kind: WikiLinkKind = column("Kind of the link. A reference has precedence over hierarchy.")


@strawberry.type(description="All active pages of a wiki and the links between them.")
class WikiGraph:
    nodes: list[WikiGraphNode] = relation(graph.nodes, "Pages, most central first.", limit=1000, max_limit=5000)

    @relation(
        graph.edges,
        "Links between the most central pages, one per directed pair. Pass the limit of `nodes` as `among`.",
        limit=2000,
        max_limit=10000,
    )
    def edges(among: int = 1000) -> list[WikiGraphEdge]: ...

    node_count: int = expression(graph.node_count, "Number of active pages.")
    types: list[WikiPageType] = expression(graph.types, "The types of its active pages, in alphabetical order.")


@strawberry.type(description="A page and the pages around it.")
class WikiNeighbourhood:
    page: WikiPage = relation(relations.pages.same, "Page whose surroundings are shown.")

    @relation(
        graph.neighbours, "The page and those within `depth` links (3 at most), nearest first.", limit=50, max_limit=200
    )
    def nodes(depth: int = 1) -> list[WikiGraphNode]: ...

    @relation(graph.neighbour_edges, "The links between the pages within `depth` links.", limit=200, max_limit=1000)
    def edges(depth: int = 1) -> list[WikiGraphEdge]: ...


@strawberry.type
class GraphQueries:
    @source(relations.owners.listed, "The graph of a wiki.")
    def wiki_graph(
        tenant_id: strawberry.ID,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> WikiGraph | None: ...

    @source(relations.pages.active_one, "The pages around one page.", access=BY_ID)
    def wiki_neighbourhood(page_id: strawberry.ID) -> WikiNeighbourhood | None: ...


if TYPE_CHECKING:
    from .mentions import WikiMention

sources = relations.sources


@strawberry.type(description="The blast radius of a source: everything that depends on any of its versions.")
class WikiBlastRadius:
    sections: Connection[WikiSection] = relation(sources.resting_sections, "Sections that cite the source.")
    sole_sections: Connection[WikiSection] = relation(
        sources.resting_on_it_alone, "Sections that cite only this source."
    )
    pages: Connection[WikiPage] = relation(
        sources.resting_pages, "Pages of the sections that cite the source, by title."
    )
    shown_on: Connection[WikiPage] = relation(
        sources.showing_pages, "Other pages that link to these pages or list them, by title."
    )
    names: Connection[Annotated["WikiMention", strawberry.lazy(".mentions")]] = relation(
        sources.naming_mentions, "Mentions in the source, last seen first."
    )


@strawberry.type
class BlastRadiusQueries:
    @source(sources.by_id, "The blast radius of a source: everything that depends on it.", access=BY_ID)
    def wiki_source_blast_radius(source_id: strawberry.ID) -> WikiBlastRadius | None: ...
