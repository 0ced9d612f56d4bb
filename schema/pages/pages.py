"""The type of a page, its filters, and the queries for pages."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import strawberry
from strawberry.scalars import JSON

from content.markdown.html import html
from content.markdown.plain import excerpt
from db import relations
from db.access import IN_OWNER
from lib.lru import WeighedLRU
from lib.threads import offload

from ..enums import (
    WikiAliasSource,
    WikiConfidence,
    WikiContradictionStatus,
    WikiLinkDirection,
    WikiLinkKind,
    WikiPageOrder,
    WikiPageStatus,
    WikiPageType,
    WikiSensitivity,
)
from ..fields import Connection, Node, OlderOwner, OwnerName, column, computed, expression, relation, source

if TYPE_CHECKING:
    from ..owners import WikiOwner
    from ..sources import WikiCitation, WikiSource
    from .claims import WikiContradiction, WikiSupersededClaim
    from .links import WikiBacklinkConnection, WikiLink, WikiLinkTarget, WikiSpaceLink
    from .mentions import WikiMention
    from .revisions import WikiRevision
    from .sections import WikiGrounding, WikiPromotion, WikiSection

hierarchy, page_fields, pages = relations.hierarchy, relations.page_fields, relations.pages
RENDERING = 20  # cost of rendering a text as HTML, in rows
CACHED_TEXT_MAX = 5_000  # characters of a text, and bytes of its links, up to which its HTML is cached
CACHED_TEXTS_MAX = 2_048  # texts whose HTML is cached, which are those of a few hundred pages
CHARACTERS_MAX = 10_000_000  # characters of the cached texts, their links and their HTML together


async def as_html(body: str, places: Any) -> str:
    """Return a text as HTML. The HTML of short texts is cached, because pages are read far more often than written."""
    links = orjson.dumps(places, option=orjson.OPT_SORT_KEYS)
    if len(body) > CACHED_TEXT_MAX or len(links) > CACHED_TEXT_MAX:
        return await offload(len(body), html, body, places)
    return HTML.get_or_create((body, links), lambda: html(body, orjson.loads(links)))


HTML: WeighedLRU[str] = WeighedLRU(
    CACHED_TEXTS_MAX, CHARACTERS_MAX, lambda key, shown: len(key[0]) + len(key[1]) + len(shown)
)


AS_HTML = (
    "as HTML that is safe to show: raw HTML is escaped, and links lead to the web, to mail, to pages or to files "
    "only. A link to a page has the class wiki-link, an address /wiki/<type>/<slug> and data-page-id, and shows the "
    "page's title if only its slug is written. A link that does not resolve to a page has the classes wiki-link and "
    "wiki-link-broken, and no address. A file of the folder that the page was imported from is a link with the class "
    "wiki-attachment and the address /attachment?path=<path>, with &width=<pixels> if the text gives a width. A file "
    "that the text embeds also has the class wiki-embed. Citations have the class wiki-citation and lead to "
    "#citation-<label>. A text with more than 200,000 characters, or with more than 20,000 characters of markup, is "
    "returned as escaped paragraphs."
)


@strawberry.type(description="A page of a wiki. It has a type, sections, links and citations.")
class WikiPage(Node):
    tenant_id: strawberry.ID = column("Id of the tenant.")
    owner_id: strawberry.ID = column("Id of the owner of the wiki.")
    user_id: strawberry.ID = column("Former name of ownerId.", name="owner_id")
    owner: Annotated["WikiOwner", strawberry.lazy("..owners")] = relation(relations.owners.of_row, "Owner of the wiki.")
    type: WikiPageType = column("Type of the page. It cannot be changed later.")
    slug: str = column("Slug for URLs, unique for each type in the wiki.")
    title: str = column("Title of the page.")
    summary: str | None = column("One-line summary: `summary` or `description` in frontmatter.")
    body_md: str = column("Text of the whole page, in Markdown.")
    status: WikiPageStatus = column("Status: active or archived.")
    tags: list[str] = column("Tags.")
    metadata: JSON = column("Metadata without a field of its own, stored unchanged.")
    version: int = column(
        "Version, which increases by one with every change of content. Compared with expectedVersion."
    )
    hubness_score: int = column(
        "Hubness score: how central the page is, by inbound links, promoted children and sources."
    )
    last_compiled_at: datetime | None = column("Time of the last write by the compiler.")
    created_at: datetime = column("Time of creation.")
    updated_at: datetime = column("Time of the last change.")
    redirected_from: str | None = expression(
        pages.redirected_from, "Former slug by which the page was requested, if any."
    )

    merged_into: "WikiPage | None" = relation(
        pages.merged_into, "Page into which this one was merged. This page is archived."
    )
    supersedes: list["WikiPage"] = relation(
        pages.supersedes,
        (
            "Pages that it replaces: pages merged into it, pages named by its field `supersedes`, and "
            "pages linked with the reason `supersedes`, such as a reversed decision."
        ),
        limit=20,
        per_row=2,
    )
    superseded_by: list["WikiPage"] = relation(
        pages.superseded_by, "Pages into which it was merged, or that supersede it.", limit=20, per_row=2
    )
    contradicts: list["WikiPage"] = relation(
        page_fields.contradicts, "Pages that it contradicts according to its author, by title.", limit=20, per_row=2
    )
    related: list["WikiPage"] = relation(
        page_fields.related_pages,
        "Active related pages, by title. They are linked in addition to links of the text.",
        limit=20,
        per_row=2,
    )
    sensitivity: WikiSensitivity = expression(
        page_fields.sensitivity,
        "Sensitivity of the page: INTERNAL if none is given, SECRET if the given one is unknown.",
    )
    stated_confidence: WikiConfidence | None = expression(
        page_fields.stated_confidence,
        (
            "Confidence stated by the author. Of two contradicting pages, the newer one holds, unless "
            "the older one has HIGH here. `confidence` is computed from the sources."
        ),
    )
    expires_at: datetime | None = expression(
        page_fields.expires_at, "Time from which lint reports it as expired. It remains readable."
    )
    owner_role: str | None = expression(
        page_fields.owner_role, "Role that is responsible for the page, such as `architect`: `owner` in frontmatter."
    )
    pages_to_rewrite: int = expression(
        pages.pages_to_rewrite,
        "Number of texts whose links a rename has yet to update. 0 once it is complete.",
    )

    sections: list[Annotated["WikiSection", strawberry.lazy(".sections")]] = relation(
        relations.sections.of_page, "Sections of the page, in order.", limit=50, max_limit=200, per_row=4
    )
    section_count: int = expression(relations.sections.count, "Number of sections.")

    @relation(relations.sections.by_slug, "A section by its slug.")
    def section(slug: str) -> Annotated["WikiSection", strawberry.lazy(".sections")] | None: ...

    aliases: list[str] = relation(relations.pages.texts, "Aliases, normalized.", limit=100, per_row=20)
    aliases_connection: Connection["WikiAlias"] = relation(relations.pages.of_page, "Aliases with their origins.")

    parent: "WikiPage | None" = relation(hierarchy.parent, "Active parent page.")
    children: list["WikiPage"] = relation(hierarchy.children, "Active child pages, by title.", limit=50)
    children_connection: Connection["WikiPage"] = relation(hierarchy.children, "Active child pages, with pagination.")
    ancestors: list["WikiPage"] = relation(
        hierarchy.ancestors, "Ancestors, from the parent up.", limit=20, max_limit=32
    )

    @relation(hierarchy.descendants, "Descendants, level by level, 32 levels at most.")
    def descendants(depth: int = 3) -> Connection["WikiPage"]: ...

    promoted_from_section: Annotated["WikiPromotion", strawberry.lazy(".sections")] | None = relation(
        hierarchy.promoted_from, "Section from which this page was promoted."
    )

    @relation(hierarchy.section_children, "Active pages that one of its rollup sections lists.", limit=50)
    def section_children(section_slug: str) -> list["WikiPage"]: ...

    @relation(relations.links.backlinks, "Active pages that link here, most central first.")
    def backlinks(
        kinds: list[WikiLinkKind] | None = None,
    ) -> Annotated["WikiBacklinkConnection", strawberry.lazy(".links")]: ...

    @relation(relations.links.outgoing, "Links to active pages, in the order of their creation.")
    def links(
        kinds: list[WikiLinkKind] | None = None,
    ) -> Connection[Annotated["WikiLink", strawberry.lazy(".links")]]: ...

    broken_links: Connection[Annotated["WikiLinkTarget", strawberry.lazy(".links")]] = relation(
        relations.links.broken, "Links that do not resolve to a page."
    )
    space_links: Connection[Annotated["WikiSpaceLink", strawberry.lazy(".links")]] = relation(
        relations.links.to_spaces, "Links into other wikis of the tenant, resolved or not."
    )

    space_backlinks: Connection["WikiPage"] = relation(
        relations.links.from_spaces,
        (
            "Active pages of other wikis that link here with `[[space:name]]` and that the caller can "
            "read, most central first."
        ),
    )

    @relation(
        relations.links.connected,
        "Active pages that it links to, or that link to it with another `direction`.",
    )
    def connected_pages(
        direction: WikiLinkDirection = WikiLinkDirection.OUTGOING,
    ) -> Connection["WikiPage"]: ...

    sources: Connection[Annotated["WikiSource", strawberry.lazy("..sources")]] = relation(
        relations.sources.of_page, "Cited sources, newest first."
    )
    citations: Connection[Annotated["WikiCitation", strawberry.lazy("..sources")]] = relation(
        relations.sources.page_citations, "Citations of all sections, newest first."
    )
    source_count: int = expression(pages.source_count, "Number of cited sources.")
    confidence: WikiConfidence = expression(
        relations.grounding.confidence,
        (
            "Confidence by independent sources: LOW with one at most; HIGH with three or more, if all "
            "sentences are verified and no contradiction is open; else MEDIUM. Sources with the same "
            "ref or text are not independent."
        ),
    )
    grounding: Annotated["WikiGrounding", strawberry.lazy(".sections")] = relation(
        relations.grounding.of_page, "Grounding of its sentences in the sources that their sections cite."
    )
    is_stub: bool = expression(pages.is_stub, "Whether it is a stub, which cites at most one source.")
    source_memory_count: int = expression(pages.memory_count, "Number of cited memories.")
    source_memory_ids: list[str] = relation(
        pages.memory_ids, "Refs of the cited memories, newest citation first.", limit=10, max_limit=50
    )
    mentions: Connection[Annotated["WikiMention", strawberry.lazy(".mentions")]] = relation(
        relations.mentions.of_page, "Mentions of this page in sources."
    )

    superseded_claims: Connection[Annotated["WikiSupersededClaim", strawberry.lazy(".claims")]] = relation(
        relations.claims.of_page, "Superseded claims, newest first."
    )
    trajectory: list[Annotated["WikiSupersededClaim", strawberry.lazy(".claims")]] = relation(
        relations.claims.trajectory,
        "Trajectory: its superseded claims, oldest first, if there are at least two.",
        limit=50,
        per_row=3,
    )

    @relation(relations.contradictions.of_page, "Contradictions between its claims, newest first.")
    def contradictions(
        status: WikiContradictionStatus | None = None,
    ) -> Connection[Annotated["WikiContradiction", strawberry.lazy(".claims")]]: ...

    revisions: Connection[Annotated["WikiRevision", strawberry.lazy(".revisions")]] = relation(
        relations.revisions.of_page, "All versions of the page, newest first."
    )

    @relation(relations.revisions.at, "A version of the page.")
    def revision(version: int) -> Annotated["WikiRevision", strawberry.lazy(".revisions")] | None: ...

    @computed("Beginning of the text without Markdown, `length` characters at most.", body="body_md")
    def excerpt(body: str, length: int = 200) -> str:
        return excerpt(body, length)

    @computed(f"The whole text {AS_HTML}", cost=RENDERING, body="body_md", places=relations.links.places("id"))
    async def body_html(body: str, places: Any) -> str:
        return await as_html(body, places)


@strawberry.type(description="An alias: another name of a page.")
class WikiAlias(Node):
    alias: str = column("Normalized form, which is used for matching.")
    name: str = column("Name as it was written.")
    source: WikiAliasSource = column("Origin of the alias.")
    created_at: datetime = column("Time of creation.")
    page: WikiPage = relation(relations.pages.page, "Page with this alias.")


@strawberry.input(description="Filter for a list of pages. Omitted fields do not restrict it.")
class WikiPageFilter:
    types: list[WikiPageType] | None = strawberry.field(default=None, description="Types of the pages.")
    tags: list[str] | None = strawberry.field(default=None, description="Tags that the pages must all have.")
    status: WikiPageStatus | None = strawberry.field(default=None, description="Status. Defaults to active.")
    updated_since: datetime | None = strawberry.field(
        default=None,
        description="Minimum updatedAt. To keep a copy of a wiki, use wikiChanges instead.",
    )
    title_prefix: str | None = strawberry.field(
        default=None, description="Start of the title, ignoring case and accents."
    )
    is_stub: bool | None = strawberry.field(
        default=None, description="True for stubs, which cite at most one source; false for other pages."
    )


@strawberry.type
class PageQueries:
    @source(pages.by_slug, "A page by type and slug. Former slugs are resolved as well.", owner=IN_OWNER.owner)
    def wiki_page(
        tenant_id: strawberry.ID,
        type: WikiPageType,
        slug: str,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
        include_archived: bool = False,
    ) -> WikiPage | None: ...

    @source(pages.listed, "The pages of a wiki.")
    def wiki_pages(
        filter: WikiPageFilter | None = None,
        order_by: WikiPageOrder = WikiPageOrder.TITLE,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiPage]: ...

    @source(pages.recent, "The pages that changed last.", limit=50)
    def recent_wiki_pages(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiPage]: ...
