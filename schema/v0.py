"""The schema of `/graphql/v0`, for clients that are older than this API, with the names that they use.

Statuses, triggers and kinds of links are texts in small letters here, and enums in the schema of `root`. This schema is
frozen: it does not get new fields. Each field has the mapping of its counterpart in `root`, so that both schemas use
the same statements and the same resolvers (docs/decisions/0019-a-frozen-contract-for-older-clients.md).
"""

from datetime import datetime

import strawberry
from graphql import GraphQLSchema, build_schema, lexicographic_sort_schema, print_schema
from strawberry.scalars import JSON
from strawberry.schema.config import StrawberryConfig

from db import relations
from db.access import AS_ADMIN, AS_ADMIN_OF_TENANT, BY_ID, IN_OWNER, SEARCHED_PAGES
from selection import Engine, Limits, Resolvers, Step

from .enums import WikiPageType
from .errors import format_error
from .fields import column, expression, relation, source
from .mutations.compiling import (
    WikiCursorReset,
    WikiJournalImport,
    ask_for_compile,
    import_journal,
    reset_cursor,
)
from .mutations.payloads import IDS
from .mutations.scoping import Request
from .scalars import SCALARS
from .search.search import HITS

graph, hierarchy, jobs, links = relations.graph, relations.hierarchy, relations.jobs, relations.links
pages, search, sections = relations.pages, relations.search, relations.sections


@strawberry.type(name="WikiPageSection", description="A section of a page.")
class Section:
    id: strawberry.ID = column("Id of the section.")
    section_slug: str = column("Slug of the section, unique on the page.")
    heading: str = column("Heading. Empty for the text before the first heading.")
    body_md: str = column("Text in Markdown, without the heading.")
    position: int = column("Position on the page, from 0.")
    last_source_at: datetime | None = column("Capture time of its newest cited source.")
    aggregation: JSON | None = column("Data of a rollup section about the pages that it lists.")


@strawberry.type(name="WikiPage", description="A page of a wiki.")
class Page:
    id: strawberry.ID = column("Id of the page.")
    tenant_id: strawberry.ID = column("Id of the tenant.")
    owner_id: strawberry.ID = column("Id of the owner of the wiki.")
    user_id: strawberry.ID = column("Former name of ownerId.", name="owner_id")
    type: WikiPageType = column("Type of the page. It cannot be changed later.")
    slug: str = column("Slug for URLs, unique for each type in the wiki.")
    title: str = column("Title of the page.")
    summary: str | None = column("One-line summary.")
    body_md: str = column("Text of the whole page, in Markdown.")
    status: str = column("Status: `active` or `archived`.")
    tags: list[str] = column("Tags of the page.")
    version: int = column("Version, which increases by one with every change of content.")
    hubness_score: int = column(
        "Hubness score: how central the page is, by inbound links, promoted children and sources."
    )
    last_compiled_at: datetime | None = column("Time of the last write by the compiler.")
    created_at: datetime = column("Time of creation.")
    updated_at: datetime = column("Time of the last change.")
    sections: list[Section] = relation(
        sections.of_page, "Sections of the page, in order.", limit=50, max_limit=200, per_row=4
    )
    aliases: list[str] = relation(relations.pages.texts, "Aliases, normalized.", limit=100, per_row=20)
    source_memory_count: int = expression(pages.memory_count, "Number of cited memories.")
    source_memory_ids: list[strawberry.ID] = relation(
        pages.memory_ids, "Refs of the cited memories, newest citation first.", limit=10, max_limit=50
    )
    parent: "Page | None" = relation(hierarchy.parent, "Active parent page.")
    children: list["Page"] = relation(hierarchy.children, "Active child pages, by title.", limit=50)
    promoted_from_section: "Promotion | None" = relation(
        hierarchy.promoted_from, "Section from which this page was promoted."
    )

    @relation(hierarchy.section_children, "Active pages that one of its rollup sections lists.", limit=50)
    def section_children(section_slug: str) -> list["Page"]: ...


@strawberry.type(name="WikiPromotedFromSection", description="Origin of a promoted page.")
class Promotion:
    parent_page: Page = relation(sections.page, "Page of the section.")
    section_slug: str = column("The slug of the section.")
    section_heading: str = column("The heading of the section.", name="heading")


@strawberry.type(name="WikiSearchResult", description="A page that a search found.")
class SearchResult:
    page: Page = relation(search.page, "The page.")
    score: float = column("Relevance score. Comparable within one search only.")
    matched_alias: str | None = column("Alias that matched, if any.")


@strawberry.type(name="MobileWikiSearchResult", description="A page that a search found.")
class MobileSearchResult:
    page: Page = relation(search.page, "The page.")
    score: float = column("Relevance score. Comparable within one search only.")
    matching_memory_ids: list[strawberry.ID] = expression(
        search.matching_refs,
        "Refs of the cited sources that contain words of the query, newest first, 20 at most.",
    )


@strawberry.type(name="WikiGraphNode", description="An active page as a node of the graph.")
class GraphNode:
    id: strawberry.ID = column("The id of the page.")
    label: str = column("Title.", name="title")
    type: str = expression(graph.node_type, "Always `page`.")
    entity_type: WikiPageType = column("The type of the page.", name="type")
    slug: str = column("Slug.")
    strategy: str | None = expression(relations.owners.null_text, "Always null.")
    edge_count: int = expression(graph.neighbour_count, "Number of active pages that it is linked with.")
    latest_thread_id: str | None = expression(relations.owners.null_text, "Always null.")


@strawberry.type(name="WikiGraphEdge", description="A link from one page to another, one edge per directed pair.")
class GraphEdge:
    source: strawberry.ID = column("Page with the link.", name="from_page_id")
    target: strawberry.ID = column("Page that the link points to.", name="to_page_id")
    label: str = expression(graph.label, "Always `references`.")
    weight: float = expression(graph.weight, "Always 0.5.")
    kind: str = column(
        "Kind of the link: `reference`, `parent_of` or `child_of`. A reference has precedence over hierarchy."
    )


@strawberry.type(name="WikiGraph", description="All active pages of a wiki and the links between them.")
class Graph:
    nodes: list[GraphNode] = relation(graph.nodes, "Pages, most central first.", limit=1000, max_limit=5000)

    @relation(
        graph.edges,
        "Links between the most central pages, one per directed pair. Pass the limit of `nodes` as `among`.",
        limit=2000,
        max_limit=10000,
    )
    def edges(among: int = 1000) -> list[GraphEdge]: ...


@strawberry.type(name="WikiCompileJob", description="A compile job: one run of the compiler on one wiki.")
class CompileJob:
    id: strawberry.ID = column("Id of the job.")
    tenant_id: strawberry.ID = column("Id of the tenant of the wiki.")
    owner_id: strawberry.ID = column("Id of the owner of the wiki.")
    user_id: strawberry.ID = column("Former name of ownerId.", name="owner_id")
    status: str = column("Status: `pending`, `running`, `succeeded`, `failed` or `cancelled`.")
    trigger: str = expression(
        jobs.older_trigger,
        "Trigger of the job: `memory_retain`, `bootstrap_import`, `admin`, `lint`, or a newer trigger.",
    )
    dedupe_key: str = column("Deduplication key. At most one open job has it.")
    attempt: int = column("Number of attempts.")
    claimed_at: datetime | None = column("Time at which a worker last claimed the job.", name="started_at")
    started_at: datetime | None = column("The same as claimedAt.")
    finished_at: datetime | None = column("Time at which the job finished.")
    error: str | None = column("Error of the last attempt.")
    metrics: JSON = expression(
        jobs.older_metrics, "Metrics of the job, also under the names `records_read` and `pages_upserted`."
    )
    created_at: datetime = column("Time of creation.")


@strawberry.type(description="All queries.")
class Query:
    @source(pages.by_slug, "A page by type and slug.", owner=IN_OWNER.owner)
    def wiki_page(
        tenant_id: strawberry.ID,
        type: WikiPageType,
        slug: str,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
    ) -> Page | None: ...

    @source(
        search.hits,
        "Full-text search in one wiki, best first.",
        access=SEARCHED_PAGES,
        step=HITS,
        max_limit=50,
        min_limit=1,
    )
    def wiki_search(
        tenant_id: strawberry.ID,
        query: str,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
    ) -> list[SearchResult]: ...

    @source(
        search.hits,
        "Full-text search in the format of mobile clients.",
        access=SEARCHED_PAGES,
        step=HITS,
        max_limit=50,
        min_limit=1,
    )
    def mobile_wiki_search(
        query: str,
        tenant_id: strawberry.ID | None = None,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
    ) -> list[MobileSearchResult]: ...

    @source(pages.recent, "The pages that changed last.", limit=50)
    def recent_wiki_pages(
        tenant_id: strawberry.ID | None = None,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
    ) -> list[Page]: ...

    @source(links.backlinks_of, "Active pages that link to a page.", access=BY_ID, limit=100)
    def wiki_backlinks(page_id: strawberry.ID) -> list[Page]: ...

    @source(links.connected_from, "Active pages that a page links to, each once.", access=BY_ID, limit=100)
    def wiki_connected_pages(page_id: strawberry.ID) -> list[Page]: ...

    @source(relations.owners.listed, "The graph of a wiki.")
    def wiki_graph(
        tenant_id: strawberry.ID,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
    ) -> Graph | None: ...

    @source(
        jobs.listed,
        "The compile jobs of a wiki, newest first. Without an owner, those of the whole tenant. For admins.",
        access=AS_ADMIN_OF_TENANT,
        owner=AS_ADMIN_OF_TENANT.named_owner,
        limit=10,
    )
    def wiki_compile_jobs(
        tenant_id: strawberry.ID,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
    ) -> list[CompileJob]: ...


@strawberry.type(description="All mutations. For admins.")
class Mutation:
    @source(
        jobs.by_ids,
        "Queue a compile job for a wiki. Returns the job.",
        access=AS_ADMIN,
        step=Step(ask_for_compile, IDS),
    )
    def compile_wiki_now(
        tenant_id: strawberry.ID,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        model_id: str | None = None,
    ) -> CompileJob | None: ...

    @strawberry.mutation(
        description="Reset the progress of the compiler, so that the next job starts from the first source."
    )
    async def reset_wiki_cursor(
        self,
        info: Request,
        tenant_id: strawberry.ID,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        force: bool | None = False,
        dry_run: bool | None = False,
    ) -> WikiCursorReset:
        where = {"tenant_id": tenant_id, "owner_id": owner_id, "user_id": user_id}
        return await reset_cursor(info.context, force=bool(force), dry_run=bool(dry_run), **where)

    @strawberry.mutation(description="Compile the ideas of a journal in bulk, up to the last one or up to `limit`.")
    async def bootstrap_journal_import(
        self,
        info: Request,
        account_id: strawberry.ID,
        tenant_id: strawberry.ID,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
        limit: int | None = None,
    ) -> WikiJournalImport:
        where = {"tenant_id": tenant_id, "owner_id": owner_id, "user_id": user_id, "agent_id": agent_id}
        return await import_journal(info.context, account_id, limit, **where)


STRAWBERRY = strawberry.Schema(Query, Mutation, config=StrawberryConfig(scalar_map=SCALARS))
GRAPHQL: GraphQLSchema = STRAWBERRY._schema
Resolvers(GRAPHQL)


def sdl() -> str:
    """Return the schema as sorted text."""
    return print_schema(lexicographic_sort_schema(build_schema(STRAWBERRY.as_str()))) + "\n"


def make_engine(limits: Limits | None = None) -> Engine:
    """Return an engine that executes requests of this schema."""
    return Engine(GRAPHQL, limits=limits, formatter=format_error)
