"""Reference resolvers of what belongs to sections, sources, citations and mentions."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from content.edits.differences import Difference, difference, unified_diff, word_diff
from content.edits.merging import merge_texts
from content.markdown.html import html
from tests.schema.reference.links import link_places
from tests.schema.reference.lists import Paged, limited
from tests.schema.reference.owners import author_name
from tests.schema.reference.pages import Revisions, grounding, newest_source
from tests.schema.reference.rows import Row, Rows


class Evidence:
    """The lists of evidence that several types share."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def of(self, ids: Iterable[Any], paging: Row) -> Row:
        wanted = set(ids)
        found = [row for row in self.rows.tables["sources"] if row["id"] in wanted]
        return Paged(self.rows, found, "-captured_at", "-id").part(**paging)

    def cited(self, paging: Row, **where: Any) -> Row:
        return Paged(self.rows, self.rows.where("section_sources", **where), "-created_at", "-id").part(**paging)


class Sections(Evidence):
    def page(self, section: Row) -> Row | None:
        return self.rows.page(section["page_id"])

    def promoted_page(self, section: Row) -> Row | None:
        return self.rows.active_page(section["promoted_page_id"])

    def grounding(self, section: Row) -> Row:
        return grounding([section], newest_source(self.rows, section["page_id"]))

    def sources(self, section: Row, **paging: Any) -> Row:
        return self.of(
            (row["source_id"] for row in self.rows.where("section_sources", section_id=section["id"])), paging
        )

    def citations(self, section: Row, **paging: Any) -> Row:
        return self.cited(paging, section_id=section["id"])

    def body_html(self, section: Row) -> str:
        return html(section["body_md"], link_places(self.rows, section["page_id"]))

    def source_count(self, section: Row) -> int:
        cited = {row["source_id"] for row in self.rows.where("section_sources", section_id=section["id"])}
        return len({(row["kind"], row["ref"]) for row in self.rows.tables["sources"] if row["id"] in cited})


class Promotions(Evidence):
    """A promotion: the section that a page was promoted from."""

    def parent_page(self, section: Row) -> Row | None:
        return self.rows.page(section["page_id"])

    def section_heading(self, section: Row) -> str:
        return str(section["heading"])


class Passages(Evidence):
    def source(self, passage: Row) -> Row | None:
        return self.rows.one("sources", id=passage["source_id"])

    def sections(self, passage: Row, **paging: Any) -> Row:
        ids = {
            row["section_id"]
            for row in self.rows.where("section_sources", source_id=passage["source_id"])
            if row["line_start"] is None
            or (row["line_start"] <= passage["line_end"] and row["line_end"] >= passage["line_start"])
        }
        found = [row for row in self.rows.tables["sections"] if row["id"] in ids]
        return Paged(self.rows, found, "page_id", "id").part(**paging)


class Sources(Evidence):
    def owner(self, source: Row) -> Row | None:
        return self.rows.one("owners", id=source["owner_id"])

    def checksum(self, source: Row) -> str:
        return bytes(source["checksum"]).hex()

    def supersedes(self, source: Row) -> Row | None:
        return self.rows.one("sources", id=source["supersedes_id"])

    def superseded_by(self, source: Row) -> Row | None:
        return self.rows.one("sources", supersedes_id=source["id"])

    def citations(self, source: Row, **paging: Any) -> Row:
        return self.cited(paging, source_id=source["id"])

    def citing(self, source: Row, table: str, column: str) -> list[Row]:
        ids = {row[column] for row in self.rows.where("section_sources", source_id=source["id"])}
        return [row for row in self.rows.tables[table] if row["id"] in ids]

    def pages(self, source: Row, **paging: Any) -> Row:
        return Paged(self.rows, self.citing(source, "pages", "page_id"), "title", "id").part(**paging)

    def sections(self, source: Row, **paging: Any) -> Row:
        return Paged(self.rows, self.citing(source, "sections", "section_id"), "page_id", "id").part(**paging)

    def page_count(self, source: Row) -> int:
        return len(self.citing(source, "pages", "page_id"))

    def blast_radius(self, source: Row) -> Row:
        return source

    def original(self, source: Row) -> Row | None:
        return self.rows.one("source_originals", source_id=source["id"])


class Originals:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def sha256(self, original: Row) -> str:
        return bytes(original["hash"]).hex()

    def size(self, original: Row) -> int:
        kept = self.rows.one("blobs", owner_id=original["owner_id"], hash=original["hash"])
        assert kept is not None
        return int(kept["size"])

    def flags(self, original: Row) -> list[Row]:
        return list(original["flags"])


class BlastRadii(Evidence):
    """What depends on a source; the row is that of the source."""

    def versions(self, source: Row) -> set[Any]:
        same = self.rows.where("sources", ref=source["ref"])
        return {row["id"] for row in same if (row["owner_id"], row["kind"]) == (source["owner_id"], source["kind"])}

    def citations(self, source: Row) -> list[Row]:
        return [row for id in self.versions(source) for row in self.rows.where("section_sources", source_id=id)]

    def listed(self, table: str, ids: set[Any], paging: Row, *order: str) -> Row:
        return Paged(self.rows, [row for row in self.rows.tables[table] if row["id"] in ids], *order).part(**paging)

    def sections(self, source: Row, **paging: Any) -> Row:
        ids = {row["section_id"] for row in self.citations(source)}
        return self.listed("sections", ids, paging, "page_id", "id")

    def sole_sections(self, source: Row, **paging: Any) -> Row:
        own, versions = {row["section_id"] for row in self.citations(source)}, self.versions(source)
        cited = {id: {row["source_id"] for row in self.rows.where("section_sources", section_id=id)} for id in own}
        return self.listed("sections", {id for id in own if cited[id] <= versions}, paging, "page_id", "id")

    def pages(self, source: Row, **paging: Any) -> Row:
        return self.listed("pages", {row["page_id"] for row in self.citations(source)}, paging, "title", "id")

    def shown_on(self, source: Row, **paging: Any) -> Row:
        own = {row["page_id"] for row in self.citations(source)}
        linking = {row["from_page_id"] for id in own for row in self.rows.where("links", to_page_id=id)}
        return self.listed("pages", linking - own, paging, "title", "id")

    def names(self, source: Row, **paging: Any) -> Row:
        seen = {row["mention_id"] for id in self.versions(source) for row in self.rows.where("sightings", source_id=id)}
        return self.listed("mentions", seen, paging, "-last_seen_at", "-id")


class Citations(Evidence):
    def quote(self, citation: Row) -> str:
        content, first = self.rows.one("sources", id=citation["source_id"])["content"], citation["line_start"]
        lines = content.split("\n")
        return (content if first is None else "\n".join(lines[first - 1 : citation["line_end"]]))[:600]

    def source(self, citation: Row) -> Row | None:
        return self.rows.one("sources", id=citation["source_id"])

    def section(self, citation: Row) -> Row | None:
        return self.rows.one("sections", id=citation["section_id"])

    def page(self, citation: Row) -> Row | None:
        return self.rows.page(citation["page_id"])


class Claims(Evidence):
    def stated_by(self, claim: Row) -> Row | None:
        return self.rows.one("sources", id=claim["stated_by_id"])

    def overridden_by(self, claim: Row) -> Row | None:
        return self.rows.one("sources", id=claim["overridden_by_id"])

    def page(self, claim: Row) -> Row | None:
        return self.rows.page(claim["page_id"])


class Contradictions(Evidence):
    def older_source(self, row: Row) -> Row | None:
        return self.rows.one("sources", id=row["older_source_id"])

    def newer_source(self, row: Row) -> Row | None:
        return self.rows.one("sources", id=row["newer_source_id"])

    def suggested_resolution(self, row: Row) -> str | None:
        is_contested = row["older_support"] >= 3 > row["newer_support"]
        return None if is_contested or row["older_on"] == row["newer_on"] else "keep_newer"

    def page(self, row: Row) -> Row | None:
        return self.rows.page(row["page_id"])


class Proposals(Evidence):
    """Proposals. Their changes are compared with the texts in the rows."""

    def page(self, row: Row) -> Row | None:
        return self.rows.page(row["page_id"])

    def proposed_body_md(self, row: Row) -> str | None:
        body: str | None = row["proposed_body"]
        return body

    def author_name(self, row: Row) -> str:
        return author_name(self.rows, row["author_id"])

    def decider_name(self, row: Row) -> str | None:
        return None if row["decider_id"] is None else author_name(self.rows, row["decider_id"])

    def is_stale(self, row: Row) -> bool:
        page = self.rows.one("pages", id=row["page_id"])
        return row["base_version"] is not None and page is not None and page["version"] != row["base_version"]

    def base(self, row: Row) -> str | None:
        state = self.rows.one("revisions", page_id=row["page_id"], version=row["base_version"])
        return Revisions(self.rows).body_md(state) if state else None

    def diff(self, row: Row) -> str:
        return unified_diff(self.difference(row), "now", "proposed")

    def word_diff(self, row: Row) -> str:
        return word_diff(self.difference(row))

    def difference(self, row: Row) -> Difference:
        return difference(*("", "") if row["proposed_body"] is None else (self.base(row) or "", row["proposed_body"]))

    def conflicts(self, row: Row) -> list[str]:
        page, base = self.rows.one("pages", id=row["page_id"]), self.base(row)
        if page is None or base is None or row["proposed_body"] is None or row["status"] != "open":
            return []
        return list(merge_texts(base, page["body_md"], row["proposed_body"]).conflicts)


class Questions(Evidence):
    def page(self, row: Row) -> Row | None:
        return self.rows.page(row["page_id"])

    def author_name(self, row: Row) -> str:
        return author_name(self.rows, row["author_id"])


class ShareLinks(Evidence):
    def page(self, row: Row) -> Row | None:
        return self.rows.page(row["page_id"])

    def author_name(self, row: Row) -> str:
        return author_name(self.rows, row["author_id"])

    def is_open(self, row: Row) -> bool:
        return row["withdrawn_at"] is None and row["expires_at"] > datetime.now(UTC)


class Mentions(Evidence):
    def contexts(self, mention: Row, limit: int | None) -> list[Row]:
        kept = [
            {"quote": one["quote"], "source_id": one.get("sourceId"), "at": one.get("at")}
            for one in mention["contexts"]
        ]
        return limited(kept, limit, 5, 5)

    def promoted_page(self, mention: Row, include_archived: bool = False) -> Row | None:
        find = self.rows.page if include_archived else self.rows.active_page
        return find(mention["promoted_page_id"])

    def sources(self, mention: Row, **paging: Any) -> Row:
        return self.of((row["source_id"] for row in self.rows.where("sightings", mention_id=mention["id"])), paging)
