"""Reference resolvers of the graph of a wiki, whole or around a page."""

from collections.abc import Collection
from uuid import UUID

from tests.schema.reference.links import connected
from tests.schema.reference.lists import limited
from tests.schema.reference.pages import HUBS
from tests.schema.reference.rows import Row, Rows


def edges_among(rows: Rows, ids: Collection[UUID], links: list[Row]) -> list[Row]:
    """Return one edge per directed pair, with the last of its kinds in the alphabet: a reference precedes hierarchy."""
    kinds: dict[tuple[UUID, UUID], list[str]] = {}
    for link in links:
        if link["from_page_id"] in ids and link["to_page_id"] in ids:
            kinds.setdefault((link["from_page_id"], link["to_page_id"]), []).append(link["kind"])
    return [{"source": pair[0], "target": pair[1], "kind": max(kinds[pair])} for pair in sorted(kinds)]


class Graphs:
    """A graph; its row is that of the owner."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def pages(self, owner: Row) -> list[Row]:
        return [page for page in self.rows.where("pages", owner_id=owner["id"]) if page["status"] == "active"]

    def nodes(self, owner: Row, limit: int | None) -> list[Row]:
        return limited(self.rows.sorted(self.pages(owner), *HUBS), limit, 1000, 5000)

    def edges(self, owner: Row, among: int, limit: int | None) -> list[Row]:
        greatest = self.rows.sorted(self.pages(owner), *HUBS)[: max(0, min(among, 5000))]
        ids = {page["id"] for page in greatest}
        return limited(edges_among(self.rows, ids, self.rows.where("links", owner_id=owner["id"])), limit, 2000, 10000)

    def node_count(self, owner: Row) -> int:
        return len(self.pages(owner))

    def types(self, owner: Row) -> list[str]:
        return sorted({page["type"] for page in self.pages(owner)})


class Neighbourhoods:
    """A neighbourhood; its row is that of the page in its middle."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def page(self, page: Row) -> Row:
        return page

    def near(self, page: Row, depth: int) -> dict[UUID, int]:
        """Return how many links away each page is, over active pages only."""
        found, level = {page["id"]: 0}, [page]
        for distance in range(1, min(depth, 3) + 1):
            around = [other for near in level for other in connected(self.rows, near["id"])]
            level = [other for other in around if other["id"] not in found]
            found |= {other["id"]: distance for other in level}
        return found

    def nodes(self, page: Row, depth: int, limit: int | None) -> list[Row]:
        pages = [{**self.rows.where("pages", id=id)[0], "away": away} for id, away in self.near(page, depth).items()]
        return limited(self.rows.sorted(pages, "away", *HUBS), limit, 50, 200)

    def edges(self, page: Row, depth: int, limit: int | None) -> list[Row]:
        ids = {other["id"] for other in self.rows.active_pages(self.near(page, depth))}
        return limited(edges_among(self.rows, ids, self.rows.tables["links"]), limit, 200, 1000)


class Nodes:
    """A page as a node of the graph."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def label(self, page: Row) -> str:
        return str(page["title"])

    def type(self, page: Row) -> str:
        return "page"

    def entity_type(self, page: Row) -> str:
        return str(page["type"])

    def strategy(self, page: Row) -> None:
        return None

    def latest_thread_id(self, page: Row) -> None:
        return None

    def edge_count(self, page: Row) -> int:
        return len(connected(self.rows, page["id"]))


class Edges:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def label(self, edge: Row) -> str:
        return "references"

    def weight(self, edge: Row) -> float:
        return 0.5
