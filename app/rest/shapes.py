"""What the engine read, in the shapes of this door."""

from typing import Any

Row = dict[str, Any]


def named(row: Row) -> Row:
    """The closed sets are in small letters here."""
    return row | {name: row[name].lower() for name in ("type", "status", "kind", "author_type") if row.get(name)}


def page(row: Row) -> Row:
    linked = row.pop("links")["nodes"]
    broken = row.pop("broken")["nodes"]
    first, last = row.pop("first"), row.pop("last")["nodes"]
    state = row.pop("state", None) or {}
    known = {name: value for name, value in state.items() if value is not None or name == "summary"}
    shown = named(row | known)
    shown["merged_into"] = row["merged_into"] and named(row["merged_into"])
    shown["related"] = [link["page"]["slug"] for link in linked if link["reasons"] != ["text"]]
    shown["links"] = [whole_link(link["page"]) for link in linked] + [broken_link(link) for link in broken]
    shown["created_by"] = first["by"]
    shown["updated_by"] = state.get("updated_by") or last[0]["by"]
    return shown


def whole_link(other: Row) -> Row:
    return named(other) | {"broken": False}


def broken_link(target: Row) -> Row:
    return named(target) | {"broken": True}


def change(row: Row) -> Row:
    return named(row) | {"state": row["state"].lower(), "page": row["page"] and named(row["page"])}


def hit(edge: Row) -> Row:
    found = edge.pop("node")
    return named(found) | edge


def source(row: Row) -> Row:
    citing = row.pop("pages")["nodes"]
    return named(row) | {"cited_by": [named(page) for page in citing]}


def listed(found: Row, items: list[Row], **more: Any) -> Row:
    at = found["pageInfo"]
    return {"items": items, "next": at["endCursor"] if at["hasNextPage"] else None, **more}
