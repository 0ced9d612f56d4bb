"""Limits of documents and variables, and the cost of plans. All are checked before a statement is run."""

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
    """The limits of one request. A fragment counts wherever it is spread."""

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
    """Whether an error message may suggest names of the schema that are spelled alike."""


@dataclass
class Size:
    """The size of a selection set. `roots` is the number of fields on its top level."""

    roots: int = 0
    depth: int = 0
    fields: int = 0
    aliases: int = 0
    directives: int = 0

    def add(self, other: "Size") -> None:
        """Add the size of a selection on the same level."""
        self.roots += other.roots
        self.depth = max(self.depth, other.depth)
        self.fields += other.fields
        self.aliases += other.aliases
        self.directives += other.directives

    def add_below(self, other: "Size") -> None:
        """Add the size of the selection set of one of the fields."""
        self.add(Size(0, other.depth + 1, other.fields, other.aliases, other.directives))


class Measure:
    """Measures the selection sets of a document, which need not be valid. Each fragment is measured once."""

    def __init__(self, document: DocumentNode) -> None:
        self.fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self.fragment_sizes: dict[str, Size] = {}

    def measure_selections(self, selections: SelectionSetNode | None) -> Size:
        """Return the size of a selection set, including its nested selection sets and fragments."""
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
        """Return the size of a fragment: 0 if it is missing or spreads itself, which validation reports."""
        if name not in self.fragment_sizes:
            self.fragment_sizes[name] = Size()
            if name in self.fragments:
                self.fragment_sizes[name] = self.measure_selections(self.fragments[name].selection_set)
        return self.fragment_sizes[name]


def exceeded_limits(document: DocumentNode, limits: Limits) -> list[GraphQLError]:
    """Return an error for each limit that the document exceeds.

    This is checked before validation, because the time of validation grows with the size of the document, too.
    """
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
        GraphQLError(f"This document has {what} {found}; the limit is {limit}.", extensions={"code": "LIMIT_EXCEEDED"})
        for what, (found, limit) in counted.items()
        if found > limit
    ]


SMALL_VALUES, SMALL_TEXT = 1000, 20_000
"""Variables of up to this many values, and characters of text, are coerced in a few milliseconds."""
FLAT_FIELDS = 20
"""An input object with more fields is not measured by `measure_flat`."""


class Extent(NamedTuple):
    """The size of a request's variables."""

    values: int
    """The number of objects, lists and scalars."""
    text: int
    """The number of characters in strings and in names of variables and fields."""

    @property
    def is_large(self) -> bool:
        """Return whether coercing the variables may take longer than a few milliseconds."""
        return self.values > SMALL_VALUES or self.text > SMALL_TEXT


def measure_variables(variables: dict[str, Any], limits: Limits) -> Extent:
    """Return the size of the variables, or raise a GraphQLError if they exceed the limits.

    Measuring stops at the first limit that is exceeded, so it takes no longer for larger variables.
    """
    flat = measure_flat(variables) if len(variables) <= limits.variable_values else None
    if flat is not None and flat.values <= limits.variable_values and limits.variable_depth > 1:
        return flat
    count = text = 0
    level: list[Any] = [variables]
    for _ in range(limits.variable_depth):
        count += sum(map(len, level))
        if count > limits.variable_values:
            raise GraphQLError(f"The variables hold more than {limits.variable_values} values.")
        inside = [value for inner in level for value in values_of(inner)]
        text += sum(len(value) for value in inside if type(value) is str)
        text += sum(len(name) for inner in level if type(inner) is dict for name in inner)
        level = [value for value in inside if type(value) is dict or type(value) is list]
        if not level:
            return Extent(count, text)
    raise GraphQLError(f"The variables are nested more than {limits.variable_depth} levels deep.")


def measure_flat(variables: dict[str, Any]) -> Extent | None:
    """Return the size of variables that are scalars or small objects of scalars, as in most requests, else None."""
    values = text = 0
    for name, value in variables.items():
        kind = type(value)
        if kind is dict:
            if len(value) > FLAT_FIELDS:
                return None
            for field_name, field_value in value.items():
                if type(field_value) is dict or type(field_value) is list:
                    return None
                values += 1
                text += len(field_name) + (len(field_value) if type(field_value) is str else 0)
        elif kind is list:
            return None
        elif kind is str:
            text += len(value)
        values += 1
        text += len(name)
    return Extent(values, text)


def values_of(container: Any) -> Any:
    """Return the values of an object or the items of a list."""
    return container.values() if type(container) is dict else container


OPERATION = 1
"""The cost of an operation in rows, besides its lists."""
MUTATION_FIELD = 10
"""The cost of a field of Mutation in rows: a transaction of about a dozen statements."""


class Cost:
    """The cost of one list of a plan, in rows: its maximum number of items, each with the cost of its nested lists.

    A scalar field costs nothing, because Postgres has read its row already. A computed field or a step that is dearer
    than that costs the number of rows it declares. Of small items that are stored side by side, `per_row` cost as much
    as one row.
    """

    def __init__(self, size: Getter | None = None, per_row: int = 1) -> None:
        """Start a list of `size` items. Without a size it is one item, as the root of a plan is."""
        self.size = Fixed(1) if size is None else size
        self.per_row = per_row
        self.fixed = 0
        """The part of the cost of one item that is the same in every request."""
        self.children: list[Cost] = []
        """The nested lists of one item whose cost is not in `fixed`."""

    def add(self, size: Getter, per_row: int = 1) -> "Cost":
        """Add a list nested in each item, and return its cost."""
        child = Cost(size, per_row)
        self.children.append(child)
        return child

    def total(self, request: Request) -> int:
        """Return the cost of the list in a request: its items and all lists nested in them."""
        size: int = self.size(request)
        return self.rows_of(size) + size * self.item_cost(request)

    def rows_of(self, size: int) -> int:
        """Return the cost of this many items without their nested lists, rounded up to whole rows."""
        return -(-size // self.per_row)

    def item_cost(self, request: Request) -> int:
        """Return the cost of the lists nested in one item."""
        cost = self.fixed
        for child in self.children:
            cost += child.total(request)
        return cost

    def fold(self) -> None:
        """Add up the nested lists of constant size into `fixed`, so that a request need not count them again."""
        children, self.children = self.children, []
        for child in children:
            child.fold()
            if isinstance(child.size, Fixed) and not child.children:
                self.fixed += child.rows_of(child.size.value) + child.size.value * child.fixed
            else:
                self.children.append(child)
