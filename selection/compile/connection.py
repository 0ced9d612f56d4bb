"""Relay connections: one sub-select fetches the page, one aggregate over it makes edges, nodes and pageInfo.

    SELECT JSON_OBJECT('edges': json_agg(page.edges) ..., 'pageInfo': ...)
    FROM (SELECT <edge> AS edges, <cursor> AS cursor, row_number() ... FROM rows WHERE beyond(after) LIMIT n + 1) page

Only what is selected is fetched: the extra row for hasNextPage, the count for totalCount; and rows are numbered only
where one of them is left out again, or where they come backwards. An edge may have fields of its own over the row; its
node is the row itself unless the edge type maps `node` as a relation.
"""

import base64
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from graphql import FieldNode, GraphQLObjectType, GraphQLString, get_named_type
from sqlalchemy import ColumnElement, Integer, Select, Subquery, Text, and_, cast, func, literal, or_, select, tuple_
from sqlalchemy.sql.operators import desc_op

from ..declare import json_format
from ..declare.arguments import Argument, PageArgs
from ..declare.contract import mapping_of, object_type
from ..declare.mapping import Relation
from ..errors import BadInput, NotCompilable
from .parameters import Binds, Getter, sendable


class OrderTerm(NamedTuple):
    """One term of an order."""

    value: ColumnElement[Any]
    descending: bool

    def order(self, backward: bool) -> ColumnElement[Any]:
        return self.value.desc() if self.descending != backward else self.value.asc()


def order_terms(query: Select[Any]) -> list[OrderTerm]:
    """Return the ORDER BY of a connection's query: not null, and the last key unique."""
    clauses = query._order_by_clauses
    assert clauses, "a connection needs an order"
    return [OrderTerm(getattr(clause, "element", clause), is_descending(clause)) for clause in clauses]


def is_descending(clause: ColumnElement[Any]) -> bool:
    return getattr(clause, "modifier", None) is desc_op


def order_signature(keys: Sequence[OrderTerm]) -> str:
    """Return the order that a cursor belongs to: "-hubness_score,id"."""
    return ",".join(f"{'-' if key.descending else ''}{column_name(key)}" for key in keys)


def column_name(key: OrderTerm) -> str:
    name: str = getattr(key.value, "name")  # noqa: B009  mypy knows the columns only
    return name


def encode_cursor(keys: Sequence[OrderTerm], *more: ColumnElement[Any]) -> ColumnElement[Any]:
    values = cast(func.json_build_array(order_signature(keys), *(key.value for key in keys), *more), Text)
    return func.translate(func.encode(func.convert_to(values, "utf8"), "base64"), "\n", "")


def after_cursor(keys: Sequence[OrderTerm], get: Getter, backward: bool, binds: Binds) -> ColumnElement[bool]:
    """Return the rows strictly after the cursor, or before it."""
    limits = [binds.add(cursor_value(get, keys, i), key.value.type) for i, key in enumerate(keys)]
    falling = [key.descending != backward for key in keys]
    if len(set(falling)) == 1:
        row, limit = tuple_(*(key.value for key in keys)), tuple_(*limits)
        return row < limit if falling[0] else row > limit
    # Directions differ, so no row comparison is possible; the first key alone still bounds the index scan.
    starts = keys[0].value <= limits[0] if falling[0] else keys[0].value >= limits[0]
    steps = [
        key.value < limit if falls else key.value > limit
        for key, limit, falls in zip(keys, limits, falling, strict=True)
    ]
    same = [key.value == limit for key, limit in zip(keys, limits, strict=True)]
    return and_(starts, or_(*(and_(*same[:i], step) for i, step in enumerate(steps))))


def cursor_value(get: Getter, keys: Sequence[OrderTerm], index: int) -> Getter:
    return lambda request: decode_cursor(get(request), keys)[index]


def cursor_history(get: Getter, keys: Sequence[OrderTerm]) -> Getter:
    """Return a getter of the history that a cursor carries: None of one that was made before cursors carried any."""
    return lambda request: next(iter(decode_cursor(get(request), keys)[len(keys) :]), None)


def check_cursor(keys: Sequence[OrderTerm], scope: Any, text: str) -> None:
    """Refuse a bad one even where nothing of its page is selected."""
    decode_cursor(text, keys)


READERS: dict[type, Callable[[Any], Any]] = {UUID: UUID, datetime: datetime.fromisoformat}
INT_MAX = 2**31 - 1


def decode_cursor(text: str, keys: Sequence[OrderTerm]) -> list[Any]:
    """Return the values of a cursor: one for each key, and behind them the history where the cursor carries that."""
    try:
        name, *values = json.loads(base64.b64decode(text, validate=True))
        if name != order_signature(keys):
            raise BadInput("This cursor is of another list, or of another order.")
        types = [key.value.type.python_type for key in keys] + [str] * (len(values) == len(keys) + 1)
        return [read_key(type_, value) for type_, value in zip(types, values, strict=True)]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput("This is not a cursor.") from error


def read_key(type_: type, value: Any) -> Any:
    value = READERS.get(type_, lambda text: text)(value)
    if not isinstance(value, type_) or isinstance(value, bool) != (type_ is bool):
        raise ValueError(value)
    if isinstance(value, int) and abs(value) > INT_MAX:
        raise ValueError(value)
    if isinstance(value, datetime) and (value.tzinfo is None or not 1 < value.year < 9999):
        raise ValueError(value)
    return sendable(value) if isinstance(value, str) else value


if TYPE_CHECKING:
    from .compiler import QueryCompiler

Nodes = list[FieldNode]
PageExpression = Callable[[Subquery], ColumnElement[Any]]


class ConnectionSelection:
    """One connection of one statement."""

    def __init__(self, compiler: "QueryCompiler", query: Select[Any], page: PageArgs) -> None:
        self.compiler, self.query, self.page = compiler, query, page
        self.row = query.columns_clause_froms[0]
        self.keys = order_terms(query)
        self.size = compiler.binds.add(page.size, Integer())
        self.history = page.history() if page.history else None
        self.columns: dict[str, ColumnElement[Any]] = {}
        self.extra = 0

    def build(self, type_: GraphQLObjectType, nodes: Nodes) -> ColumnElement[Any]:
        with self.compiler.cost_of_list(self.page.size):
            outer = self.fields(type_, nodes, self.field)
        rows = self.rows().subquery()
        shown = select(json_format.json_object({key: make(rows) for key, make in outer.items()})).scalar_subquery()
        return shown if self.history is None else self.guard_history(shown, self.history)

    def guard_history(self, shown: ColumnElement[Any], history: ColumnElement[str]) -> ColumnElement[Any]:
        """Return the page if its cursors are of this history. Otherwise bytes fail, and values say it: EXPIRED."""
        asked = [get for get in (self.page.after, self.page.before) if get is not None]
        if not asked:
            return shown
        binds, first = self.compiler.binds, self.keys[0].value
        last = self.query.order_by(None).with_only_columns(func.max(first), maintain_column_froms=True)
        held = and_(
            *(func.coalesce(binds.add(cursor_history(get, self.keys), Text()), history) == history for get in asked),
            *(
                binds.add(cursor_value(get, self.keys, 0), first.type) <= func.coalesce(last.scalar_subquery(), 0)
                for get in asked
            ),
        )
        return self.compiler.guard_cursor(held, shown)

    def rows(self) -> Select[Any]:
        """Return the page in the direction it is walked."""
        order = [key.order(self.page.backward) for key in self.keys]
        query = self.query
        for get, backward in ((self.page.after, False), (self.page.before, True)):
            if get is not None:
                check = partial(check_cursor, self.keys)
                self.compiler.checks.append((check, {"text": Argument(GraphQLString, None, get)}))
                query = query.where(after_cursor(self.keys, get, backward, self.compiler.binds))
        columns = [column.label(name) for name, column in self.columns.items()]
        if self.is_numbered:
            columns.append(func.row_number().over(order_by=order).label("number"))
        page: Select[Any] = query.with_only_columns(*columns, maintain_column_froms=True)
        return page.order_by(None).order_by(*order).limit(self.size + self.extra if self.extra else self.size)

    @property
    def is_numbered(self) -> bool:
        return self.page.backward or self.extra > 0

    def cursor(self) -> ColumnElement[Any]:
        return encode_cursor(self.keys) if self.history is None else encode_cursor(self.keys, self.history)

    # -- the fields of XConnection, XEdge and PageInfo

    def fields(
        self, type_: GraphQLObjectType, nodes: Nodes, make: Callable[..., PageExpression]
    ) -> dict[str, PageExpression]:
        expressions = {}
        for key, field_nodes in self.compiler.collector.subfields(type_, nodes).items():
            name = field_nodes[0].name.value
            expressions[key] = constant(type_.name) if name == "__typename" else make(type_, key, name, field_nodes)
        return expressions

    def field(self, type_: GraphQLObjectType, key: str, name: str, nodes: Nodes) -> PageExpression:
        inner = get_named_type(type_.fields[name].type)
        match name:
            case "nodes":
                edge = object_type(get_named_type(type_.fields["edges"].type))
                return self.aggregate_items(key, self.node(edge, nodes))
            case "edges":
                return self.aggregate_items(key, self.edge(object_type(inner), nodes))
            case "pageInfo":
                info = self.fields(object_type(inner), nodes, self.page_info)
                return lambda rows: json_format.json_object({key: make(rows) for key, make in info.items()})
            case "totalCount":
                return self.total_count
        raise NotCompilable(f"{type_.name}.{name}")

    def edge(self, type_: GraphQLObjectType, nodes: Nodes) -> ColumnElement[Any]:
        pairs: dict[str, ColumnElement[Any]] = {}
        for key, field_nodes in self.compiler.collector.subfields(type_, nodes).items():
            match field_nodes[0].name.value:
                case "cursor":
                    pairs[key] = self.cursor()
                case "node":
                    pairs[key] = self.node(type_, field_nodes)
                case _:
                    pairs |= self.compiler.compile_field(type_, key, field_nodes, self.row)
        return json_format.json_object(pairs)

    def node(self, edge: GraphQLObjectType, nodes: Nodes) -> ColumnElement[Any]:
        field = edge.fields["node"]
        match mapping_of(field):
            case Relation() as relation:
                return self.compiler.compile_relation(field, nodes, relation, self.row)
            case _:
                return self.compiler.compile_object(object_type(get_named_type(field.type)), nodes, self.row)

    def page_info(self, type_: GraphQLObjectType, key: str, name: str, nodes: Nodes) -> PageExpression:
        match name:
            case "startCursor" | "endCursor":
                self.columns["cursor"] = self.cursor()
                at = 0 if name == "startCursor" else -1
                return lambda rows: self.aggregate(rows, rows.c.cursor).op("->>")(at)
            case "hasNextPage" if not self.page.backward:
                return self.has_more
            case "hasPreviousPage" if self.page.backward:
                return self.has_more
            case "hasNextPage":
                return constant(self.page.before is not None)
            case "hasPreviousPage":
                return constant(self.page.after is not None)
        raise NotCompilable(f"{type_.name}.{name}")

    # -- aggregates over the page

    def aggregate_items(self, key: str, item: ColumnElement[Any]) -> PageExpression:
        self.columns[f"item_{key}"] = item
        return lambda rows: func.coalesce(self.aggregate(rows, rows.c[f"item_{key}"]), json_format.EMPTY)

    def aggregate(self, rows: Subquery, column: ColumnElement[Any]) -> ColumnElement[Any]:
        items: Any = func.json_agg(column)
        if self.page.backward:
            items = items.aggregate_order_by(rows.c.number.desc())
        if self.extra:
            items = items.filter(rows.c.number <= self.size)
        found: ColumnElement[Any] = items
        return found

    @property
    def has_more(self) -> PageExpression:
        self.extra = 1
        return lambda rows: func.count(rows.c.number) > self.size

    @property
    def total_count(self) -> PageExpression:
        counted = self.query.order_by(None).with_only_columns(func.count(), maintain_column_froms=True)
        return lambda rows: counted.scalar_subquery()


def constant(value: str | bool) -> PageExpression:
    return lambda rows: literal(value)
