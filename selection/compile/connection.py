"""Compiles Relay connections: one sub-select fetches the page, and aggregates over it are edges, nodes and pageInfo.

    SELECT JSON_OBJECT('edges': json_agg(page.edges) ..., 'pageInfo': ...)
    FROM (SELECT <edge> AS edges, <cursor> AS cursor, row_number() ... FROM rows WHERE beyond(after) LIMIT n + 1) page

Only selected fields have a cost: the extra row is fetched only for hasNextPage, or for hasPreviousPage if the page is
read backwards (`last`), and the count only for totalCount. Rows are numbered only if the extra row has to be left out,
or if the page is read backwards. An edge may have fields of its own from the row. Its node is the row itself, unless
the edge type maps `node` as a Relation.
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
from .parameters import Binds, Getter, check_text


class OrderTerm(NamedTuple):
    """A term of an ORDER BY clause: a sort key of the connection."""

    value: ColumnElement[Any]
    descending: bool

    def order(self, backward: bool) -> ColumnElement[Any]:
        """Return the ORDER BY term, reversed if the page is read backwards."""
        return self.value.desc() if self.descending != backward else self.value.asc()


def order_terms(query: Select[Any]) -> list[OrderTerm]:
    """Return the sort keys of a connection's query. They must not be null, and the last one must be unique."""
    clauses = query._order_by_clauses
    assert clauses, "a connection needs an order"
    return [OrderTerm(getattr(clause, "element", clause), is_descending(clause)) for clause in clauses]


def is_descending(clause: ColumnElement[Any]) -> bool:
    return getattr(clause, "modifier", None) is desc_op


def order_signature(keys: Sequence[OrderTerm]) -> str:
    """Return the order as cursors carry it, like "-hubness_score,id": a cursor is valid for the same order only."""
    return ",".join(f"{'-' if key.descending else ''}{column_name(key)}" for key in keys)


def column_name(key: OrderTerm) -> str:
    name: str = getattr(key.value, "name")  # noqa: B009  mypy knows the columns only
    return name


def encode_cursor(keys: Sequence[OrderTerm], *more: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the cursor of a row in SQL: base64 of a JSON array of the order, the sort keys, and `more` values."""
    values = cast(func.json_build_array(order_signature(keys), *(key.value for key in keys), *more), Text)
    return func.translate(func.encode(func.convert_to(values, "utf8"), "base64"), "\n", "")


def after_cursor(keys: Sequence[OrderTerm], get: Getter, backward: bool, binds: Binds) -> ColumnElement[bool]:
    """Return the condition of rows strictly after the cursor, or strictly before it if `backward`."""
    limits = [binds.add(cursor_value(get, keys, i), key.value.type) for i, key in enumerate(keys)]
    falling = [key.descending != backward for key in keys]
    if len(set(falling)) == 1:
        row, limit = tuple_(*(key.value for key in keys)), tuple_(*limits)
        return row < limit if falling[0] else row > limit
    # The keys have different directions, so a row comparison is impossible. The condition on the first key alone lets
    # Postgres bound the index scan.
    starts = keys[0].value <= limits[0] if falling[0] else keys[0].value >= limits[0]
    steps = [
        key.value < limit if falls else key.value > limit
        for key, limit, falls in zip(keys, limits, falling, strict=True)
    ]
    same = [key.value == limit for key, limit in zip(keys, limits, strict=True)]
    return and_(starts, or_(*(and_(*same[:i], step) for i, step in enumerate(steps))))


def cursor_value(get: Getter, keys: Sequence[OrderTerm], index: int) -> Getter:
    """Return a getter of one sort key's value in a cursor."""
    return lambda request: decode_cursor(get(request), keys)[index]


def cursor_history(get: Getter, keys: Sequence[OrderTerm]) -> Getter:
    """Return a getter of the history in a cursor. It is None for cursors of releases that did not store a history."""
    return lambda request: next(iter(decode_cursor(get(request), keys)[len(keys) :]), None)


def check_cursor(keys: Sequence[OrderTerm], scope: Any, text: str) -> None:
    """Raise BadInput if the cursor is invalid, even where the selection does not need the rows of the page."""
    decode_cursor(text, keys)


READERS: dict[type, Callable[[Any], Any]] = {UUID: UUID, datetime: datetime.fromisoformat}
INT_MAX = 2**31 - 1


def decode_cursor(text: str, keys: Sequence[OrderTerm]) -> list[Any]:
    """Return the values of a cursor: one for each sort key, then the history if the cursor has it. Raises BadInput."""
    try:
        name, *values = json.loads(base64.b64decode(text, validate=True))
        if name != order_signature(keys):
            raise BadInput("This cursor is of another list, or of another order.")
        types = [key.value.type.python_type for key in keys] + [str] * (len(values) == len(keys) + 1)
        return [read_key(type_, value) for type_, value in zip(types, values, strict=True)]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput("This is not a cursor.") from error


def read_key(type_: type, value: Any) -> Any:
    """Return a value of a cursor as a parameter of this type. Raises ValueError if Postgres would not accept it."""
    value = READERS.get(type_, lambda text: text)(value)
    if not isinstance(value, type_) or isinstance(value, bool) != (type_ is bool):
        raise ValueError(value)
    if isinstance(value, int) and abs(value) > INT_MAX:
        raise ValueError(value)
    if isinstance(value, datetime) and (value.tzinfo is None or not 1 < value.year < 9999):
        raise ValueError(value)
    return check_text(value) if isinstance(value, str) else value


if TYPE_CHECKING:
    from .compiler import QueryCompiler

Nodes = list[FieldNode]
PageExpression = Callable[[Subquery], ColumnElement[Any]]
"""A function that returns an expression over the rows of the page, which are a sub-select."""


class ConnectionSelection:
    """Compiles the selection of one connection field."""

    def __init__(self, compiler: "QueryCompiler", query: Select[Any], page: PageArgs) -> None:
        self.compiler = compiler
        self.query = query
        self.page = page
        self.row = query.columns_clause_froms[0]
        self.keys = order_terms(query)
        self.size = compiler.binds.add(page.size, Integer())
        self.history = page.history() if page.history else None
        self.columns: dict[str, ColumnElement[Any]] = {}
        """The columns of the sub-select that the selected fields need."""
        self.extra = 0
        """1 if the sub-select fetches one row more than the page size, to know whether there are more rows."""

    def build(self, type_: GraphQLObjectType, nodes: Nodes) -> ColumnElement[Any]:
        """Return the JSON of the connection."""
        # The fields come first: they add the columns and the extra row that the sub-select has to fetch.
        with self.compiler.cost_of_list(self.page.size):
            expressions = self.fields(type_, nodes, self.field)
        rows = self.rows().subquery()
        json = json_format.json_object({key: expression(rows) for key, expression in expressions.items()})
        connection = select(json).scalar_subquery()
        return connection if self.history is None else self.guard_history(connection, self.history)

    def guard_history(self, connection: ColumnElement[Any], history: ColumnElement[str]) -> ColumnElement[Any]:
        """Return the connection if its cursors have not expired. Otherwise BYTES fail, and VALUES have EXPIRED.

        A cursor has expired if it has another history, or if its first key is greater than that of every row.
        """
        cursors = [get for get in (self.page.after, self.page.before) if get is not None]
        if not cursors:
            return connection
        binds, first = self.compiler.binds, self.keys[0].value
        last = self.query.order_by(None).with_only_columns(func.max(first), maintain_column_froms=True)
        is_valid = and_(
            *(func.coalesce(binds.add(cursor_history(get, self.keys), Text()), history) == history for get in cursors),
            *(
                binds.add(cursor_value(get, self.keys, 0), first.type) <= func.coalesce(last.scalar_subquery(), 0)
                for get in cursors
            ),
        )
        return self.compiler.guard_cursor(is_valid, connection)

    def rows(self) -> Select[Any]:
        """Return the select of the page's rows, in reverse order if the page is read backwards."""
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
        """Return whether the rows have a number, by which they are reversed or the extra row is left out."""
        return self.page.backward or self.extra > 0

    def cursor(self) -> ColumnElement[Any]:
        return encode_cursor(self.keys) if self.history is None else encode_cursor(self.keys, self.history)

    # -- the fields of XConnection, XEdge and PageInfo

    def fields(
        self, type_: GraphQLObjectType, nodes: Nodes, make: Callable[..., PageExpression]
    ) -> dict[str, PageExpression]:
        """Return an expression for each selected field of the type. `make` returns that of a field."""
        expressions = {}
        for key, field_nodes in self.compiler.collector.subfields(type_, nodes).items():
            name = field_nodes[0].name.value
            expressions[key] = constant(type_.name) if name == "__typename" else make(type_, key, name, field_nodes)
        return expressions

    def field(self, type_: GraphQLObjectType, key: str, name: str, nodes: Nodes) -> PageExpression:
        """Return a field of the connection. Raises NotCompilable for a field that connections do not have."""
        inner = get_named_type(type_.fields[name].type)
        match name:
            case "nodes":
                edge = object_type(get_named_type(type_.fields["edges"].type))
                return self.aggregate_items(key, self.node(edge, nodes))
            case "edges":
                return self.aggregate_items(key, self.edge(object_type(inner), nodes))
            case "pageInfo":
                info = self.fields(object_type(inner), nodes, self.page_info)
                return lambda rows: json_format.json_object({key: field(rows) for key, field in info.items()})
            case "totalCount":
                return self.total_count
        raise NotCompilable(f"{type_.name}.{name}")

    def edge(self, type_: GraphQLObjectType, nodes: Nodes) -> ColumnElement[Any]:
        """Return the JSON of an edge."""
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
        """Return the JSON of an edge's node."""
        field = edge.fields["node"]
        match mapping_of(field):
            case Relation() as relation:
                return self.compiler.compile_relation(field, nodes, relation, self.row)
            case _:
                return self.compiler.compile_object(object_type(get_named_type(field.type)), nodes, self.row)

    def page_info(self, type_: GraphQLObjectType, key: str, name: str, nodes: Nodes) -> PageExpression:
        """Return a field of PageInfo. Against the direction of reading, there are more rows if a cursor is given."""
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
        """Return a JSON array of the item of each row."""
        self.columns[f"item_{key}"] = item
        return lambda rows: func.coalesce(self.aggregate(rows, rows.c[f"item_{key}"]), json_format.EMPTY)

    def aggregate(self, rows: Subquery, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return a JSON array of a column in the order of the connection, without the extra row."""
        items: Any = func.json_agg(column)
        if self.page.backward:
            items = items.aggregate_order_by(rows.c.number.desc())
        if self.extra:
            items = items.filter(rows.c.number <= self.size)
        array: ColumnElement[Any] = items
        return array

    @property
    def has_more(self) -> PageExpression:
        """Fetch the extra row, and return whether there is one."""
        self.extra = 1
        return lambda rows: func.count(rows.c.number) > self.size

    @property
    def total_count(self) -> PageExpression:
        """Return the number of all rows, regardless of paging."""
        count = self.query.order_by(None).with_only_columns(func.count(), maintain_column_froms=True)
        return lambda rows: count.scalar_subquery()


def constant(value: str | bool) -> PageExpression:
    return lambda rows: literal(value)
