"""Pages as clients see them."""

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
from lib.threads import read_in_thread

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
RENDERING = 20  # rows that a text as HTML weighs
KEPT_MAX = 5_000  # characters of a text, and bytes of its links, up to which its HTML is kept
KEPT = 2_048  # texts: those of a few hundred pages
CHARACTERS_MAX = 10_000_000  # of these texts, their links and their HTML


async def as_html(body: str, places: Any) -> str:
    """Return a text as HTML. That of a short one is kept: pages are read far more often than they are written."""
    links = orjson.dumps(places, option=orjson.OPT_SORT_KEYS)
    if len(body) > KEPT_MAX or len(links) > KEPT_MAX:
        return await read_in_thread(len(body), html, body, places)
    return HTML.get((body, links), lambda: html(body, orjson.loads(links)))


HTML: WeighedLRU[str] = WeighedLRU(KEPT, CHARACTERS_MAX, lambda key, made: len(key[0]) + len(key[1]) + len(made))


AS_HTML = (
    "as HTML that is safe to show: raw HTML is escaped, and links lead to the web, to mail, to pages or to files "
    "only. A link to a page has the class wiki-link, an address /wiki/<type>/<slug> and data-page-id, and shows the "
    "page's title where only its slug is written; one that no page "
    "answers to also has wiki-link-broken. A file of the folder that the page was imported from is a link with the "
    "class wiki-attachment and the address /attachment?path=<path>, with &width=<pixels> where the text says how wide "
    "it is; one that the text shows also has wiki-embed. "
    "Citations have the class wiki-citation and lead to #citation-<label>. A text of more than "
    "200,000 characters, or 20,000 marks, is shown as escaped paragraphs."
)


@strawberry.type(description="The smallest unit of compiled knowledge: typed, sectioned, linked and cited.")
class WikiPage(Node):
    tenant_id: strawberry.ID = column("The tenant it lies in.")
    owner_id: strawberry.ID = column("Whose wiki it lies in.")
    user_id: strawberry.ID = column("The same as ownerId, under its older name.", name="owner_id")
    owner: Annotated["WikiOwner", strawberry.lazy("..owners")] = relation(
        relations.owners.of_row, "Whose wiki it lies in."
    )
    type: WikiPageType = column("What it is about; it never changes.")
    slug: str = column("Its name in URLs, unique with the type in its wiki.")
    title: str = column("Its name for people.")
    summary: str | None = column("One line that says what it is: `summary` or `description` in frontmatter.")
    body_md: str = column("The whole text as markdown: the rendering of its sections.")
    status: WikiPageStatus = column("Active, or archived.")
    tags: list[str] = column("Soft hints, never structure.")
    metadata: JSON = column("What came with it and has no field here, kept as it was.")
    version: int = column("Grows by one with every change of content; what expectedVersion is compared with.")
    hubness_score: int = column("How much of a hub it is: inbound references, promoted children, supporting records.")
    last_compiled_at: datetime | None = column("When the compiler last touched it.")
    created_at: datetime = column("When it was made.")
    updated_at: datetime = column("When anything of it last changed.")
    redirected_from: str | None = expression(
        pages.redirected_from, "The old slug it was found by, when it was asked for by one."
    )

    merged_into: "WikiPage | None" = relation(
        pages.merged_into, "The page that it became a part of, when it was merged; this one is archived."
    )
    supersedes: list["WikiPage"] = relation(
        pages.supersedes,
        "The pages that it replaced: those that were merged into it, that its field `supersedes` names, and those to "
        "which it has a link with the reason `supersedes`, as a decision has to the one that it reverses.",
        limit=20,
        per_row=2,
    )
    superseded_by: list["WikiPage"] = relation(
        pages.superseded_by, "The pages into which it was merged, or that link to it so.", limit=20, per_row=2
    )
    contradicts: list["WikiPage"] = relation(
        page_fields.contradicts, "The pages that it says it disagrees with, by title.", limit=20, per_row=2
    )
    related: list["WikiPage"] = relation(
        page_fields.related_pages,
        "The active pages that it is related to, by title: whatever its text says, it has a reference to them.",
        limit=20,
        per_row=2,
    )
    sensitivity: WikiSensitivity = expression(
        page_fields.sensitivity, "How few may read it: INTERNAL where it does not say, SECRET where it says no level."
    )
    stated_confidence: WikiConfidence | None = expression(
        page_fields.stated_confidence,
        "What its author says of it: of two pages that contradict each other the newer one holds, unless the older one "
        "is HIGH here. What its sources say is `confidence`.",
    )
    expires_at: datetime | None = expression(
        page_fields.expires_at, "From when on lint tells that it has expired; it stays readable."
    )
    owner_role: str | None = expression(
        page_fields.owner_role, "The role that looks after it, such as `architect`: `owner` in frontmatter."
    )
    pages_to_rewrite: int = expression(
        pages.pages_to_rewrite,
        "How many texts are yet to be looked at for a name it had: 0 once a rename is done.",
    )

    sections: list[Annotated["WikiSection", strawberry.lazy(".sections")]] = relation(
        relations.sections.of_page, "Its sections in order.", limit=50, most=200, per_row=4
    )
    section_count: int = expression(relations.sections.count, "How many sections it has.")

    @relation(relations.sections.by_slug, "One section by its slug.")
    def section(slug: str) -> Annotated["WikiSection", strawberry.lazy(".sections")] | None: ...

    aliases: list[str] = relation(relations.pages.texts, "Its other names, normalised.", limit=100, per_row=20)
    aliases_connection: Connection["WikiAlias"] = relation(
        relations.pages.of_page, "Its other names with where they came from."
    )

    parent: "WikiPage | None" = relation(hierarchy.parent, "The active page above it.")
    children: list["WikiPage"] = relation(hierarchy.children, "The active pages right below it, by title.", limit=50)
    children_connection: Connection["WikiPage"] = relation(hierarchy.children, "The same, paged.")
    ancestors: list["WikiPage"] = relation(hierarchy.ancestors, "From the parent up.", limit=20, most=32)

    @relation(hierarchy.descendants, "From the children down, level by level, at most 32 levels.")
    def descendants(depth: int = 3) -> Connection["WikiPage"]: ...

    promoted_from_section: Annotated["WikiPromotion", strawberry.lazy(".sections")] | None = relation(
        hierarchy.promoted_from, "The section of another page that grew into this one."
    )

    @relation(hierarchy.section_children, "The active pages that one of its sections lists.", limit=50)
    def section_children(section_slug: str) -> list["WikiPage"]: ...

    @relation(relations.links.backlinks, "Active pages that link here, each once, the greatest hubs first.")
    def backlinks(
        kinds: list[WikiLinkKind] | None = None,
    ) -> Annotated["WikiBacklinkConnection", strawberry.lazy(".links")]: ...

    @relation(relations.links.outgoing, "Its links to active pages, in the order they were made.")
    def links(
        kinds: list[WikiLinkKind] | None = None,
    ) -> Connection[Annotated["WikiLink", strawberry.lazy(".links")]]: ...

    broken_links: Connection[Annotated["WikiLinkTarget", strawberry.lazy(".links")]] = relation(
        relations.links.broken, "What it points at and nobody answers to, yet."
    )
    space_links: Connection[Annotated["WikiSpaceLink", strawberry.lazy(".links")]] = relation(
        relations.links.to_spaces, "Its links into other wikis of the tenant, found or not, by what its text says."
    )

    space_backlinks: Connection["WikiPage"] = relation(
        relations.links.from_spaces,
        "Active pages of other wikis whose texts link here with `[[space:name]]`, as far as the caller may read them; "
        "the greatest hubs first.",
    )

    @relation(
        relations.links.connected,
        "Active pages that it links to, each once: the opposite of backlinks, unless `direction` says otherwise.",
    )
    def connected_pages(
        direction: WikiLinkDirection = WikiLinkDirection.OUTGOING,
    ) -> Connection["WikiPage"]: ...

    sources: Connection[Annotated["WikiSource", strawberry.lazy("..sources")]] = relation(
        relations.sources.of_page, "The evidence cited anywhere on it, newest first."
    )
    citations: Connection[Annotated["WikiCitation", strawberry.lazy("..sources")]] = relation(
        relations.sources.page_citations, "Which source was used for which section, newest citation first."
    )
    source_count: int = expression(pages.source_count, "How many distinct sources it cites.")
    confidence: WikiConfidence = expression(
        relations.grounding.confidence,
        "LOW with one independent source at most; HIGH from three on, while no sentence is unverified and no "
        "contradiction is open; else MEDIUM. Sources of one ref, or of the same words, are not independent.",
    )
    grounding: Annotated["WikiGrounding", strawberry.lazy(".sections")] = relation(
        relations.grounding.of_page, "Its sentences, held against the sources that their sections cite."
    )
    is_stub: bool = expression(pages.is_stub, "Whether it rests on one source at most.")
    source_memory_count: int = expression(pages.memory_count, "How many distinct memories it cites.")
    source_memory_ids: list[str] = relation(
        pages.memory_ids, "Refs of the memories it cites, newest citation first.", limit=10, most=50
    )
    mentions: Connection[Annotated["WikiMention", strawberry.lazy(".mentions")]] = relation(
        relations.mentions.of_page, "Names seen in sources that mean this page."
    )

    superseded_claims: Connection[Annotated["WikiSupersededClaim", strawberry.lazy(".claims")]] = relation(
        relations.claims.of_page, "What it used to say and does not say any more, newest first."
    )
    trajectory: list[Annotated["WikiSupersededClaim", strawberry.lazy(".claims")]] = relation(
        relations.claims.trajectory,
        "How it came to say what it says: its superseded claims, oldest first, from two of them on; else empty.",
        limit=50,
        per_row=3,
    )

    @relation(relations.contradictions.of_page, "Pairs of its claims that cannot both hold, newest first.")
    def contradictions(
        status: WikiContradictionStatus | None = None,
    ) -> Connection[Annotated["WikiContradiction", strawberry.lazy(".claims")]]: ...

    revisions: Connection[Annotated["WikiRevision", strawberry.lazy(".revisions")]] = relation(
        relations.revisions.of_page, "Every state it had, newest first."
    )

    @relation(relations.revisions.at, "Its state at a version.")
    def revision(version: int) -> Annotated["WikiRevision", strawberry.lazy(".revisions")] | None: ...

    @computed("The beginning of its text without markdown, at most `length` characters.", body="body_md")
    def excerpt(body: str, length: int = 200) -> str:
        return excerpt(body, length)

    @computed(f"The whole text {AS_HTML}", cost=RENDERING, body="body_md", places=relations.links.places("id"))
    async def body_html(body: str, places: Any) -> str:
        return await as_html(body, places)


@strawberry.type(description="A normalised other name of a page.")
class WikiAlias(Node):
    alias: str = column("Normalised: what is compared.")
    name: str = column("As it was written.")
    source: WikiAliasSource = column("Where it came from.")
    created_at: datetime = column("Since when it is one.")
    page: WikiPage = relation(relations.pages.page, "The page it names.")


@strawberry.input(description="Which pages of a wiki to list. What is left out does not restrict.")
class WikiPageFilter:
    types: list[WikiPageType] | None = strawberry.field(default=None, description="Of one of these types.")
    tags: list[str] | None = strawberry.field(default=None, description="With all of these tags.")
    status: WikiPageStatus | None = strawberry.field(default=None, description="Active ones when left out.")
    updated_since: datetime | None = strawberry.field(
        default=None,
        description="With an updatedAt then or later. Who keeps a copy of a wiki asks wikiChanges instead.",
    )
    title_prefix: str | None = strawberry.field(
        default=None, description="With a title that begins so, whatever its case and accents."
    )
    is_stub: bool | None = strawberry.field(
        default=None, description="True: resting on one source at most; false: on several."
    )


@strawberry.type
class PageQueries:
    @source(pages.by_slug, "A page by type and slug; a slug that it once had finds it too.", owner=IN_OWNER.owner)
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
