"""The mappings of GraphQL fields to SQL or Python.

Each field of the schema has at most one mapping. The compiler, the resolvers for graphql-core and the cost all use it:

- Column, Expression: a scalar of the parent row, in SQL.
- Computed: a value that a Python function computes from the parent row.
- Relation: rows that belong to the parent row, as a correlated sub-select.
- Source: a field where a statement starts, such as a field of Query. It has the access rules.
- RequestFacts: an object of facts about the request, without a table.
- ConnectionPart: a field of a connection, an edge or PageInfo.

A row is passed to the functions of a mapping as an OuterRow (`row.c.title`), arguments as `declare/arguments.py` says.
"""

from collections.abc import Awaitable, Callable, Collection
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from sqlalchemy import ColumnElement, FromClause, Select, TextualSelect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import TypeEngine


class OuterColumn(ColumnElement[Any]):
    """A column of an outer row inside a correlated sub-select. It does not add its table to the FROM of the sub-select.

    SQLAlchemy adds the table of each column that a select mentions to its FROM clause unless the select is explicitly
    correlated. A forgotten correlation would be a silent cross join. This column hides its table from SQLAlchemy.
    """

    __visit_name__ = "outer_column"
    inherit_cache = False
    _from_objects: list[FromClause] = []  # noqa: RUF012  SQLAlchemy's own name and shape

    def __init__(self, column: ColumnElement[Any]) -> None:
        self.column, self.type = column, column.type


@compiles(OuterColumn)
def render(outer: OuterColumn, compiler: Any, **options: Any) -> str:
    text: str = compiler.process(outer.column, **options)
    return text


class Columns:
    """The columns of an outer row: `row.c`."""

    def __init__(self, row: FromClause) -> None:
        self._row = row

    def __getattr__(self, name: str) -> OuterColumn:
        return OuterColumn(self._row.c[name])

    def __contains__(self, name: str) -> bool:
        return name in self._row.c


class OuterRow:
    """The parent row, as a mapping's function receives it: `page.c.id` is a column of the outer statement."""

    def __init__(self, row: FromClause) -> None:
        self.c = Columns(row)


Query = Callable[..., Select[Any]]


class Choice(StrEnum):
    """An enum argument whose value changes the statement, such as an order, instead of being a bound parameter."""


@dataclass(frozen=True)
class Column:
    """A column of the row. Without a name it is the column that has the name of the field."""

    name: str | None = None


@dataclass(frozen=True)
class ConnectionPart:
    """A field of a connection, an edge or PageInfo: the row's column of that name, or else made by the compiler."""


@dataclass(frozen=True)
class Expression:
    """A SQL expression over the row: `sql(row, **arguments)` returns it."""

    sql: Callable[..., ColumnElement[Any]]


@dataclass(frozen=True)
class Computed:
    """A field whose value a Python function, sync or async, computes from values of the row.

    `needs` are the function's inputs by parameter name: the name of a column, or a function `sql(row)` that returns a
    SQL expression over the row.
    """

    function: Callable[..., Any]
    needs: Table[str, "str | Callable[[OuterRow], ColumnElement[Any]]"] = field(default_factory=dict)
    cost: int = 0
    """The cost of the function in rows, where it takes longer than reading a row."""

    def key(self, name: str) -> str:
        """Return the key of an input in the values that graphql-core completes. No GraphQL name begins with `$`."""
        need = self.needs[name]
        return f"${need}" if isinstance(need, str) else f"${name}"


@dataclass(frozen=True)
class Paging:
    """The bounds of the size of a list or connection."""

    default: int = 20
    """The size if the request gives none."""
    max_limit: int = 100
    """The maximum size; a larger one is reduced to it."""
    min_limit: int | None = None
    """The minimum size; a smaller one is raised to it. Without a minimum, a negative size raises BadInput."""
    each_of: str | None = None
    """The name of a list argument. The field's list then has one item for each item of that argument."""
    per_row: int = 1
    """This many items cost as much as one row."""
    history: Callable[[], ColumnElement[str]] | None = None
    """Returns an expression for the history of the database, which each cursor of a connection carries.

    A cursor has expired if the expression has another value since, as after a restore of a backup. So has a cursor
    whose first key is beyond the last row.
    """


@dataclass(frozen=True)
class Relation:
    """Rows that belong to the row: `query(row, **arguments)` returns a select of them.

    The type of the field decides whether the result is one object, a list or a connection. A list without paging has
    all rows; the code that writes or selects them must bound their number.
    """

    query: Query
    paging: Paging | None = Paging()


@dataclass(frozen=True)
class InlineStep:
    """Selects by which the main statement finds the rows of a step itself, so that the step need not run before it."""

    know: Callable[..., Awaitable[Table[str, Any] | None]]
    """know(context, wanted, again, **arguments) returns the parameters of `rows` and `holds` by name, from a cache.

    It returns None if the step has to run. `again` is true on the second call, after `holds` was not true: the cached
    parameters are out of date then.
    """
    rows: TextualSelect
    """The rows of the step: its columns, and `ordinality` for their order."""
    holds: ColumnElement[bool]
    """A condition that is true if the cached parameters are still valid."""
    lacks: frozenset[str] = frozenset()
    """Names of fields that `rows` cannot provide. If one of them is selected, the step runs."""


@dataclass(frozen=True)
class Step:
    """A Python function that finds rows before the main statement, which joins them. A search is such a step."""

    run: Callable[..., Awaitable[list[tuple[Any, ...]]]]
    """run(context, parent, wanted, **arguments) returns the rows as tuples, in order.

    `wanted` are the names of all fields that are selected at any depth, so that the step can skip unselected values.
    """
    columns: Table[str, TypeEngine[Any]]
    """The names and types of the values in each tuple."""
    cost: int = 0
    """The cost of the step in rows, besides the rows that the response contains."""
    within: InlineStep | None = None


class Access(Protocol):
    """The access rule of a source: which of its rows the caller may read. The compiler binds the tenant in any case."""

    arguments: Collection[str]
    """The field's arguments that the rule reads, such as `owner_id`. The source's query does not receive them."""

    def check(self, scope: Any, **given: Any) -> None:
        """Raise an error if the scope and the argument values alone forbid the request, before any SQL."""

    def criteria(self, row: FromClause, **bound: Any) -> Collection[ColumnElement[bool]]:
        """Return the WHERE conditions of a readable row. `bound` are the arguments as SQL parameters."""


@dataclass(frozen=True)
class Source:
    """A field where a statement starts. The compiler adds the conditions of the tenant and of `access` to its query."""

    query: Query
    """query(**arguments) returns a select of the rows. With a step it receives only the rows of the step."""
    access: Access
    """The rule for the rows of the query, or, with variants, for the row of each variant."""
    paging: Paging = Paging()
    step: Step | None = None
    variants: Table[str, Callable[[OuterRow], Select[Any]]] | None = None
    """For a field of an abstract type: the name of each concrete type, and a query(row) of its row.

    The value is the object of the first type that has a row.
    """
    events: Callable[..., Awaitable[Any]] | None = None
    """For a field of the subscription type: events(context, **arguments) returns an EventStream (subscription.py).

    The step of such a field finds one row: the event in the context.
    """
    owner: Callable[..., ColumnElement[Any] | None] | None = None
    """owner(**the access rule's arguments) returns the owner whose rows are read; the query receives it as `owner`."""


@dataclass(frozen=True)
class RequestFacts:
    """An object of facts about the request. Its step returns one row of them without a query to Postgres.

    The fields of its type have no mapping: each is the step's column of the same name.
    """

    step: Step


Mapping = Column | ConnectionPart | Expression | Computed | Relation | Source | RequestFacts
