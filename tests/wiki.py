"""A wiki to write in, and checks of what must hold in it after any writes."""

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
import orjson

from content.edits.differences import Delta, apply_delta
from content.languages import language_of
from content.markdown.links import find_links
from content.markdown.plain import strip_comments
from content.markdown.sections import Section, render
from content.names import normalise
from content.search.passages import passages
from content.search.words import ANALYSER, whole_words, words
from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sensitivity import restricted
from resolvers.auth.owners import Grant, grant
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.search.lexemes import PASSAGES, scope_letter
from resolvers.sources.sources import SourceDraft, add_source
from tests.connections import IDLE
from tests.recording_database import STATEMENT_TIMEOUT

KINDS = ["title", "alias", "slug", "old_slug"]
RANKS = {"slug": 1, "old_slug": 2, "alias": 3}


@dataclass(frozen=True)
class Wiki:
    """One owner's wiki, the scope that writes in it, and a separate connection that reads its rows."""

    database: Database
    scope: Scope
    connection: asyncpg.Connection

    async def rows(self, table: str, order: str = "id", **where: Any) -> list[dict[str, Any]]:
        """Return the rows of a table in this wiki."""
        wanted = "".join(f" AND {column} = ${n}" for n, column in enumerate(where, start=3))
        sql = f"SELECT * FROM {table} WHERE tenant_id = $1 AND owner_id = $2{wanted} ORDER BY {order}"
        return [
            dict(row)
            for row in await self.connection.fetch(sql, self.scope.tenant_id, self.scope.owner_id, *where.values())
        ]

    async def row(self, table: str, **where: Any) -> dict[str, Any]:
        (row,) = await self.rows(table, "1", **where)
        return row

    async def page(self, page_id: UUID) -> dict[str, Any]:
        return await self.row("pages", id=page_id)

    async def targets(self, page_id: UUID) -> dict[str, UUID | None]:
        """Return the link targets in a page's text, and the page that each resolves to."""
        rows = await self.rows("link_targets", "target", from_page_id=page_id)
        return {row["target"]: row["to_page_id"] for row in rows}

    async def references(self) -> dict[tuple[UUID, UUID], set[str]]:
        """Return (from, to) of every reference, with its reasons."""
        links = await self.rows("links", kind="reference")
        return {(link["from_page_id"], link["to_page_id"]): set(link["reasons"]) for link in links}

    async def actions(self) -> list[str]:
        """Return the logged actions, the oldest first."""
        return [row["action"] for row in await self.rows("activity")]

    async def counts(self, table: str = "search_pages") -> Counter[str]:
        """Return in how many rows of the table each lexeme is counted, without the letter of the wiki."""
        found = Counter[str]()
        for scope in await self.rows("search_scopes", "analyser"):
            if (scope["analyser"] >= PASSAGES) != (table == "search_passages"):
                continue
            read = {"analyser": scope["analyser"], "edition": scope["edition"]}
            for row in await self.rows("search_counts", "shelf", **read):
                found.update(row["pages"])
        return found

    async def add_source(self, kind: str = "document", ref: str = "doc-1", content: str = "One.\nTwo.\n") -> UUID:
        return (await add_source(self.database, self.scope, SourceDraft(kind, ref, content))).source_id

    async def empty(self) -> None:
        """Delete everything that would take long to check."""
        for table in ("pages", "search_scopes", "search_counts", "search_changes", "search_vocabulary"):
            await self.connection.execute(f"DELETE FROM {table} WHERE tenant_id = $1", self.scope.tenant_id)

    async def neighbour(self, role: Role | None = None) -> "Wiki":
        """Create another owner's wiki in the same tenant."""
        owner_id = await make_owner(self.connection, self.scope.tenant_id)
        return Wiki(
            self.database, member_scope(self.scope.tenant_id, owner_id, role or self.scope.role), self.connection
        )

    async def colleague(self) -> "Wiki":
        """Return the same wiki as a member by grant reads and writes it, who sees nothing above `internal`."""
        await update_wiki_settings(self.database, self.scope, WikiSettings(member_ceiling="internal"))
        owner_id = await make_owner(self.connection, self.scope.tenant_id)
        both = {"owner_id": self.scope.owner_id, "grantee_id": owner_id}
        await grant(self.database, self.scope.tenant_id, **both, role=Grant.MEMBER)
        scope = member_scope(self.scope.tenant_id, owner_id, Role.MEMBER).in_owner(self.scope.owner_id)
        return Wiki(restricted(self.database, scope), scope, self.connection)

    def with_role(self, role: Role) -> "Wiki":
        """Return the same wiki with another role."""
        return Wiki(self.database, member_scope(self.scope.tenant_id, self.scope.owner_id, role), self.connection)


async def open_wiki(dsn: str) -> Wiki:
    """Create a tenant with an owner, and return the owner's wiki with an admin's scope."""
    database = Database(dsn, size=4, statement_timeout=STATEMENT_TIMEOUT)
    await database.open()
    connection = await IDLE.connect(dsn, {})
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=orjson.loads)
    tenant_id = new_id()
    await connection.execute(
        "INSERT INTO tenants (tenant_id, slug, name) VALUES ($1, $2, 'T')", tenant_id, f"t-{tenant_id}"
    )
    owner_id = await make_owner(connection, tenant_id)
    return Wiki(database, member_scope(tenant_id, owner_id, Role.ADMIN), connection)


async def close_wiki(wiki: Wiki) -> None:
    await wiki.connection.close()
    await wiki.database.close()


async def make_owner(connection: asyncpg.Connection, tenant_id: UUID) -> UUID:
    owner_id = new_id()
    sql = "INSERT INTO owners (tenant_id, id, kind, slug, name) VALUES ($1, $2, 'user', $3, 'O')"
    await connection.execute(sql, tenant_id, owner_id, f"o-{owner_id}")
    return owner_id


def member_scope(tenant_id: UUID, owner_id: UUID, role: Role) -> Scope:
    return Scope(tenant_id, owner_id, role, Actor(ActorKind.USER, "marco"), (owner_id,))


async def check_derived_rows(wiki: Wiki) -> None:
    """Check that all rows that are derived from pages are consistent with them."""
    pages = {page["id"]: page for page in await wiki.rows("pages")}
    await check_sections(wiki, pages)
    await check_revisions(wiki, pages)
    await check_names(wiki, pages)
    await check_words(wiki, pages)
    await check_passages(wiki)
    await check_targets(wiki, pages)
    await check_links(wiki, pages)


async def check_sections(wiki: Wiki, pages: dict[UUID, Any]) -> None:
    sections = defaultdict(list)
    for row in await wiki.rows("sections", "page_id, position"):
        assert row["position"] == len(sections[row["page_id"]]), "positions count up from 0"
        sections[row["page_id"]].append(Section(row["section_slug"], row["heading"], row["body_md"]))
    for page in pages.values():
        assert page["body_md"] == render(sections[page["id"]])


async def check_revisions(wiki: Wiki, pages: dict[UUID, Any]) -> None:
    revisions = defaultdict(list)
    for row in await wiki.rows("revisions", "page_id, version"):
        revisions[row["page_id"]].append(row | {"body_md": body_of(row, revisions[row["page_id"]])})
    for page in pages.values():
        own = revisions[page["id"]]
        assert [row["version"] for row in own] == list(range(1, page["version"] + 1))
        for field in ("title", "summary", "body_md", "tags"):
            assert own[-1][field] == page[field]


def body_of(revision: dict[str, Any], earlier: list[dict[str, Any]]) -> str:
    """Return the text of a revision: its own, or what it takes from an earlier revision that is stored whole."""
    if revision["base_version"] is None:
        return str(revision["body_md"])
    assert revision["body_md"] == ""
    base = next(row for row in earlier if row["version"] == revision["base_version"])
    assert base["base_version"] is None
    return apply_delta(base["body_md"], Delta(*(revision[f"base_{part}"] for part in Delta._fields)))


async def names_of(wiki: Wiki, pages: dict[UUID, Any]) -> dict[UUID, set[tuple[str, str]]]:
    """Return (kind, name) of every slug, former slug and alias."""
    names = {page_id: {("slug", page["slug"])} for page_id, page in pages.items()}
    for row in await wiki.rows("old_slugs", "slug"):
        names[row["page_id"]].add(("old_slug", row["slug"]))
    for row in await wiki.rows("aliases"):
        names[row["page_id"]].add(("alias", row["alias"]))
    return names


async def check_names(wiki: Wiki, pages: dict[UUID, Any]) -> None:
    """Check that the rows that search reads are the names, and carry the status of their page."""
    stored = defaultdict(set)
    for row in await wiki.rows("page_names", "name"):
        assert row["status"] == pages[row["page_id"]]["status"]
        stored[row["page_id"]].add((row["kind"], row["name"]))
    for page_id, names in (await names_of(wiki, pages)).items():
        title = normalise(pages[page_id]["title"])
        assert not title or ("alias", title) in names
        spaced = {(kind, name.replace("-", " ")) for kind, name in names if kind != "alias"}
        best = {}
        for kind, name in sorted(names | spaced | {("title", title)}, key=lambda one: KINDS.index(one[0])):
            best.setdefault(name, kind)
        assert stored[page_id] == {(kind, name) for name, kind in best.items() if name}


def name_words(name: str) -> list[str]:
    """Return the words of a name without the parts of camel-case words."""
    return [word[0] for word in whole_words(name)]


async def check_words(wiki: Wiki, pages: dict[UUID, Any]) -> None:
    """Check each page's words, weighted by field and under the letter of the wiki, and how often each occurs."""
    sql = """
        SELECT CAST(replace(CAST(ts_delete(tsv, $6::text[]) AS text), '''' || $7, '''') AS tsvector)
            = setweight(to_tsvector(tongue, $2), 'A') || setweight(to_tsvector(tongue, $3), 'B')
            || setweight(to_tsvector(tongue, $4), 'C') || setweight(to_tsvector(tongue, $5), 'D') AS same,
            $6::text[] <@ tsvector_to_array(tsv) AS marked, status, words
        FROM search_pages, LATERAL (SELECT $8::text::regconfig AS tongue) WHERE page_id = $1
    """
    letter = scope_letter(wiki.scope.tenant_id, wiki.scope.owner_id, ANALYSER)
    names = await names_of(wiki, pages)
    headings, said_headings = defaultdict(list), defaultdict(set)
    for section in await wiki.rows("sections", "page_id, position"):
        headings[section["page_id"]].append(section["heading"])
        if heading := " ".join(name_words(section["heading"])):
            said_headings[section["page_id"]].add(f"{letter}:heading:{heading[:200]}")
    for page in pages.values():
        found = await asyncio.to_thread(indexed_words, page, letter, names[page["id"]], headings[page["id"]])
        texts, marks, count = found
        marks += said_headings[page["id"]]
        language = language_of(page["metadata"], "english")
        (row,) = await wiki.connection.fetch(sql, page["id"], *texts, marks, letter, language)
        assert tuple(row) == (True, True, page["status"], count)
    await check_statistics(wiki)


def indexed_words(
    page: Any, letter: str, names: set[tuple[str, str]], headings: list[str]
) -> tuple[list[str], list[str], int]:
    """Return the words of a page by weight, its marks, and its number of words."""
    summary, body = map(words, (page["summary"] or "", strip_comments(page["body_md"])))
    title, called = name_words(page["title"]), sorted({name for _, name in names})
    others = dict.fromkeys(tuple(name_words(name)) for name in called)
    headed = [word for heading in headings for word in name_words(heading)]
    every = [page["title"], *called, *headings]
    parts = dict.fromkeys(part for name in every for word in whole_words(name) for part in word[1:])
    other = [word for name in others for word in name if list(name) != title]
    tagged = [word for tag in page["tags"] for word in words(tag)]
    texts = [" ".join(said) for said in (title, other, [*headed, *parts, *tagged, *summary], body)]
    marks = [f"{letter}:", f"{letter}:type:{page['type']}", *(f"{letter}:tag:{tag.casefold()}" for tag in page["tags"])]
    return texts, marks, len(title) + len(summary) + len(body)


async def check_statistics(wiki: Wiki, table: str = "search_pages") -> None:
    """Check that the stored counts, with the changes still to be counted, are those of the rows."""
    lexemes, counted = Counter[str](), Counter[str]()
    for row in await wiki.rows(table, "1"):
        found = await wiki.connection.fetchval("SELECT tsvector_to_array($1::tsvector)", row["tsv"])
        lexemes.update(lexeme[1:] for lexeme in found if lexeme[1] != ":")
    counted.update(await wiki.counts(table))
    for row in await wiki.rows("search_changes"):
        if (row["analyser"] >= PASSAGES) == (table == "search_passages"):
            counted.update(lexeme[1:] for lexeme in row["gained"])
            counted.subtract(lexeme[1:] for lexeme in row["lost"])
    assert +counted == lexemes, (+counted - lexemes, lexemes - +counted)
    assert all(count >= 0 for count in counted.values())


async def check_passages(wiki: Wiki) -> None:
    """Check that sources have the passages of their text, except forgotten sources and those not indexed yet."""
    stored = defaultdict(list)
    for row in await wiki.rows("search_passages", "source_id, position"):
        stored[row["source_id"]].append(row)
    sources = {row["id"]: row for row in await wiki.rows("sources")}
    superseded = {row["supersedes_id"] for row in sources.values()}
    for source_id, rows in stored.items():
        source = sources[source_id]
        assert source["forgotten_at"] is None
        assert {row["status"] for row in rows} == {"superseded" if source_id in superseded else "current"}
        assert [row["text"] for row in rows] == [
            source["content"][one.start : one.end] for one in passages(source["content"])
        ]
        assert all(row["text"] == source["content"][row["start_offset"] : row["end_offset"]] for row in rows)
    await check_statistics(wiki, "search_passages")


async def check_targets(wiki: Wiki, pages: dict[UUID, Any]) -> None:
    """Check that each link target has the page that the rules find for it among all current names."""
    names = await names_of(wiki, pages)
    stored = {(row["from_page_id"], row["target"]): row for row in await wiki.rows("link_targets", "target")}
    written = {
        (page["id"], link.target): link.text
        for page in pages.values()
        for link in reversed(find_links(page["body_md"]))
    }
    sections = await wiki.rows("sections", "position")
    for (page_id, target), row in stored.items():
        own = [one for one in sections if one["page_id"] == page_id and row["relation"] == "text"]
        said = [
            one["section_slug"]
            for one in own
            if any(link.target == target for link in find_links(f"## {one['heading']}\n\n{one['body_md']}"))
        ]
        assert row["section_slugs"] == (said[:20] if row["relation"] == "text" else None)
    texts = {key: row["text"] for key, row in stored.items() if row["relation"] == "text"}
    assert texts == {key: text[:500] for key, text in written.items()}
    types = {(row["page_id"], row["type"], row["slug"]) for row in await wiki.rows("old_slugs", "slug")}
    for row in stored.values():
        wanted = {"slug": row["slug"], "old_slug": row["slug"], "alias": row["alias"]}
        found = [
            (page["status"] != "active", RANKS[kind], page_id)
            for page_id, page in pages.items()
            for kind, name in names[page_id]
            if name == wanted[kind]
            and not row["space"]
            and (
                row["type"] in (None, page["type"])
                if kind != "old_slug"
                else row["type"] is None or (page_id, row["type"], name) in types
            )
        ]
        assert row["to_page_id"] == (min(found)[2] if found else None)


async def check_links(wiki: Wiki, pages: dict[UUID, Any]) -> None:
    """Check that text links match the texts, mirror links match the parents, and hubness counts visible pages."""
    references = await wiki.references()
    targets = await wiki.rows("link_targets", "target", relation="text")
    meant = {
        (row["from_page_id"], row["to_page_id"]) for row in targets if row["to_page_id"] and row["relation"] == "text"
    }
    assert {pair for pair, reasons in references.items() if "text" in reasons} == {(a, b) for a, b in meant if a != b}
    assert all(references.values()), "a link has a reason"
    parents = {(page["parent_page_id"], page["id"]) for page in pages.values() if page["parent_page_id"]}
    down = {(link["from_page_id"], link["to_page_id"]) for link in await wiki.rows("links", kind="parent_of")}
    up = {(link["to_page_id"], link["from_page_id"]) for link in await wiki.rows("links", kind="child_of")}
    assert down == up == parents
    seen = {page_id for page_id, page in pages.items() if page["status"] == "active"}
    support = defaultdict(list)
    for section in await wiki.rows("sections"):
        if section["aggregation"] and "supporting_record_count" in section["aggregation"]:
            support[section["page_id"]].append(section["aggregation"]["supporting_record_count"])
    for page in pages.values():
        inbound = sum(to == page["id"] and by in seen for by, to in references)
        children = sum(parent == page["id"] and child in seen for parent, child in parents)
        records = support[page["id"]] or [0]
        assert page["hubness_score"] == inbound + 2 * children + sum(records) // len(records) // 10
