"""Reference resolvers of links of pages, inside a wiki and between spaces."""

from typing import Any

from tests.schema.reference.lists import limited
from tests.schema.reference.rows import Row, Rows


class Links:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def text(self, link: Row) -> str | None:
        """Return the text of the first link target, by name."""
        ends = {"from_page_id": link["from_page_id"], "to_page_id": link["to_page_id"]}
        written = [row for row in self.rows.where("link_targets", **ends) if row["text"] is not None]
        first = next(iter(self.rows.sorted(written, "target")), None)
        return first["text"] if first and link["kind"] == "reference" else None

    def sections(self, link: Row, limit: int | None) -> list[Row]:
        ends = (link["from_page_id"], link["to_page_id"])
        return limited(sections_with(self.rows, *ends) if link["kind"] == "reference" else [], limit, 10, 50)

    def from_page(self, link: Row) -> Row | None:
        return self.rows.page(link["from_page_id"])

    def to_page(self, link: Row) -> Row | None:
        return self.rows.page(link["to_page_id"])


class Backlinks:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def sections(self, edge: Row, limit: int | None) -> list[Row]:
        return limited(sections_with(self.rows, edge["node"]["id"], edge["to_page"]["id"]), limit, 10, 50)


def sections_with(rows: Rows, from_page_id: Any, to_page_id: Any) -> list[Row]:
    """Return the sections of a page whose text links to another page."""
    written = rows.where("link_targets", from_page_id=from_page_id, to_page_id=to_page_id)
    slugs = {slug for row in written for slug in row["section_slugs"] or ()}
    found = [row for row in rows.where("sections", page_id=from_page_id) if row["section_slug"] in slugs]
    return rows.sorted(found, "position")


class SpaceLinks:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def page(self, target: Row) -> Row | None:
        owner, own = self.rows.one("owners", slug=target["space"]), self.rows.one("owners", id=target["owner_id"])
        if owner is None or not self.rows.readable(owner["id"]):
            return None
        if owner["kind"] != "shared" and own and own["kind"] == "shared":
            return None
        named = [
            *((1, row["id"]) for row in self.rows.where("pages", slug=target["slug"])),
            *((2, row["page_id"]) for row in self.rows.where("old_slugs", slug=target["slug"])),
            *((3, row["page_id"]) for row in self.rows.where("aliases", alias=target["alias"])),
        ]
        for _, id in sorted(named):
            page = self.rows.active_page(id)
            if page and page["owner_id"] == owner["id"] and target["type"] in (None, page["type"]):
                return page
        return None


def link_places(rows: Rows, page_id: Any) -> dict[str, list[str | None] | None]:
    """Return by link target the page that it resolves to: type, slug, id, space (None in this wiki) and title."""
    found: dict[str, list[str | None] | None] = {}
    for target in rows.where("link_targets", from_page_id=page_id):
        space = target["space"]
        page = SpaceLinks(rows).page(target) if space else rows.page(target["to_page_id"])
        found[target["target"]] = page and [page["type"], page["slug"], str(page["id"]), space, page["title"]]
    return found


def connected(rows: Rows, id: Any, direction: str = "BOTH") -> list[Row]:
    into = {link["from_page_id"] for link in rows.where("links", to_page_id=id)}
    out = {link["to_page_id"] for link in rows.where("links", from_page_id=id)}
    return rows.active_pages({"INCOMING": into, "OUTGOING": out, "BOTH": into | out}[direction])


def is_of(kinds: list[str] | None, kind: str) -> bool:
    return kinds is None or kind.upper() in kinds
