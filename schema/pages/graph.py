"""The graph of pages around one, and what a change of it would reach."""

from typing import TYPE_CHECKING, Annotated

import strawberry

from db import relations
from db.access import BY_ID

from ..enums import WikiLinkKind, WikiPageType
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from .pages import WikiPage
from .sections import WikiSection

graph = relations.graph


@strawberry.type(description="An active page as a node of a drawing.")
class WikiGraphNode:
    id: strawberry.ID = column("The id of the page.")
    label: str = column("Its title.", name="title")
    type: str = expression(graph.node_type, "Always `page`.")
    entity_type: WikiPageType = column("The type of the page.", name="type")
    slug: str = column("Its slug.")
    strategy: str | None = expression(relations.owners.null_text, "Always null; older clients ask for it.")
    edge_count: int = expression(graph.neighbour_count, "How many other active pages it is linked with.")
    latest_thread_id: str | None = expression(relations.owners.null_text, "Always null; older clients ask for it.")


@strawberry.type(description="That one page links to another: one edge per directed pair.")
class WikiGraphEdge:
    source: strawberry.ID = column("The page it starts from.", name="from_page_id")
    target: strawberry.ID = column("The page it leads to.", name="to_page_id")
    label: str = expression(graph.label, "Always `references`.")
    weight: float = expression(graph.weight, "Always 0.5.")
    kind: WikiLinkKind = column("The kind of the link; a reference counts before hierarchy.")


@strawberry.type(description="All active pages of a wiki and the links between them.")
class WikiGraph:
    nodes: list[WikiGraphNode] = relation(graph.nodes, "The greatest hubs first.", limit=1000, most=5000)

    @relation(
        graph.edges,
        "One per directed pair between the greatest hubs: give `among` what `nodes` has as its limit.",
        limit=2000,
        most=10000,
    )
    def edges(among: int = 1000) -> list[WikiGraphEdge]: ...

    node_count: int = expression(graph.node_count, "How many active pages the wiki has.")
    types: list[WikiPageType] = expression(graph.types, "The types of its active pages, in alphabetical order.")


@strawberry.type(description="A page and the pages around it.")
class WikiNeighbourhood:
    page: WikiPage = relation(relations.pages.same, "The page in the middle.")

    @relation(
        graph.neighbours, "The page and those within `depth` links (3 at most), the nearest first.", limit=50, most=200
    )
    def nodes(depth: int = 1) -> list[WikiGraphNode]: ...

    @relation(graph.neighbour_edges, "The links between the pages within `depth` links.", limit=200, most=1000)
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


@strawberry.type(description="What depends on a source, on any of its versions. Each list says how much there is.")
class WikiBlastRadius:
    sections: Connection[WikiSection] = relation(sources.resting_sections, "The sections that cite it.")
    sole_sections: Connection[WikiSection] = relation(
        sources.resting_on_it_alone, "Those of them that cite nothing else: without it they have nothing to say."
    )
    pages: Connection[WikiPage] = relation(sources.resting_pages, "The pages of these sections, by title.")
    shown_on: Connection[WikiPage] = relation(
        sources.showing_pages, "Other pages that link those, or list them, by title."
    )
    names: Connection[Annotated["WikiMention", strawberry.lazy(".mentions")]] = relation(
        sources.naming_mentions, "The names that it was seen to use, last seen first."
    )


@strawberry.type
class BlastRadiusQueries:
    @source(sources.by_id, "What depends on a source.", access=BY_ID)
    def wiki_source_blast_radius(source_id: strawberry.ID) -> WikiBlastRadius | None: ...
