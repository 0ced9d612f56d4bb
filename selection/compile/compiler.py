"""Selections to SQL expressions: objects become JSON_OBJECTs, relations become correlated sub-selects."""

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
    Expression,
    Known,
    OuterRow,
    Paging,
    Part,
    Relation,
    Source,
    Step,
    Within,
)
from ..errors import NotCompilable
from ..limits import Cost
from .collect import Collector
from .computed import CALL, Call
from .connection import ConnectionSelection
from .parameters import Binds, Fixed, Getter
from .tenancy import in_tenant


class Mode(Enum):
    """The use of the JSON: bytes that are sent once the fields of Python are filled in, or values that graphql-core
    completes, which reports nulls itself."""

    BYTES = "bytes"
    VALUES = "values"


TYPE = "$type"
"""The key under which values carry the concrete type of an abstract field."""

EXPIRED = "$expired"
"""The key under which values say that a cursor is of a history that is no more."""

Pairs = dict[str, ColumnElement[Any]]
Nodes = list[FieldNode]
Arguments = dict[str, Argument]
Item = Callable[[FromClause], ColumnElement[Any]]


class StepUse(NamedTuple):
    """One step of a plan: what is wanted of it, and its arguments."""

    step: Step
    wanted: frozenset[str]
    arguments: Arguments


class QueryCompiler:
    """Builds one statement. What a field of Python needs is fetched for it: in bytes under its own key, in values under
    `$name` beside it."""

    def __init__(self, collector: Collector, mode: Mode, *, within: bool = False) -> None:
        """Start a statement; `within`: the only step's rows are found by the statement."""
        self.collector = collector
        self.mode = mode
        self.within = within
        self.binds = Binds()
        self.cost = Cost()
        self.steps: list[StepUse] = []
        self.calls: list[Call] = []
        self.checks: list[tuple[Callable[..., None], Arguments]] = []

    # -- objects and their fields

    def compile_root(self, type_: GraphQLObjectType, key: str, nodes: Nodes) -> Pairs:
        name = nodes[0].name.value
        if name == "__typename":
            return {key: literal(type_.name)}
        field = type_.fields.get(name)
        source = mapping_of(field) if field else None
        if field is not None and isinstance(source, Known):
            return {key: self.known_object(field, nodes, source)}
        if field is None or not isinstance(source, Source):
            raise NotCompilable(name)
        return {key: self.compile_source(field, nodes, source)}

    def compile_object(
        self, type_: GraphQLObjectType, nodes: Nodes, row: FromClause, extra: Pairs | None = None
    ) -> ColumnElement[Any]:
        pairs: Pairs = dict(extra or {})
        for key, field_nodes in self.collector.subfields(type_, nodes).items():
            pairs |= self.compile_field(type_, key, field_nodes, row)
        return json_format.json_object(pairs)

    def compile_field(self, type_: GraphQLObjectType, key: str, nodes: Nodes, row: FromClause) -> Pairs:
        name = nodes[0].name.value
        if name == "__typename":
            return {key: literal(type_.name)}
        field = type_.fields[name]
        match mapping_of(field):
            case Column(own):
                return {key: self.compile_leaf(field.type, row.c[own or python_name(field)])}
            case Expression(sql):
                return {
                    key: self.compile_leaf(
                        field.type, sql(OuterRow(row), **self.bind_arguments(self.read_arguments(field, nodes)))
                    )
                }
            case Relation() as relation:
                return {key: self.compile_relation(field, nodes, relation, row)}
            case Part() if python_name(field) in row.c:
                return {key: self.compile_leaf(field.type, row.c[python_name(field)])}
            case Computed() as computed if self.mode is Mode.VALUES:
                return {computed.key(need): value for need, value in self.compile_needs(computed, row).items()}
            case Computed() as computed if is_leaf_type(get_named_type(field.type)):
                self.calls.append(Call(computed.function, self.read_arguments(field, nodes)))
                number = {CALL: literal(len(self.calls) - 1)}
                return {key: json_format.json_object(number | self.compile_needs(computed, row))}
        raise NotCompilable(f"{type_.name}.{name}")

    def compile_needs(self, computed: Computed, row: FromClause) -> Pairs:
        """Return the expressions that a field of Python needs of the row."""
        if computed.cost:
            self.cost.add(Fixed(computed.cost))
        return {
            name: row.c[needed] if isinstance(needed, str) else needed(OuterRow(row))
            for name, needed in computed.needs.items()
        }

    def compile_leaf(self, type_: GraphQLOutputType, value: ColumnElement[Any]) -> ColumnElement[Any]:
        shown = json_format.format_value(type_, value)
        return shown if json_format.is_never_null(value) else self.guard(type_, shown)

    def guard(self, type_: GraphQLOutputType, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return the value, required in bytes where the schema excludes null."""
        return json_format.require_not_null(value) if self.mode is Mode.BYTES and is_non_null_type(type_) else value

    def guard_cursor(self, condition: ColumnElement[bool], value: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return a value whose cursors are good on a condition: without it bytes fail, and values hold EXPIRED."""
        if self.mode is Mode.BYTES:
            return json_format.require_not_null(case((condition, value)))
        return case((condition, value), else_=json_format.json_object({EXPIRED: literal("cursor")}))

    def known_object(self, field: GraphQLField, nodes: Nodes, known: Known) -> ColumnElement[Any]:
        """Return an object of values that are bound: no table is read for them."""
        type_, columns = object_type(get_named_type(field.type)), list(known.step.columns)
        step, pairs = self.add_step(StepUse(known.step, frozenset(), {})), Pairs()
        for key, field_nodes in self.collector.subfields(type_, nodes).items():
            if (name := field_nodes[0].name.value) == "__typename":
                pairs[key] = literal(type_.name)
                continue
            place = columns.index(python_name(type_.fields[name]))
            value = self.binds.add(step_value_getter(step, place), known.step.columns[columns[place]])
            pairs[key] = self.compile_leaf(type_.fields[name].type, value)
        return json_format.json_object(pairs)

    # -- rows: what a relation or a source selects

    def compile_relation(
        self, field: GraphQLField, nodes: Nodes, relation: Relation, row: FromClause
    ) -> ColumnElement[Any]:
        page, own = self.split_paging(field, nodes, relation.paging)
        query = in_tenant(relation.query(OuterRow(row), **self.bind_arguments(own)))
        return self.compile_rows(field, nodes, query, page)

    def compile_source(self, field: GraphQLField, nodes: Nodes, source: Source) -> ColumnElement[Any]:
        page, own = self.split_paging(field, nodes, source.paging)
        where = {name: own.pop(name) for name in source.access.arguments if name in own}
        self.checks.append((source.access.check, where))
        place = self.bind_arguments(where)
        if source.step is None:
            owner = {"owner": source.owner(**place)} if source.owner else {}
            query = source.query(**owner, **self.bind_arguments(own))
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
        query = query.where(*source.access.criteria(row, **place))
        return self.compile_rows(field, nodes, query, page)

    def compile_variant(
        self, source: Source, type_: GraphQLNamedType, nodes: Nodes, row: FromClause
    ) -> ColumnElement[Any]:
        """Return an abstract type: the first of its concrete types that has such a row."""
        found = []
        for name, find in (source.variants or {}).items():
            concrete = object_type(self.collector.schema.type_map[name])
            query = in_tenant(find(OuterRow(row)))
            own = query.columns_clause_froms[0]
            query = query.where(*source.access.criteria(own))
            kind: Pairs = {TYPE: literal(name)} if self.mode is Mode.VALUES else {}
            shown = self.compile_object(concrete, nodes, own, kind)
            found.append(query.with_only_columns(shown, maintain_column_froms=True).scalar_subquery())
        return func.coalesce(*found)

    def compile_rows(
        self, field: GraphQLField, nodes: Nodes, query: Select[Any], page: PageArgs | None, item: Item | None = None
    ) -> ColumnElement[Any]:
        type_ = get_named_type(field.type)
        if page is not None and is_connection(type_):
            return ConnectionSelection(self, query, page).build(object_type(type_), nodes)
        if is_list_type(get_nullable_type(field.type)):
            return self.json_array(type_, nodes, query, page, item)
        # An object that takes `first` holds a list of that size.
        with self.cost_of_list(page.size) if page and "first" in field.args else nullcontext():
            return self.guard(field.type, self.json_item(type_, nodes, query, item).scalar_subquery())

    def json_array(
        self, type_: GraphQLNamedType, nodes: Nodes, query: Select[Any], page: PageArgs | None, item: Item | None
    ) -> ColumnElement[Any]:
        with self.cost_of_list(page.size, page.per_row) if page else nullcontext():
            shown = self.json_item(type_, nodes, query, item)
            items = (shown.limit(self.binds.add(page.size, Integer())) if page else shown).subquery()
        return select(func.coalesce(func.json_agg(items.c.item), json_format.EMPTY)).scalar_subquery()

    def json_item(self, type_: GraphQLNamedType, nodes: Nodes, query: Select[Any], item: Item | None) -> Select[Any]:
        """Return the query with one column: the row as JSON, or its only column where the type is a scalar."""
        if item is not None:
            shown = item(query.columns_clause_froms[0])
        elif is_leaf_type(type_):
            shown = json_format.format_value(type_, query.selected_columns[0])
        else:
            shown = self.compile_object(object_type(type_), nodes, query.columns_clause_froms[0])
        return query.with_only_columns(shown.label("item"), maintain_column_froms=True)

    # -- arguments, steps and cost

    def split_paging(
        self, field: GraphQLField, nodes: Nodes, paging: Paging | None
    ) -> tuple[PageArgs | None, Arguments]:
        """Return the page that is asked for, and the declaration's own arguments."""
        read = self.read_arguments(field, nodes)
        if paging is None:
            return None, read
        page = PageArgs({name: read.pop(name) for name in PAGING & read.keys()}, paging)
        if paging.each_of is not None:
            page.size = length_getter(read[paging.each_of])
        return page, read

    def read_arguments(self, field: GraphQLField, nodes: Nodes) -> Arguments:
        return read_arguments(field, nodes[0], self.collector.variables)

    def bind_arguments(self, arguments: Arguments) -> dict[str, Any]:
        return {name: bind(argument, self.binds) for name, argument in arguments.items()}

    def step_rows(self, step_use: StepUse) -> FromClause:
        """Return what a step finds, as rows in the order it found them: unnest(arrays) WITH ORDINALITY."""
        index, types = self.add_step(step_use), step_use.step.columns
        arrays = [self.binds.add(step_column_getter(index, i), ARRAY(type_)) for i, type_ in enumerate(types.values())]
        columns: list[Any] = [column(name, type_) for name, type_ in types.items()]
        rows = func.unnest(*arrays).table_valued(*columns, with_ordinality="ordinality")
        return rows.render_derived()

    def rows_within(self, step_use: StepUse) -> FromClause:
        """Return the rows that a step finds, by the step's own select."""
        self.add_step(step_use)
        return within_of(step_use).rows.subquery()

    def add_step(self, step_use: StepUse) -> int:
        """Add a step, and return its place among those of the plan."""
        self.steps.append(step_use)
        if cost := step_use.step.cost:
            self.cost.add(lambda request: cost)
        return len(self.steps) - 1

    @contextmanager
    def cost_of_list(self, size: Getter, per_row: int = 1) -> Iterator[None]:
        outer, self.cost = self.cost, self.cost.add(size, per_row)
        yield
        self.cost = outer


def within_of(step_use: StepUse) -> Within:
    assert step_use.step.within is not None
    return step_use.step.within


def is_within(steps: Sequence[StepUse]) -> bool:
    """Return whether there is one step, and the statement can find all that is wanted of it."""
    return len(steps) == 1 and all(use.step.within and not use.step.within.lacks & use.wanted for use in steps)


def step_value_getter(step: int, column: int) -> Getter:
    return lambda request: request.found[step][0][column]


def step_column_getter(step: int, column: int) -> Getter:
    return lambda request: [row[column] for row in request.found[step]]
