"""What a document may look like, counted on its syntax tree before anything is planned."""

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
    """At most this much in one document, fragments counted where they are used."""

    tokens: int = 4000
    depth: int = 16
    fields: int = 2000
    aliases: int = 100
    directives: int = 50
    roots: int = 20
    errors: int = 5


@dataclass
class Size:
    """What one selection set amounts to."""

    depth: int = 0
    fields: int = 0
    aliases: int = 0
    directives: int = 0

    def add(self, other: "Size", levels: int = 0) -> None:
        self.depth = max(self.depth, other.depth + levels)
        self.fields += other.fields
        self.aliases += other.aliases
        self.directives += other.directives


class Measure:
    """Sizes of the selection sets of one document; each fragment is measured once. Fragments have no cycles here."""

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
                    size.add(Size(1, 1, int(node.alias is not None)))
                    size.add(self.of(node.selection_set), levels=1)
                case FragmentSpreadNode():
                    size.add(self.fragment(node.name.value))
                case _:
                    size.add(self.of(getattr(node, "selection_set", None)))
        return size

    def fragment(self, name: str) -> Size:
        if name not in self.known:
            self.known[name] = self.of(self.fragments[name].selection_set)
        return self.known[name]


def refusals(document: DocumentNode, operation: OperationDefinitionNode, limits: Limits) -> list[GraphQLError]:
    """Why this operation is not even planned."""
    size = Measure(document).of(operation.selection_set)
    counted = {
        "depth": (size.depth, limits.depth),
        "fields": (size.fields, limits.fields),
        "aliases": (size.aliases, limits.aliases),
        "directives": (size.directives, limits.directives),
        "root fields": (len(operation.selection_set.selections), limits.roots),
    }
    return [
        GraphQLError(f"This operation has {what} {found}; the limit is {most}.", extensions={"code": "LIMIT_EXCEEDED"})
        for what, (found, most) in counted.items()
        if found > most
    ]
