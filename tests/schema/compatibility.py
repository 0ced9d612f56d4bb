"""`make schema-check`: which changes clients of the released contract would notice in the current one.

Breaking changes fail, dangerous ones are listed, safe ones are counted. Fields that the released contract deprecates
may be removed.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

from graphql import (
    REMOVE,
    BreakingChange,
    DangerousChange,
    DocumentNode,
    Node,
    Visitor,
    build_ast_schema,
    find_schema_changes,
    parse,
    visit,
)

from schema.root import sdl

RELEASED = Path(__file__).parents[2] / "schema" / "released.graphql"
Place = tuple[str, ...]


class Changes(NamedTuple):
    """Descriptions of the changes, each with its place; safe changes are only counted."""

    breaking: list[str]
    dangerous: list[str]
    safe: int


def compare(released: str, current: str) -> Changes:
    """Compare two contracts in SDL."""
    before, now = parse(released), parse(current)
    found = find_schema_changes(build_ast_schema(without_announced_removals(before, now)), build_ast_schema(now))
    breaking = [change.description for change in found if isinstance(change, BreakingChange)]
    dangerous = [change.description for change in found if isinstance(change, DangerousChange)]
    return Changes(breaking, dangerous, len(found) - len(breaking) - len(dangerous))


def without_announced_removals(before: DocumentNode, now: DocumentNode) -> DocumentNode:
    """Return the released contract without removed fields that it deprecates: their removal was announced."""
    places = Places()
    visit(now, places)
    trimmed: DocumentNode = visit(before, Trimmed(places.found))
    return trimmed


def place(node: Node, ancestors: Any) -> Place:
    """Return the names of type, field and argument down to the node."""
    return tuple(one.name.value for one in (*ancestors, node) if getattr(one, "name", None))


class Places(Visitor):
    """Collects everything that a contract defines."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[Place] = set()

    def enter(self, node: Node, _key: Any, _parent: Any, _path: Any, ancestors: Any) -> None:
        if node.kind.endswith("_definition"):
            self.found.add(place(node, ancestors))


class Trimmed(Visitor):
    """Removes definitions that are deprecated and not among the places of the current contract."""

    def __init__(self, left: set[Place]) -> None:
        super().__init__()
        self.left = left

    def enter(self, node: Node, _key: Any, _parent: Any, _path: Any, ancestors: Any) -> Any:
        marks = {directive.name.value for directive in getattr(node, "directives", None) or ()}
        is_gone = "deprecated" in marks and place(node, ancestors) not in self.left
        return REMOVE if is_gone else None


def main() -> None:
    changes = compare(RELEASED.read_text(), sdl())
    for kind in ("breaking", "dangerous"):
        for description in getattr(changes, kind):
            print(f"{kind:10} {description}")
    print(f"{len(changes.breaking)} breaking, {len(changes.dangerous)} dangerous and {changes.safe} safe changes")
    sys.exit(1 if changes.breaking else 0)


if __name__ == "__main__":
    main()
