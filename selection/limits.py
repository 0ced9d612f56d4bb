"""Limits of documents, variables and cost, measured before anything is planned or run."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    OperationDefinitionNode,
    SelectionSetNode,
)

from .compile.parameters import Fixed, Getter, Request


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
        self.fragment_sizes: dict[str, Size] = {}

    def measure_selections(self, selections: SelectionSetNode | None) -> Size:
        size = Size()
        for node in selections.selections if selections else ():
            size.directives += len(node.directives or ())
            match node:
                case FieldNode():
                    size.add(Size(1, 1, 1, int(node.alias is not None)))
                    size.add_below(self.measure_selections(node.selection_set))
                case FragmentSpreadNode():
                    size.add(self.fragment(node.name.value))
                case _:
                    size.add(self.measure_selections(getattr(node, "selection_set", None)))
        return size

    def fragment(self, name: str) -> Size:
        """Return the size of a fragment. One that spreads itself, or is not there, is left to validation."""
        if name not in self.fragment_sizes:
            self.fragment_sizes[name] = Size()
            if name in self.fragments:
                self.fragment_sizes[name] = self.measure_selections(self.fragments[name].selection_set)
        return self.fragment_sizes[name]


def exceeded_limits(document: DocumentNode, limits: Limits) -> list[GraphQLError]:
    """Return why this document is not even validated: that, too, takes time that grows with its size."""
    measure, size = Measure(document), Size()
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            size.add(measure.measure_selections(node.selection_set))
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


SMALL_VALUES, SMALL_TEXT = 1000, 20_000
"""So many values, and characters, are coerced in a few milliseconds."""
FLAT_FIELDS = 20


class Extent(NamedTuple):
    """The size of variables: each object, list and scalar is a value; names of fields count as text."""

    values: int
    text: int

    @property
    def is_large(self) -> bool:
        return self.values > SMALL_VALUES or self.text > SMALL_TEXT


def measure_variables(variables: dict[str, Any], limits: Limits) -> Extent:
    """Return how much there is, or raise a GraphQLError: it looks no further than the limits go, whatever is beyond."""
    near = measure_flat(variables) if len(variables) <= limits.variable_values else None
    if near is not None and near.values <= limits.variable_values and limits.variable_depth > 1:
        return near
    found = text = 0
    level: list[Any] = [variables]
    for _ in range(limits.variable_depth):
        found += sum(map(len, level))
        if found > limits.variable_values:
            raise GraphQLError(f"The variables hold more than {limits.variable_values} values.")
        inside = [value for inner in level for value in values_of(inner)]
        text += sum(len(value) for value in inside if type(value) is str)
        text += sum(len(name) for inner in level if type(inner) is dict for name in inner)
        level = [value for value in inside if type(value) is dict or type(value) is list]
        if not level:
            return Extent(found, text)
    raise GraphQLError(f"The variables are nested more than {limits.variable_depth} levels deep.")


def measure_flat(variables: dict[str, Any]) -> Extent | None:
    """Return the extent where no variable holds more than a few scalars, as in most requests; None where one does."""
    values = text = 0
    for name, value in variables.items():
        kind = type(value)
        if kind is dict:
            if len(value) > FLAT_FIELDS:
                return None
            for inner, one in value.items():
                if type(one) is dict or type(one) is list:
                    return None
                values += 1
                text += len(inner) + (len(one) if type(one) is str else 0)
        elif kind is list:
            return None
        elif kind is str:
            text += len(value)
        values += 1
        text += len(name)
    return Extent(values, text)


def values_of(inner: Any) -> Any:
    return inner.values() if type(inner) is dict else inner


OPERATION = 1
MUTATION_FIELD = 10
"""A field of Mutation: a transaction of a dozen statements."""


class Cost:
    """The cost of one list of a plan, in rows: those it may return at most, multiplied by the lists in its items.

    Fields weigh nothing: Postgres makes them of rows that it has read, and a document holds few. What is dearer than
    its rows weighs as many as it is worth. Small items that Postgres finds side by side weigh less: `per_row` of them
    make one.
    """

    def __init__(self, size: Getter | None = None, per_row: int = 1) -> None:
        """Start a list; `fixed` counts what is in one of its items in every request."""
        self.size = Fixed(1) if size is None else size
        self.per_row = per_row
        self.fixed = 0
        self.children: list[Cost] = []

    def add(self, size: Getter, per_row: int = 1) -> "Cost":
        child = Cost(size, per_row)
        self.children.append(child)
        return child

    def total(self, request: Request) -> int:
        size: int = self.size(request)
        return self.rows_of(size) + size * self.item_cost(request)

    def rows_of(self, size: int) -> int:
        """Return how many rows so many of its items weigh, without what is in them; a part of a row counts as one."""
        return -(-size // self.per_row)

    def item_cost(self, request: Request) -> int:
        """Return the weight of what one of its items holds."""
        held = self.fixed
        for child in self.children:
            held += child.total(request)
        return held

    def fold(self) -> None:
        """Count once what is the same in every request."""
        below, self.children = self.children, []
        for child in below:
            child.fold()
            if isinstance(child.size, Fixed) and not child.children:
                self.fixed += child.rows_of(child.size.value) + child.size.value * child.fixed
            else:
                self.children.append(child)
