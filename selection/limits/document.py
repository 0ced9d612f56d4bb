"""Limits on what a document may look like, counted on its syntax tree before anything is planned."""

from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    OperationDefinitionNode,
    SelectionSetNode,
)


@dataclass(frozen=True)
class Limits:
    """The most that one request may have; fragments count wherever they are used."""

    characters: int = 100_000
    tokens: int = 4000
    depth: int = 16
    fields: int = 500
    aliases: int = 100
    directives: int = 50
    roots: int = 20
    errors: int = 5
    answer_errors: int = 20
    variable_values: int = 10_000
    variable_depth: int = 64
    suggestions: bool = True
    """May an error name what the contract has that is spelled alike?"""


@dataclass
class Size:
    """The size of one selection set; `roots` are the fields of its own level."""

    roots: int = 0
    depth: int = 0
    fields: int = 0
    aliases: int = 0
    directives: int = 0

    def add(self, other: "Size") -> None:
        """Add another selection of the same level."""
        self.roots += other.roots
        self.depth = max(self.depth, other.depth)
        self.fields += other.fields
        self.aliases += other.aliases
        self.directives += other.directives

    def add_below(self, other: "Size") -> None:
        """Add the selection of one of its fields."""
        self.add(Size(0, other.depth + 1, other.fields, other.aliases, other.directives))


class Measure:
    """Sizes of the selection sets of a document, which need not be valid yet. Each fragment is measured once."""

    def __init__(self, document: DocumentNode) -> None:
        self.fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self.known: dict[str, Size] = {}

    def of(self, selections: SelectionSetNode | None) -> Size:
        size = Size()
        for node in selections.selections if selections else ():
            size.directives += len(node.directives or ())
            match node:
                case FieldNode():
                    size.add(Size(1, 1, 1, int(node.alias is not None)))
                    size.add_below(self.of(node.selection_set))
                case FragmentSpreadNode():
                    size.add(self.fragment(node.name.value))
                case _:
                    size.add(self.of(getattr(node, "selection_set", None)))
        return size

    def fragment(self, name: str) -> Size:
        """Return the size of a fragment. One that spreads itself, or is not there, is left to validation."""
        if name not in self.known:
            self.known[name] = Size()
            if name in self.fragments:
                self.known[name] = self.of(self.fragments[name].selection_set)
        return self.known[name]


def refusals(document: DocumentNode, limits: Limits) -> list[GraphQLError]:
    """Return why this document is not even validated: that, too, takes time that grows with its size."""
    measure, size = Measure(document), Size()
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            size.add(measure.of(node.selection_set))
    counted = {
        "depth": (size.depth, limits.depth),
        "fields": (size.fields, limits.fields),
        "aliases": (size.aliases, limits.aliases),
        "directives": (size.directives, limits.directives),
        "root fields": (size.roots, limits.roots),
    }
    return [
        GraphQLError(f"This document has {what} {found}; the limit is {most}.", extensions={"code": "LIMIT_EXCEEDED"})
        for what, (found, most) in counted.items()
        if found > most
    ]
