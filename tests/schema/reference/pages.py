"""Reference resolvers of pages, their aliases and revisions."""

from datetime import datetime
from itertools import groupby
from typing import Any

from content.edits.differences import Delta, apply_delta
from content.markdown.html import html
from content.markdown.plain import excerpt
from content.sensitivity import level_of
from content.values import parse_time
from tests.schema.reference.links import SpaceLinks, connected, is_of, link_places
from tests.schema.reference.lists import Paged, limited
from tests.schema.reference.owners import author_name
from tests.schema.reference.rows import Row, Rows


def supersedes(link: Row) -> bool:
    return "supersedes" in link["reasons"]


def newest_source(rows: Rows, page_id: Any) -> Any:
    moments = [row["last_source_at"] for row in rows.where("sections", page_id=page_id)]
    return max((moment for moment in moments if moment is not None), default=None)


def grounding(sections: list[Row], newest: Any) -> Row:
    moments = [at for section in sections for at in section.get("supported_at") or []]
    stale = sum(at is not None and newest is not None and at < newest for at in moments)
    unverified = sum(at is None for at in moments)
    return {"grounded": len(moments) - stale - unverified, "unverified": unverified, "stale": stale}


HUBS = ("-hubness_score", "-id")
TITLES = ("title", "id")


class Pages:
    """The fields of WikiPage that are not columns."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def owner(self, page: Row) -> Row | None:
        return self.rows.one("owners", id=page["owner_id"])

    def pages_to_rewrite(self, page: Row) -> int:
        return sum(row["remaining"] for row in self.rows.where("renamings", page_id=page["id"]))

    def merged_into(self, page: Row) -> Row | None:
        merged = self.rows.one("merged_pages", page_id=page["id"])
        return merged and self.rows.page(merged["into_page_id"])

    def supersedes(self, page: Row, limit: int | None) -> list[Row]:
        ids = {row["page_id"] for row in self.rows.where("merged_pages", into_page_id=page["id"])}
        ids |= {row["to_page_id"] for row in self.rows.where("links", from_page_id=page["id"]) if supersedes(row)}
        ids |= self.named(page, "supersedes")
        return limited(self.rows.sorted(filter(None, map(self.rows.page, ids)), *TITLES), limit, 20)

    def superseded_by(self, page: Row, limit: int | None) -> list[Row]:
        ids = {row["into_page_id"] for row in self.rows.where("merged_pages", page_id=page["id"])}
        ids |= {row["from_page_id"] for row in self.rows.where("links", to_page_id=page["id"]) if supersedes(row)}
        return limited(self.rows.sorted(filter(None, map(self.rows.page, ids)), *TITLES), limit, 20)

    def contradicts(self, page: Row, limit: int | None) -> list[Row]:
        found = filter(None, map(self.rows.page, self.named(page, "contradicts")))
        return limited(self.rows.sorted(found, *TITLES), limit, 20)

    def named(self, page: Row, field: str) -> set[Any]:
        """Return the other pages that a field of the metadata names by a current or former slug."""
        value = page["metadata"].get(field)
        found: set[Any] = set()
        for name in [value] if isinstance(value, str) else value or []:
            type, _, slug = name.rpartition("/")
            for table, key in (("pages", "id"), ("old_slugs", "page_id")):
                rows = self.rows.where(table, slug=slug, owner_id=page["owner_id"])
                found |= {row[key] for row in rows if type in ("", row["type"])}
        return found - {page["id"]}

    def related(self, page: Row, limit: int | None) -> list[Row]:
        links = [row for row in self.rows.where("links", from_page_id=page["id"]) if row["kind"] == "reference"]
        found = self.rows.active_pages({row["to_page_id"] for row in links if row["reasons"] != ["text"]})
        return limited(self.rows.sorted(found, *TITLES), limit, 20)

    def sensitivity(self, page: Row) -> str:
        return level_of(page["metadata"])

    def stated_confidence(self, page: Row) -> str | None:
        value = page["metadata"].get("confidence")
        return value if value in ("low", "medium", "high") else None

    def owner_role(self, page: Row) -> str | None:
        return page["metadata"].get("owner") or None

    def expires_at(self, page: Row) -> datetime | None:
        value = page["metadata"].get("expires_at")
        return parse_time(value) if isinstance(value, str) else None

    def redirected_from(self, page: Row) -> str | None:
        return page.get("redirected_from")

    # -- sections and names

    def sections(self, page: Row, limit: int | None) -> list[Row]:
        found = self.rows.sorted(self.rows.where("sections", page_id=page["id"]), "position", "id")
        return limited(found, limit, 50, 200)

    def section_count(self, page: Row) -> int:
        return len(self.rows.where("sections", page_id=page["id"]))

    def section(self, page: Row, slug: str) -> Row | None:
        return self.rows.one("sections", page_id=page["id"], section_slug=slug)

    def aliases(self, page: Row, limit: int | None) -> list[str]:
        found = self.rows.sorted(self.rows.where("aliases", page_id=page["id"]), "alias")
        return limited([row["alias"] for row in found], limit, 100)

    def aliases_connection(self, page: Row, **paging: Any) -> Row:
        return Paged(self.rows, self.rows.where("aliases", page_id=page["id"]), "alias", "id").part(**paging)

    def superseded_claims(self, page: Row, **paging: Any) -> Row:
        found = self.rows.where("superseded_claims", page_id=page["id"], withdrawn_at=None)
        return Paged(self.rows, found, "-superseded_on", "-id").part(**paging)

    def trajectory(self, page: Row, limit: int | None) -> list[Row]:
        found = self.rows.where("superseded_claims", page_id=page["id"], withdrawn_at=None)
        return limited(self.rows.sorted(found, "superseded_on", "id") if len(found) > 1 else [], limit, 50)

    def contradictions(self, page: Row, status: str | None = None, **paging: Any) -> Row:
        found = self.rows.where("contradictions", page_id=page["id"])
        found = [row for row in found if status in (None, row["status"].upper())]
        return Paged(self.rows, found, "-id").part(**paging)

    def grounding(self, page: Row) -> Row:
        return grounding(self.rows.where("sections", page_id=page["id"]), newest_source(self.rows, page["id"]))

    def confidence(self, page: Row) -> str:
        cited = self.cited_sources(page)
        count = min(len({(row["kind"], row["ref"]) for row in cited}), len({bytes(row["checksum"]) for row in cited}))
        is_open = any(row["status"] == "open" for row in self.rows.where("contradictions", page_id=page["id"]))
        if count <= 1:
            return "low"
        return "medium" if count < 3 or is_open or self.grounding(page)["unverified"] else "high"

    # -- hierarchy

    def parent(self, page: Row) -> Row | None:
        return self.rows.active_page(page["parent_page_id"])

    def children(self, page: Row, limit: int | None) -> list[Row]:
        return limited(self.rows.sorted(self.rows.children(page), *TITLES), limit, 50)

    def children_connection(self, page: Row, **paging: Any) -> Row:
        return Paged(self.rows, self.rows.children(page), *TITLES).part(**paging)

    def ancestors(self, page: Row, limit: int | None) -> list[Row]:
        found: list[Row] = []
        above = self.parent(page)
        while above and len(found) < 32:
            found.append(above)
            above = self.parent(above)
        return limited(found, limit, 20, 32)

    def descendants(self, page: Row, depth: int, **paging: Any) -> Row:
        found: list[Row] = []
        level = [page]
        for number in range(1, min(depth, 32) + 1):
            level = [child for above in level for child in self.rows.children(above)]
            found += [{"depth": number, "id": child["id"], "node": child} for child in level]
        return Paged(self.rows, found, "depth", "id").part(**paging)

    # -- rollups

    def promoted_from_section(self, page: Row) -> Row | None:
        found = self.rows.sorted(self.rows.where("sections", promoted_page_id=page["id"]), "id")
        return next((section for section in found if self.rows.active_page(section["page_id"])), None)

    def section_children(self, page: Row, section_slug: str, limit: int | None) -> list[Row]:
        section = self.section(page, section_slug)
        if section is None:
            return limited([], limit, 50)
        listed = (section["aggregation"] or {}).get("linked_page_ids") or []
        own = (other for other in self.rows.where("pages", owner_id=page["owner_id"]) if other["status"] == "active")
        found = [other for other in own if str(other["id"]) in listed or other["id"] == section["promoted_page_id"]]
        return limited(self.rows.sorted(found, *TITLES), limit, 50)

    # -- links

    def backlinks(self, page: Row, kinds: list[str] | None = None, **paging: Any) -> Row:
        links = [link for link in self.rows.where("links", to_page_id=page["id"]) if is_of(kinds, link["kind"])]
        links.sort(key=lambda link: (link["from_page_id"], self.rows.place(link["kind"])))
        found = []
        for id, same in groupby(links, lambda link: link["from_page_id"]):
            if start := self.rows.active_page(id):
                place = {key.strip("-"): start[key.strip("-")] for key in HUBS}
                found.append({**place, "node": start, "kinds": [link["kind"] for link in same], "to_page": page})
        return Paged(self.rows, found, *HUBS).part(**paging)

    def links(self, page: Row, kinds: list[str] | None = None, **paging: Any) -> Row:
        links = [link for link in self.rows.where("links", from_page_id=page["id"]) if is_of(kinds, link["kind"])]
        found = [link for link in links if self.rows.active_page(link["to_page_id"])]
        return Paged(self.rows, found, "id").part(**paging)

    def broken_links(self, page: Row, **paging: Any) -> Row:
        found = self.rows.where("link_targets", from_page_id=page["id"], to_page_id=None, space=None)
        return Paged(self.rows, found, "target").part(**paging)

    def space_links(self, page: Row, **paging: Any) -> Row:
        found = [row for row in self.rows.where("link_targets", from_page_id=page["id"]) if row["space"]]
        return Paged(self.rows, found, "target").part(**paging)

    def space_backlinks(self, page: Row, **paging: Any) -> Row:
        """Return pages of other wikis with a link to this page, if the caller may read both."""
        own, links = self.rows.one("owners", id=page["owner_id"]), SpaceLinks(self.rows)
        assert own is not None
        found: dict[Any, Row] = {}
        for target in self.rows.tables["link_targets"]:
            if target["space"] != own["slug"] or target["owner_id"] == page["owner_id"]:
                continue
            start = self.rows.active_page(target["from_page_id"])
            if not start or not self.rows.readable(target["owner_id"]):
                continue
            meant = links.page(target)
            if meant and meant["id"] == page["id"]:
                found[start["id"]] = start
        return Paged(self.rows, list(found.values()), *HUBS).part(**paging)

    def connected_pages(self, page: Row, direction: str, **paging: Any) -> Row:
        return Paged(self.rows, connected(self.rows, page["id"], direction), *HUBS).part(**paging)

    # -- evidence

    def cited(self, page: Row) -> list[Row]:
        return self.rows.where("section_sources", page_id=page["id"])

    def cited_sources(self, page: Row) -> list[Row]:
        ids = {row["source_id"] for row in self.cited(page)}
        return [row for row in self.rows.tables["sources"] if row["id"] in ids]

    def sources(self, page: Row, **paging: Any) -> Row:
        return Paged(self.rows, self.cited_sources(page), "-captured_at", "-id").part(**paging)

    def citations(self, page: Row, **paging: Any) -> Row:
        return Paged(self.rows, self.cited(page), "-created_at", "-id").part(**paging)

    def is_stub(self, page: Row) -> bool:
        return self.source_count(page) <= 1

    def source_count(self, page: Row) -> int:
        return len({(row["kind"], row["ref"]) for row in self.cited_sources(page)})

    def memories(self, page: Row) -> list[str]:
        """Return the refs of cited memories: all versions of a memory count as one."""
        newest: dict[str, Any] = {}
        for row in sorted(self.cited(page), key=lambda row: row["created_at"]):
            source = self.rows.one("sources", id=row["source_id"])
            if source and source["kind"] == "memory_unit":
                newest[source["ref"]] = row["created_at"]
        refs = sorted(newest, key=self.rows.place)
        return sorted(refs, key=lambda ref: newest[ref], reverse=True)

    def source_memory_count(self, page: Row) -> int:
        return len(self.memories(page))

    def source_memory_ids(self, page: Row, limit: int | None) -> list[str]:
        return limited(self.memories(page), limit, 10, 50)

    def mentions(self, page: Row, **paging: Any) -> Row:
        names = {row["alias"] for row in self.rows.where("aliases", page_id=page["id"])}
        own = self.rows.where("mentions", owner_id=page["owner_id"])
        found = [row for row in own if row["promoted_page_id"] == page["id"] or row["alias"] in names]
        return Paged(self.rows, found, "-last_seen_at", "-id").part(**paging)

    # -- history

    def revisions(self, page: Row, **paging: Any) -> Row:
        return Paged(self.rows, self.rows.where("revisions", page_id=page["id"]), "-version").part(**paging)

    def revision(self, page: Row, version: int) -> Row | None:
        return self.rows.one("revisions", page_id=page["id"], version=version)

    def body_html(self, page: Row) -> str:
        return html(page["body_md"], link_places(self.rows, page["id"]))

    def excerpt(self, page: Row, length: int) -> str:
        return excerpt(page["body_md"], length)


class OnPage:
    """A row that belongs to a page, such as an alias."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def page(self, row: Row) -> Row | None:
        return self.rows.page(row["page_id"])


class Changes(OnPage):
    """The last change of a page, which may be deleted."""

    def state(self, row: Row) -> str:
        page = self.rows.page(row["page_id"])
        return str(page["status"]) if page else "deleted"


class Revisions(OnPage):
    """A revision. A text that is not stored whole is rebuilt from its base revision."""

    def facts_of(self, revision: Row) -> Row:
        """Return the revision that stores this one's slug, aliases and metadata."""
        elsewhere = {"page_id": revision["page_id"], "version": revision["facts_version"]}
        return self.rows.one("revisions", **elsewhere) or revision

    def author_name(self, revision: Row) -> str:
        return author_name(self.rows, revision["author_id"])

    def proposal(self, revision: Row) -> Row | None:
        key = {"page_id": revision["page_id"], "accepted_version": revision["version"]}
        found = self.rows.one("proposals", **key)
        return found if found and self.rows.writable(found["owner_id"]) else None

    def slug(self, revision: Row) -> str | None:
        return self.facts_of(revision)["slug"]

    def aliases(self, revision: Row) -> list[str] | None:
        return self.facts_of(revision)["aliases"]

    def metadata(self, revision: Row) -> Row | None:
        return self.facts_of(revision)["metadata"]

    def body_md(self, revision: Row) -> str:
        base = self.rows.one("revisions", page_id=revision["page_id"], version=revision["base_version"])
        if base is None:
            return str(revision["body_md"])
        return apply_delta(base["body_md"], Delta(*(revision[f"base_{part}"] for part in Delta._fields)))
