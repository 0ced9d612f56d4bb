"""Declare fields of the schema with column, expression, computed, relation, whole and source.

Each function makes a Strawberry field with its mapping to SQL. A `relation` or `source` without arguments is assigned
to a field. With arguments, it decorates a signature, which Strawberry reads but never calls.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Generic, TypeVar

import strawberry
from strawberry.annotation import StrawberryAnnotation
from strawberry.types.arguments import StrawberryArgument
from strawberry.types.base import StrawberryList, StrawberryOptional, has_object_definition
from strawberry.types.field import StrawberryField
from strawberry.types.fields.resolver import StrawberryResolver
from strawberry.types.lazy_type import LazyType

import selection
from db import relations
from db.access import BY_ID, IN_OWNER
from selection.declare.contract import METADATA

OwnerName = Annotated[
    str | None,
    strawberry.argument(description="Slug or id of the owner of the wiki. Defaults to the caller's own wiki."),
]
OlderOwner = Annotated[strawberry.ID | None, strawberry.argument(deprecation_reason="Use owner.")]


class MappedField(StrawberryField):
    """A field with a mapping. A list gets the argument `limit`, and a connection the four arguments of Relay.

    The field is not an argument of its type's constructor: a payload is made from its private fields.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.init = self.repr = self.compare = False

    @property
    def arguments(self) -> list[StrawberryArgument]:
        return [*super().arguments, *paging_arguments(self)]

    @arguments.setter
    def arguments(self, value: list[StrawberryArgument]) -> None:
        self._arguments = value


SIZES = {
    "first": "Number of items from the start, 100 at most.",
    "after": "Return items after this cursor.",
    "last": "Number of items from the end, 100 at most.",
    "before": "Return items before this cursor.",
}


def paging_arguments(field: StrawberryField) -> Iterable[StrawberryArgument]:
    """Yield the arguments for the size and the position of a list or a connection."""
    mapping = field.metadata[METADATA]
    if not isinstance(mapping, selection.Relation | selection.Source) or mapping.paging is None:
        return
    if mapping.paging.each_of is not None:
        return
    if is_list(field.type):
        about = f"Maximum number of items, {mapping.paging.max_limit} at most."
        yield argument("limit", int | None, mapping.paging.default, about)
    elif is_connection(field.type):
        for name, about in SIZES.items():
            yield argument(name, (int if name in ("first", "last") else str) | None, None, about)


def is_list(type_: Any) -> bool:
    return isinstance(type_.of_type if isinstance(type_, StrawberryOptional) else type_, StrawberryList)


def is_connection(type_: Any) -> bool:
    if isinstance(type_, LazyType):
        type_ = type_.resolve_type()
    info = type_.__strawberry_definition__.get_field("page_info") if has_object_definition(type_) else None
    return info is not None and isinstance(info.metadata.get(METADATA), selection.ConnectionPart)


def argument(name: str, type_: Any, default: Any, description: str) -> StrawberryArgument:
    return StrawberryArgument(name, None, StrawberryAnnotation(type_), default=default, description=description)


def mapped_field(mapping: Any, **options: Any) -> Any:
    return MappedField(metadata={METADATA: mapping}, **options)


def column(description: str, name: str | None = None, **options: Any) -> Any:
    """Declare a column of the row. `name` is its name if it differs from that of the field."""
    return mapped_field(selection.Column(name), description=description, **options)


def part(description: str) -> Any:
    """Declare a part of a connection, which the compiler makes itself or finds as a column of that name."""
    return mapped_field(selection.ConnectionPart(), description=description)


def expression(sql: Callable[..., Any], description: str, **options: Any) -> Any:
    """Declare a SQL expression over the row."""
    return mapped_field(selection.Expression(sql), description=description, **options)


def relation(
    query: Callable[..., Any],
    description: str,
    *,
    limit: int = 20,
    max_limit: int = 100,
    per_row: int = 1,
    **options: Any,
) -> Any:
    """Declare rows that belong to the row.

    `limit` is the default number of rows. `per_row` of them cost as much as one row of another list.
    """
    paging = selection.Paging(limit, max_limit, per_row=per_row)
    return mapped_field(selection.Relation(query, paging), description=description, **options)


def whole(query: Callable[..., Any], description: str, **options: Any) -> Any:
    """Declare all rows that belong to the row. Their number is limited where they are written or found."""
    return mapped_field(selection.Relation(query, paging=None), description=description, **options)


def source(
    query: Callable[..., Any],
    description: str,
    *,
    access: selection.Access = IN_OWNER,
    limit: int = 20,
    max_limit: int = 100,
    min_limit: int | None = None,
    each_of: str | None = None,
    step: selection.Step | None = None,
    variants: Mapping[str, Callable[..., Any]] | None = None,
    events: Callable[..., Any] | None = None,
    owner: Callable[..., Any] | None = None,
    history: Callable[[], Any] | None = None,
    **options: Any,
) -> Any:
    """Declare a field at which a statement starts, such as a field of Query or of a payload.

    `limit` is the default number of rows of a list.
    """
    paging = selection.Paging(limit, max_limit, min_limit, each_of, history=history)
    mapping = selection.Source(query, access, paging, step, variants, events, owner)
    return mapped_field(mapping, description=description, **options)


def known_object(step: selection.Step, description: str) -> Any:
    """Declare an object with facts about the request, which are known without a query to Postgres."""
    return mapped_field(selection.RequestFacts(step), description=description)


def computed(
    description: str, *, cost: int = 0, **needs: str | Callable[..., Any]
) -> Callable[[Callable[..., Any]], Any]:
    """Declare a field that a Python function computes: `@computed("…", body="body_md")`.

    The parameters of the function are columns or expressions, as `needs` says, and the arguments of the field.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        resolver: StrawberryResolver[Any] = StrawberryResolver(function)
        resolver.arguments = [argument for argument in resolver.arguments if argument.python_name not in needs]
        mapping = selection.Computed(function, needs, cost)
        return mapped_field(mapping, base_resolver=resolver, description=description)

    return decorate


T = TypeVar("T")


@strawberry.type(description="Position of a page in a list.")
class PageInfo:
    has_next_page: bool = part("Whether there are more items after this page.")
    has_previous_page: bool = part("Whether there are more items before this page.")
    start_cursor: str | None = part("The cursor of the first item.")
    end_cursor: str | None = part("Cursor of the last item. Pass it as `after` to get the next page.")


@strawberry.type(description="An item of a list with its cursor.")
class Edge(Generic[T]):
    cursor: str = part("Cursor of the item in this list and order.")
    node: T = part("The item.")


@strawberry.type(description="One page of a list. Cursors remain valid while the list changes.")
class Connection(Generic[T]):
    edges: list[Edge[T]] = part("The items with their cursors.")
    nodes: list[T] = part("The items without their cursors.")
    page_info: PageInfo = part("Position of this page in the list.")
    total_count: int = part("Number of items in the whole list. It is counted only if it is selected.")


@strawberry.interface(name="Node", description="An object with an id.")
class Node:
    id: strawberry.ID = column("Id of the object, unique in the tenant: a UUID of version 7.")


@strawberry.type
class NodeQueries:
    @source(relations.pages.one, "The object with this id, or null.", access=BY_ID, variants=relations.pages.VARIANTS)
    def node(id: strawberry.ID) -> Node | None: ...

    @source(
        relations.pages.pages_by_id,
        "The objects with these ids, in the same order. Null if there is none. 100 at most.",
        access=BY_ID,
        variants=relations.pages.VARIANTS,
        limit=100,
    )
    def nodes(ids: list[strawberry.ID]) -> list[Node | None]: ...
