"""Compiles a selection to one SQL expression: objects become JSON_OBJECT, relations become correlated sub-selects."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLOutputType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)
from sqlalchemy import ARRAY, ColumnElement, FromClause, Integer, Select, case, column, func, literal, select

from ..declare import json_format
from ..declare.arguments import PAGING, Argument, PageArgs, bind, length_getter, read_arguments
from ..declare.contract import is_connection, mapping_of, object_type, python_name
from ..declare.mapping import (
    Column,
    Computed,
    ConnectionPart,
    Expression,
    InlineStep,
    OuterRow,
    Paging,
    Relation,
    RequestFacts,
    Source,
    Step,
)
from ..errors import NotCompilable
from ..limits import Cost
from .collect import Collector
from .computed import CALL, Call
from .connection import ConnectionSelection
from .parameters import Binds, Fixed, Getter
from .tenancy import in_tenant


class Mode(Enum):
    """The consumer of a statement's JSON.

    BYTES are sent to the client as Postgres returns them, after computed fields are filled in. A null in a non-null
    field makes the statement fail. VALUES are completed by graphql-core, which reports nulls itself.
    """

    BYTES = "bytes"
    VALUES = "values"


TYPE = "$type"
"""The key that holds the name of the concrete type, in VALUES of an abstract type."""

EXPIRED = "$expired"
"""The key that marks VALUES of a connection whose cursor has expired."""

Pairs = dict[str, ColumnElement[Any]]
"""The values of an object by response key."""
Nodes = list[FieldNode]
Arguments = dict[str, Argument]
Item = Callable[[FromClause], ColumnElement[Any]]
"""A function that returns the JSON of a row."""


class StepUse(NamedTuple):
    """A step in a plan, with its arguments and the names of the fields that are selected below it (`wanted`)."""

    step: Step
    wanted: frozenset[str]
    arguments: Arguments


class QueryCompiler:
    """Compiles one statement.

    The inputs of a computed field are selected with the row: in BYTES as an object under the response key of the field,
    in VALUES under keys like `$name` beside it.
    """

    def __init__(self, collector: Collector, mode: Mode, *, within: bool = False) -> None:
        """Start a statement. If `within`, it finds the rows of its only step itself, by the step's `within`."""
        self.collector = collector
        self.mode = mode
        self.within = within
        self.binds = Binds()
        self.cost = Cost()
        self.steps: list[StepUse] = []
        self.calls: list[Call] = []
        """The computed fields that Python fills in, in BYTES."""
        self.checks: list[tuple[Callable[..., None], Arguments]] = []
        """Checks of each request before any SQL, with their arguments: of access rules and of cursors."""

    # -- objects and their fields

    def compile_root(self, type_: GraphQLObjectType, key: str, nodes: Nodes) -> Pairs:
        """Return a root field: a Source, a RequestFacts object or `__typename`. Raises NotCompilable for any other."""
        name = nodes[0].name.value
        if name == "__typename":
            return {key: literal(type_.name)}
        field = type_.fields.get(name)
        source = mapping_of(field) if field else None
        if field is not None and isinstance(source, RequestFacts):
            return {key: self.known_object(field, nodes, source)}
        if field is None or not isinstance(source, Source):
            raise NotCompilable(name)
        return {key: self.compile_source(field, nodes, source)}

    def compile_object(
        self, type_: GraphQLObjectType, nodes: Nodes, row: FromClause, extra: Pairs | None = None
    ) -> ColumnElement[Any]:
        """Return the JSON of an object of this type from its row. `extra` are values besides the selected fields."""
        pairs: Pairs = dict(extra or {})
        for key, field_nodes in self.collector.subfields(type_, nodes).items():
            pairs |= self.compile_field(type_, key, field_nodes, row)
        return json_format.json_object(pairs)

    def compile_field(self, type_: GraphQLObjectType, key: str, nodes: Nodes, row: FromClause) -> Pairs:
        """Return a field of an object by its response key, or the inputs of a computed field in VALUES."""
        name = nodes[0].name.value
        if name == "__typename":
            return {key: literal(type_.name)}
        field = type_.fields[name]
        match mapping_of(field):
            case Column(column_name):
                return {key: self.compile_leaf(field.type, row.c[column_name or python_name(field)])}
            case Expression(sql):
                return {
                    key: self.compile_leaf(
                        field.type, sql(OuterRow(row), **self.bind_arguments(self.read_arguments(field, nodes)))
                    )
                }
            case Relation() as relation:
                return {key: self.compile_relation(field, nodes, relation, row)}
            case ConnectionPart() if python_name(field) in row.c:
                return {key: self.compile_leaf(field.type, row.c[python_name(field)])}
            case Computed() as computed if self.mode is Mode.VALUES:
                return {computed.key(need): value for need, value in self.compile_needs(computed, row).items()}
            case Computed() as computed if is_leaf_type(get_named_type(field.type)):
                self.calls.append(Call(computed.function, self.read_arguments(field, nodes)))
                number = {CALL: literal(len(self.calls) - 1)}
                return {key: json_format.json_object(number | self.compile_needs(computed, row))}
        raise NotCompilable(f"{type_.name}.{name}")

    def compile_needs(self, computed: Computed, row: FromClause) -> Pairs:
        """Return the expressions of a computed field's inputs, and add its cost."""
        if computed.cost:
            self.cost.add(Fixed(computed.cost))
        return {
            name: row.c[need] if isinstance(need, str) else need(OuterRow(row)) for name, need in computed.needs.items()
        }

    def compile_leaf(self, type_: GraphQLOutputType, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return a scalar or enum value in its JSON format."""
        formatted = json_format.format_value(type_, value)
        return formatted if json_format.is_never_null(value) else self.guard(type_, formatted)

    def guard(self, type_: GraphQLOutputType, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return the value. In BYTES, a null in a non-null field makes the statement fail."""
        return json_format.require_not_null(value) if self.mode is Mode.BYTES and is_non_null_type(type_) else value

    def guard_cursor(self, condition: ColumnElement[bool], value: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return the value if the condition is true. Otherwise BYTES fail, and VALUES are an object with EXPIRED."""
        if self.mode is Mode.BYTES:
            return json_format.require_not_null(case((condition, value)))
        return case((condition, value), else_=json_format.json_object({EXPIRED: literal("cursor")}))

    def known_object(self, field: GraphQLField, nodes: Nodes, known: RequestFacts) -> ColumnElement[Any]:
        """Return an object whose values are parameters, which its step finds. No table is read for them."""
        type_ = object_type(get_named_type(field.type))
        columns = list(known.step.columns)
        step = self.add_step(StepUse(known.step, frozenset(), {}))
        pairs = Pairs()
        for key, field_nodes in self.collector.subfields(type_, nodes).items():
            if (name := field_nodes[0].name.value) == "__typename":
                pairs[key] = literal(type_.name)
                continue
            place = columns.index(python_name(type_.fields[name]))
            value = self.binds.add(step_value_getter(step, place), known.step.columns[columns[place]])
            pairs[key] = self.compile_leaf(type_.fields[name].type, value)
        return json_format.json_object(pairs)

    # -- the rows of relations and sources

    def compile_relation(
        self, field: GraphQLField, nodes: Nodes, relation: Relation, row: FromClause
    ) -> ColumnElement[Any]:
        """Return the JSON of the rows that belong to a row, bound to the tenant."""
        page, arguments = self.split_paging(field, nodes, relation.paging)
        query = in_tenant(relation.query(OuterRow(row), **self.bind_arguments(arguments)))
        return self.compile_rows(field, nodes, query, page)

    def compile_source(self, field: GraphQLField, nodes: Nodes, source: Source) -> ColumnElement[Any]:
        """Return the JSON of a source's rows, bound to the tenant and to what the caller may read."""
        page, arguments = self.split_paging(field, nodes, source.paging)
        access_arguments = {name: arguments.pop(name) for name in source.access.arguments if name in arguments}
        self.checks.append((source.access.check, access_arguments))
        access_parameters = self.bind_arguments(access_arguments)
        if source.step is None:
            owner = {"owner": source.owner(**access_parameters)} if source.owner else {}
            query = source.query(**owner, **self.bind_arguments(arguments))
        else:
            wanted = self.collector.field_names(nodes)
            step_use = StepUse(source.step, wanted, self.read_arguments(field, nodes))
            query = source.query(self.rows_within(step_use) if self.within else self.step_rows(step_use))
        query = in_tenant(query)
        if source.variants is not None:
            return self.compile_rows(
                field, nodes, query, page, partial(self.compile_variant, source, get_named_type(field.type), nodes)
            )
        row = query.columns_clause_froms[0]
        query = query.where(*source.access.criteria(row, **access_parameters))
        return self.compile_rows(field, nodes, query, page)

    def compile_variant(
        self, source: Source, type_: GraphQLNamedType, nodes: Nodes, row: FromClause
    ) -> ColumnElement[Any]:
        """Return the JSON of an abstract type: the object of the first concrete type that has a readable row."""
        objects = []
        for name, variant_query in (source.variants or {}).items():
            concrete = object_type(self.collector.schema.type_map[name])
            query = in_tenant(variant_query(OuterRow(row)))
            variant_row = query.columns_clause_froms[0]
            query = query.where(*source.access.criteria(variant_row))
            type_name: Pairs = {TYPE: literal(name)} if self.mode is Mode.VALUES else {}
            json = self.compile_object(concrete, nodes, variant_row, type_name)
            objects.append(query.with_only_columns(json, maintain_column_froms=True).scalar_subquery())
        return func.coalesce(*objects)

    def compile_rows(
        self, field: GraphQLField, nodes: Nodes, query: Select[Any], page: PageArgs | None, item: Item | None = None
    ) -> ColumnElement[Any]:
        """Return the rows of a query as the field's type says: a connection, a list or one object."""
        type_ = get_named_type(field.type)
        if page is not None and is_connection(type_):
            return ConnectionSelection(self, query, page).build(object_type(type_), nodes)
        if is_list_type(get_nullable_type(field.type)):
            return self.json_array(type_, nodes, query, page, item)
        # An object whose field has the argument `first` contains a list of that size, which counts in the cost.
        with self.cost_of_list(page.size) if page and "first" in field.args else nullcontext():
            return self.guard(field.type, self.json_item(type_, nodes, query, item).scalar_subquery())

    def json_array(
        self, type_: GraphQLNamedType, nodes: Nodes, query: Select[Any], page: PageArgs | None, item: Item | None
    ) -> ColumnElement[Any]:
        """Return the rows of a query as a JSON array, limited to the page size."""
        with self.cost_of_list(page.size, page.per_row) if page else nullcontext():
            item_query = self.json_item(type_, nodes, query, item)
            items = (item_query.limit(self.binds.add(page.size, Integer())) if page else item_query).subquery()
        return select(func.coalesce(func.json_agg(items.c.item), json_format.EMPTY)).scalar_subquery()

    def json_item(self, type_: GraphQLNamedType, nodes: Nodes, query: Select[Any], item: Item | None) -> Select[Any]:
        """Return the query with the one column `item`: the row as JSON, or the first column if the type is a scalar."""
        if item is not None:
            json = item(query.columns_clause_froms[0])
        elif is_leaf_type(type_):
            json = json_format.format_value(type_, query.selected_columns[0])
        else:
            json = self.compile_object(object_type(type_), nodes, query.columns_clause_froms[0])
        return query.with_only_columns(json.label("item"), maintain_column_froms=True)

    # -- arguments, steps and cost

    def split_paging(
        self, field: GraphQLField, nodes: Nodes, paging: Paging | None
    ) -> tuple[PageArgs | None, Arguments]:
        """Return the paging arguments of a field, and its other arguments."""
        arguments = self.read_arguments(field, nodes)
        if paging is None:
            return None, arguments
        page = PageArgs({name: arguments.pop(name) for name in PAGING & arguments.keys()}, paging)
        if paging.each_of is not None:
            page.size = length_getter(arguments[paging.each_of])
        return page, arguments

    def read_arguments(self, field: GraphQLField, nodes: Nodes) -> Arguments:
        return read_arguments(field, nodes[0], self.collector.variables)

    def bind_arguments(self, arguments: Arguments) -> dict[str, Any]:
        return {name: bind(argument, self.binds) for name, argument in arguments.items()}

    def step_rows(self, step_use: StepUse) -> FromClause:
        """Return the rows of a step, in its order: unnest(one array for each column) WITH ORDINALITY."""
        index, types = self.add_step(step_use), step_use.step.columns
        arrays = [self.binds.add(step_column_getter(index, i), ARRAY(type_)) for i, type_ in enumerate(types.values())]
        columns: list[Any] = [column(name, type_) for name, type_ in types.items()]
        rows = func.unnest(*arrays).table_valued(*columns, with_ordinality="ordinality")
        return rows.render_derived()

    def rows_within(self, step_use: StepUse) -> FromClause:
        """Return the rows of a step as a sub-select that finds them (the step's `within`)."""
        self.add_step(step_use)
        return within_of(step_use).rows.subquery()

    def add_step(self, step_use: StepUse) -> int:
        """Add a step and its cost to the plan, and return its index."""
        self.steps.append(step_use)
        if cost := step_use.step.cost:
            self.cost.add(lambda request: cost)
        return len(self.steps) - 1

    @contextmanager
    def cost_of_list(self, size: Getter, per_row: int = 1) -> Iterator[None]:
        """Add a list to the cost. What is compiled inside of the `with` block counts once for each of its items."""
        outer, self.cost = self.cost, self.cost.add(size, per_row)
        yield
        self.cost = outer


def within_of(step_use: StepUse) -> InlineStep:
    assert step_use.step.within is not None
    return step_use.step.within


def is_within(steps: Sequence[StepUse]) -> bool:
    """Return whether the plan has one step whose rows the statement can find itself, with all selected fields."""
    return len(steps) == 1 and all(use.step.within and not use.step.within.lacks & use.wanted for use in steps)


def step_value_getter(step: int, column: int) -> Getter:
    """Return a getter of one value in the only row of a step."""
    return lambda request: request.found[step][0][column]


def step_column_getter(step: int, column: int) -> Getter:
    """Return a getter of the values of one column in all rows of a step."""
    return lambda request: [row[column] for row in request.found[step]]
