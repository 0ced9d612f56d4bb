"""Converts the responses of all servers to one shape and compares them."""

from collections.abc import Callable, Mapping
from typing import Any

UNWRAPPED = {"wikiSearch", "sections", "aliases", "children", "nodes", "edges"}
"""Fields that are plain lists in Cairn, and connections with `nodes` in PostGraphile."""

Data = Mapping[str, Any]


class Unequal(Exception):
    """The responses of two servers differ. The message shows both."""


def from_cairn(document: str, data: Data) -> Data:
    return data


def from_baseline(document: str, data: Data) -> Data:
    """Wrap the page that the baseline returns after a write in a payload, as a mutation returns it."""
    return {f"{document}WikiPages": {"page": data}} if document in ("link", "unlink") else data


def from_postgraphile(document: str, data: Data) -> Data:
    found: dict[str, Any] = simplify(data)
    if around := found.get("wikiNeighbourhood"):
        page = {name: around.pop(name) for name in ("id", "title")}
        found["wikiNeighbourhood"] = {"page": page, **around}
    return found


def simplify(value: Any) -> Any:
    """Return the value with connections as plain lists, aliases as strings, and kinds in upper case as in enums."""
    if isinstance(value, list):
        return [simplify(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: simplify(unwrap(key, item)) for key, item in value.items()}
    if "aliases" in found:
        found["aliases"] = [item["alias"] for item in found["aliases"]]
    if "kind" in found:
        found["kind"] = found["kind"].upper()
    return found


def unwrap(key: str, value: Any) -> Any:
    return value["nodes"] if key in UNWRAPPED and isinstance(value, dict) else value


SHAPES: Mapping[str, Callable[[str, Data], Data]] = {
    "cairn": from_cairn, "baseline": from_baseline, "strawberry": from_cairn, "postgraphile": from_postgraphile,
}  # fmt: skip


def compare(server: str, document: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    """Raise Unequal unless the server's response equals Cairn's."""
    for name, answer in ((server, theirs), ("cairn", ours)):
        if "errors" in answer:
            raise Unequal(f"{document}: {name} answers with errors: {answer['errors']}")
    their, our = SHAPES[server](document, theirs["data"]), SHAPES["cairn"](document, ours["data"])
    if their != our:
        raise Unequal(f"{document}: {server} and cairn differ.\n{server}: {their}\ncairn: {our}")
