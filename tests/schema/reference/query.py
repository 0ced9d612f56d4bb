"""Reference resolvers of the root fields, and who may read there."""

from hashlib import md5
from typing import Any
from uuid import UUID

from graphql import GraphQLError

from content.names import normalise
from resolvers.context import Context
from tests.schema.reference.history import Histories
from tests.schema.reference.links import connected
from tests.schema.reference.lists import Paged, limited, sized
from tests.schema.reference.pages import HUBS, Pages
from tests.schema.reference.rows import Row, Rows
from tests.schema.reference.search import Searches
from tests.schema.reference.times import moment

ORDERS = {"TITLE": ("lower", "id"), "UPDATED": ("-updated_at", "-id"), "CREATED": ("-id",), "HUBNESS": HUBS}
KINDS = {
    "pages": "WikiPage",
    "sections": "WikiSection",
    "sources": "WikiSource",
    "mentions": "WikiMention",
    "aliases": "WikiAlias",
    "links": "WikiLink",
    "section_sources": "WikiCitation",
    "revisions": "WikiRevision",
    "superseded_claims": "WikiSupersededClaim",
    "contradictions": "WikiContradiction",
    "lint_reports": "WikiLintReport",
    "owners": "WikiOwner",
}


def identified(text: str | None) -> UUID | None:
    """Parse an id; a malformed id is None."""
    try:
        return UUID(text)
    except (TypeError, ValueError):
        return None


class Query:
    """The root fields. `where` are the spellings of the wiki that a field reads from."""

    def __init__(self, rows: Rows, context: Context) -> None:
        self.rows, self.searches, self.histories = rows, Searches(rows, context), Histories(rows)

    # -- access

    def check_tenant(self, tenant_id: str | None) -> None:
        if tenant_id is not None and identified(tenant_id) != self.rows.scope.tenant_id:
            raise GraphQLError("tenantId must be the tenant of the credential.")

    def wiki(self, tenant_id: str | None = None, **named: str | None) -> UUID | None:
        """Return the owner whose rows are read, or None if the caller may not read any."""
        self.check_tenant(tenant_id)
        spelled = {name.lower() for name in named.values() if name is not None}
        if len(spelled) > 1:
            raise GraphQLError("owner, ownerId, userId and agentId are names of one thing; give one of them.")
        if not spelled:
            return self.rows.scope.owner_id
        owner = self.owner_named(spelled.pop()) if named.get("owner") is not None else identified(spelled.pop())
        return owner if owner and self.rows.readable(owner) else None

    def owner_named(self, name: str) -> UUID | None:
        return identified(name) or next((row["id"] for row in self.rows.tables["owners"] if row["slug"] == name), None)

    def inside(self, table: str, where: Row) -> list[Row]:
        return self.rows.where(table, owner_id=self.wiki(**where))

    def seen(self, row: Row) -> bool:
        return self.rows.readable(row.get("owner_id", row["id"]))

    # -- pages

    def wiki_page(self, _: Any, type: str, slug: str, include_archived: bool, **where: Any) -> Row | None:
        owner = self.wiki(**where)
        key = {"slug": slug, "type": type.lower(), "owner_id": owner}
        found = [page for page in self.rows.where("pages", **key) if include_archived or page["status"] == "active"]
        if found:
            return found[0]
        old = self.rows.one("old_slugs", **key)
        page = old and (self.rows.page if include_archived else self.rows.active_page)(old["page_id"])
        return page and {**page, "redirected_from": slug}

    def wiki_pages(self, _: Any, order_by: str, filter: Row | None = None, **given: Any) -> Row:
        where, paging = parted(given)
        wanted = filter or {}
        pages = [page for page in self.inside("pages", where) if passes(page, wanted)]
        if (stubs := wanted.get("isStub")) is not None:
            pages = [page for page in pages if Pages(self.rows).is_stub(page) is stubs]
        return Paged(self.rows, pages, *ORDERS[order_by]).part(**paging)

    def wiki_changes(self, _: Any, **given: Any) -> Row:
        where, paging = parted(given)
        (one,) = self.rows.tables["installation"]
        parts = (one[name] for name in ("history_id", "system_identifier", "timeline_id", "pg_relation_filepath"))
        history = md5(".".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()[:12]
        found = self.inside("page_positions", where)
        return Paged(self.rows, found, "position", history=history).part(**paging)

    def recent_wiki_pages(self, _: Any, limit: int | None, **where: Any) -> list[Row]:
        pages = [page for page in self.inside("pages", where) if page["status"] == "active"]
        return limited(self.rows.sorted(pages, "-updated_at", "-id"), limit, 50)

    def wiki_backlinks(self, _: Any, page_id: str, limit: int | None) -> list[Row]:
        links = self.rows.where("links", to_page_id=identified(page_id))
        pages = filter(self.seen, self.rows.active_pages(link["from_page_id"] for link in links))
        return limited(self.rows.sorted(pages, *HUBS), limit, 100)

    def wiki_connected_pages(self, _: Any, page_id: str, direction: str, limit: int | None) -> list[Row]:
        pages = filter(self.seen, connected(self.rows, identified(page_id), direction))
        return limited(self.rows.sorted(pages, *HUBS), limit, 100)

    # -- search: the ranking is tested elsewhere; these fields show what it finds

    async def wiki_search(self, _: Any, query: str, limit: int | None, filter: Row | None = None, **where: Any) -> Any:
        return await self.searches.hits(self.named(where), query, sized(limit, 20, 50, least=1), filter)

    mobile_wiki_search = wiki_search

    async def wiki_search_results(
        self, _: Any, query: str, first: int | None, explain: bool, filter: Row | None = None, **given: Any
    ) -> Row:
        if explain and self.rows.scope.role != "admin":
            raise GraphQLError("explain needs a credential with the role admin.")
        where, paging = parted(given)
        size, after = sized(first, 20, 50, least=1), paging.get("after")
        return await self.searches.results(self.named(where), query, size, filter, after, explain)

    async def wiki_search_sources(
        self, _: Any, query: str, first: int | None, filter: Row | None = None, **given: Any
    ) -> Row:
        where, paging = parted(given)
        size, after = sized(first, 20, 50, least=1), paging.get("after")
        return await self.searches.passages(self.named(where), query, size, filter, after)

    async def wiki_search_all(self, _: Any, query: str, first: int | None, **given: Any) -> Row:
        where, paging = parted(given)
        self.check_tenant(where.pop("tenant_id", None))
        return await self.searches.everything(query, sized(first, 20, 50, least=1), paging.get("after"), where)

    async def wiki_context(self, _: Any, query: str, **given: Any) -> Row:
        self.check_tenant(given.pop("tenant_id", None))
        return await self.searches.packed(query, given)

    async def related_wiki_pages(self, _: Any, page_id: str, limit: int | None) -> list[Row]:
        found = await self.searches.related(identified(page_id), sized(limit, 10, 50, least=1))
        return [hit for hit in found if self.seen(hit["page"])]

    async def wiki_hot_index(self, _: Any, limit: int | None, **where: Any) -> list[Row]:
        return await self.searches.at_hand(self.named(where), sized(limit, 5, 20, least=1))

    def diff_wiki_revisions(self, _: Any, page_id: str, **versions: int) -> Row | None:
        return self.histories.compared(identified(page_id), versions["from"], versions["to"])

    def wiki_named_pages(
        self, _: Any, name: str, limit: int | None, include_archived: bool, type: str | None = None, **where: Any
    ) -> list[Row]:
        found = self.searches.called(self.wiki(**where), name, type and type.lower(), include_archived)
        return limited(found, limit, 5, 20)

    def wiki_suggest(self, _: Any, prefix: str, limit: int | None, **where: Any) -> list[Row]:
        return limited(self.searches.suggestions(self.wiki(**where), prefix), limit, 8, 20)

    def named(self, where: Row) -> UUID | None:
        """Return the owner that the arguments name, whether or not it may be read."""
        self.wiki(**where)
        if (name := where.get("owner")) is not None:
            return self.owner_named(name) or UUID(int=0)
        spelled = [name for spelling, name in where.items() if spelling != "tenant_id" and name is not None]
        return (identified(spelled[0]) or UUID(int=0)) if spelled else None

    # -- graph

    def wiki_graph(self, _: Any, **where: Any) -> Row | None:
        return self.rows.one("owners", id=self.wiki(**where))

    def wiki_neighbourhood(self, _: Any, page_id: str) -> Row | None:
        page = self.rows.page(identified(page_id))
        return page if page and self.seen(page) and page["status"] == "active" else None

    # -- evidence

    def wiki_mentions(self, _: Any, status: str | None = None, **given: Any) -> Row:
        where, paging = parted(given)
        found = [row for row in self.inside("mentions", where) if status in (None, row["status"].upper())]
        return Paged(self.rows, found, "-last_seen_at", "-id").part(**paging)

    def wiki_contradictions(self, _: Any, status: str | None = None, page_id: UUID | None = None, **given: Any) -> Row:
        where, paging = parted(given)
        found = [row for row in self.inside("contradictions", where) if status in (None, row["status"].upper())]
        found = [row for row in found if page_id is None or str(row["page_id"]) == str(page_id).lower()]
        return Paged(self.rows, found, "-id").part(**paging)

    def wiki_proposals(
        self,
        _: Any,
        status: str | None = None,
        page_id: str | None = None,
        author_id: str | None = None,
        **given: Any,
    ) -> Row:
        where, paging = parted(given)
        found = [row for row in self.inside("proposals", where) if status in (None, row["status"].upper())]
        found = [row for row in found if page_id is None or str(row["page_id"]) == str(page_id).lower()]
        found = [row for row in found if author_id in (None, row["author_id"]) and self.rows.writable(row["owner_id"])]
        return Paged(self.rows, found, "-id").part(**paging)

    def wiki_proposal(self, _: Any, proposal_id: str) -> Row | None:
        found = self.rows.one("proposals", id=identified(proposal_id))
        return found if found and self.seen(found) and self.rows.writable(found["owner_id"]) else None

    def wiki_decision_questions(self, _: Any, status: str | None = None, **given: Any) -> Row:
        where, paging = parted(given)
        found = [row for row in self.inside("decision_questions", where) if status in (None, row["status"].upper())]
        return Paged(self.rows, found, "-id").part(**paging)

    def wiki_share_links(self, _: Any, page_id: str | None = None, **given: Any) -> Row:
        where, paging = parted(given)
        found = [row for row in self.inside("share_links", where) if self.rows.writable(row["owner_id"])]
        found = [row for row in found if page_id is None or str(row["page_id"]) == str(page_id).lower()]
        return Paged(self.rows, found, "-id").part(**paging)

    def wiki_lint_reports(self, _: Any, **given: Any) -> Row:
        where, paging = parted(given)
        return Paged(self.rows, self.inside("lint_reports", where), "-id").part(**paging)

    def wiki_source(self, _: Any, kind: str, ref: str, version: int | None = None, **where: Any) -> Row | None:
        found = [row for row in self.inside("sources", where) if (row["kind"].upper(), row["ref"]) == (kind, ref)]
        found = [row for row in found if version in (None, row["version"])]
        return max(found, key=lambda row: row["version"], default=None)

    def wiki_sources(self, _: Any, kinds: list[str] | None = None, **given: Any) -> Row:
        where, paging = parted(given)
        found = [row for row in self.inside("sources", where) if kinds is None or row["kind"].upper() in kinds]
        return Paged(self.rows, found, "-captured_at", "-id").part(**paging)

    def wiki_source_blast_radius(self, _: Any, source_id: str) -> Row | None:
        source = self.rows.one("sources", id=identified(source_id))
        return source if source and self.seen(source) else None

    def wiki_tags(self, _: Any, **given: Any) -> Row:
        where, paging = parted(given)
        pages = [page for page in self.inside("pages", where) if page["status"] == "active"]
        counts = {tag: sum(tag in page["tags"] for page in pages) for page in pages for tag in page["tags"]}
        found = [{"tag": tag, "count": count} for tag, count in counts.items()]
        return Paged(self.rows, found, "-count", "-tag").part(**paging)

    # -- owners, jobs, and anything by its id

    def viewer(self, _: Any) -> Row | None:
        return self.rows.one("owners", id=self.rows.scope.owner_id)

    def wiki_owners(self, _: Any, **paging: Any) -> Row:
        return Paged(self.rows, filter(self.seen, self.rows.tables["owners"]), "slug", "id").part(**paging)

    def wiki_api_keys(self, _: Any, **paging: Any) -> Row:
        if self.rows.scope.role != "admin":
            raise GraphQLError("This needs a credential with the role admin.")
        return Paged(self.rows, self.rows.tables["api_keys"], "id").part(**paging)

    def audit_events(self, _: Any, **given: Any) -> Row:
        if self.rows.scope.role != "admin":
            raise GraphQLError("This needs a credential with the role admin.")
        _, paging = parted(given)
        return Paged(self.rows, [], "-id").part(**paging)

    def webhooks(self, _: Any, **paging: Any) -> Row:
        if self.rows.scope.role != "admin":
            raise GraphQLError("This needs a credential with the role admin.")
        return Paged(self.rows, [], "id").part(**paging)

    def webhook_deliveries(self, _: Any, webhook_id: str, status: str | None = None, **paging: Any) -> Row:
        if self.rows.scope.role != "admin":
            raise GraphQLError("This needs a credential with the role admin.")
        return Paged(self.rows, [], "-id").part(**paging)

    def wiki_connected_programs(self, _: Any, **given: Any) -> Row:
        where, paging = parted(given)
        self.inside("pages", where)
        return Paged(self.rows, [], "-id").part(**paging)

    def wiki_compile_jobs(self, _: Any, limit: int | None, **where: Any) -> list[Row]:
        if self.rows.scope.role != "admin":
            raise GraphQLError("This needs a credential with the role admin.")
        if all(where.get(name) is None for name in ("owner", "owner_id", "user_id", "agent_id")):
            return limited(self.rows.sorted(self.rows.tables["compile_jobs"], "-id"), limit, 10)
        return limited(self.rows.sorted(self.inside("compile_jobs", where), "-created_at", "-id"), limit, 10)

    def node(self, _: Any, id: str) -> Row | None:
        for table, kind in KINDS.items():
            row = self.rows.one(table, id=identified(id))
            if row and self.seen(row):
                return {**row, "$kind": kind}
        return None

    def _entities(self, _: Any, representations: list[Row]) -> list[Row | None]:
        found = [self.node(None, one["id"]) for one in representations]
        pairs = zip(found, representations, strict=True)
        return [row if row and row["$kind"] == one["__typename"] else None for row, one in pairs]

    def nodes(self, _: Any, ids: list[str], limit: int | None) -> list[Row | None]:
        return [self.node(None, id) for id in limited(ids, limit, 100)]


def parted(given: Row) -> tuple[Row, Row]:
    """Split the arguments into those that name the wiki, and those that page the list."""
    paging: Row = {name: given.pop(name) for name in ("first", "after", "last", "before") if name in given}
    return given, paging


def passes(page: Row, filter: Row) -> bool:
    status, types, tags = (filter.get(name) for name in ("status", "types", "tags"))
    since, prefix = filter.get("updatedSince"), filter.get("titlePrefix")
    return (
        page["status"].upper() == (status or "ACTIVE")
        and (types is None or page["type"].upper() in types)
        and (tags is None or set(tags) <= set(page["tags"]))
        and (since is None or page["updated_at"] >= moment(since))
        and (prefix is None or begins(page["title"], prefix))
    )


def begins(title: str, prefix: str) -> bool:
    """Return whether a title begins with a prefix. A title or a prefix without letters never matches."""
    return bool(normalise(prefix)) and normalise(title).startswith(normalise(prefix))
