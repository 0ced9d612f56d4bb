"""The mappings that a GraphQL field can have. One of these per field drives compiling, resolving and cost."""

from collections.abc import Awaitable, Callable, Collection
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from sqlalchemy import ColumnElement, FromClause, Select, TextualSelect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import TypeEngine


class OuterColumn(ColumnElement[Any]):
    """A column of a row that is seen from inside a sub-select; it brings no FROM with it.

    SQLAlchemy adds every table that a select mentions to its FROM, unless it is told to correlate it; forgetting that
    gives a silent cross join. This column mentions nothing: it is rendered and that is all.
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
    """The columns of an outer row, as `row.c`."""

    def __init__(self, row: FromClause) -> None:
        self._row = row

    def __getattr__(self, name: str) -> OuterColumn:
        return OuterColumn(self._row.c[name])

    def __contains__(self, name: str) -> bool:
        return name in self._row.c


class OuterRow:
    """The row that declarations are given: page.c.id."""

    def __init__(self, row: FromClause) -> None:
        self.c = Columns(row)


Query = Callable[..., Select[Any]]


class Choice(StrEnum):
    """An enum argument whose value shapes the statement (an order, say) instead of being bound to it."""


@dataclass(frozen=True)
class Column:
    """A column of the row: the one of the field's own name, unless another is given."""

    name: str | None = None


@dataclass(frozen=True)
class Part:
    """A part of connections, edges and page info: made by the compiler, or the column of that name."""


@dataclass(frozen=True)
class Expression:
    """sql(row, **arguments) -> a SQL expression over the row."""

    sql: Callable[..., ColumnElement[Any]]


@dataclass(frozen=True)
class Computed:
    """A field computed in Python, plain or async, from what it needs of the row.

    Each need is the name of a column, or sql(row) -> a SQL expression over the row.
    """

    function: Callable[..., Any]
    needs: Table[str, "str | Callable[[OuterRow], ColumnElement[Any]]"] = field(default_factory=dict)
    cost: int = 0
    """In rows, for what takes longer than a row."""

    def key(self, name: str) -> str:
        """Return the response key under which the values carry a need: no name of GraphQL begins so."""
        needed = self.needs[name]
        return f"${needed}" if isinstance(needed, str) else f"${name}"


@dataclass(frozen=True)
class Paging:
    """The size of a list, by default and at most: no list is without one. With `least`, less is lifted to that.

    With `each_of` the list answers an argument of that name item by item, and is as long as it. `per_row` of its items
    cost as much as one row. `history` makes an expression that each cursor of a connection carries, and that must have
    the same value again: of another history nothing can be said behind a cursor, nor behind one that is ahead of it.
    """

    default: int = 20
    most: int = 100
    least: int | None = None
    each_of: str | None = None
    per_row: int = 1
    history: Callable[[], ColumnElement[str]] | None = None


@dataclass(frozen=True)
class Relation:
    """query(row, **arguments) -> a select of the related rows. The field's type says one, many or connection.

    A list without paging is whole: where its rows are made they are made few.
    """

    query: Query
    paging: Paging | None = Paging()


@dataclass(frozen=True)
class Within:
    """The selects by which the statement that shows a step's rows finds them itself.

    know(context, wanted, again, **arguments) -> the parameters of the two selects by their names; None where the step
    is to be run. `rows` has the step's columns and `ordinality`. When `holds` is not true, what was known is so no more
    and is asked `again`, once. What `lacks` names it cannot find: where that is wanted the step is run as ever.
    """

    know: Callable[..., Awaitable[Table[str, Any] | None]]
    rows: TextualSelect
    holds: ColumnElement[bool]
    lacks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Step:
    """run(context, parent, wanted, **arguments) -> tuples, found in Python before the statement that joins them.

    `wanted` are the names of all fields selected anywhere below: what nobody asked for need not be found.
    """

    run: Callable[..., Awaitable[list[tuple[Any, ...]]]]
    columns: Table[str, TypeEngine[Any]]
    cost: int = 0
    """In rows, besides those that are shown."""
    within: Within | None = None


class Access(Protocol):
    """A rule for who may read the rows that a source starts from. The tenant is bound by the compiler in any case."""

    arguments: Collection[str]
    """The field's arguments that say where to look; the source's own query does not get them."""

    def check(self, scope: Any, **given: Any) -> None:
        """Refuse a request by its arguments alone, before any SQL."""

    def criteria(self, row: FromClause, **bound: Any) -> Collection[ColumnElement[bool]]:
        """Return the conditions that hold for each row that may be seen."""


@dataclass(frozen=True)
class Source:
    """The select that a statement starts from: query(**arguments), to which the compiler adds tenant and access.

    With a step the query's first argument is what the step found. A field of an abstract type has variants: for each
    concrete type's name a query(row) that finds it from the source's row; the first that finds one wins, and `access`
    holds for what is found.  A field of the subscription type has `events(context, **arguments)`, which gives a
    EventStream of subscription.py, and a step that finds the one event that the context holds.
    """

    query: Query
    access: Access
    paging: Paging = Paging()
    step: Step | None = None
    variants: Table[str, Callable[[OuterRow], Select[Any]]] | None = None
    events: Callable[..., Awaitable[Any]] | None = None
    owner: Callable[..., ColumnElement[Any] | None] | None = None
    """Of the access's arguments whose rows are meant: the query is given that too, as `owner`."""


@dataclass(frozen=True)
class Known:
    """An object of facts about the request: its step finds one row of them without asking Postgres.

    The fields of its type are not mapped: they are the step's columns.
    """

    step: Step


Mapping = Column | Part | Expression | Computed | Relation | Source | Known
