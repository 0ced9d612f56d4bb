"""Finds which tables of a statement are bound to the tenant, level by level.

A level is one SELECT, INSERT, UPDATE or DELETE without the queries inside it. A table in it is bound if the level makes
its tenant_id equal to a parameter, directly or through other tables of its own or of an enclosing level.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sqlglot import exp

LEVELS = (exp.Select, exp.Insert, exp.Update, exp.Delete)
SOURCES = (exp.Table, exp.Subquery, exp.Lateral, exp.Unnest, exp.Values)
TENANT = "tenant_id"


class Equality(NamedTuple):
    """Two sides that a level makes equal: an alias stands for its tenant_id, `$1` for a parameter.

    `narrowed` contains the aliases whose rows the equality restricts; None means all of them.
    """

    left: str
    right: str
    narrowed: frozenset[str] | None = None


class Level(NamedTuple):
    """One level. `parts` are its own nodes, `tables` the stored tables that it reads by alias, `bound` the parameter of
    each alias.

    `target` is the stored table that it inserts into, or an empty text.
    """

    query: exp.Expr
    parts: list[exp.Expr]
    target: str
    tables: Mapping[str, str]
    bound: Mapping[str, str]

    @property
    def unbound(self) -> list[tuple[str, str]]:
        return [(table, alias) for alias, table in self.tables.items() if alias not in self.bound]


def levels(query: exp.Expr, stored: frozenset[str], outer: Mapping[str, str] | None = None) -> Iterator[Level]:
    """Yield every level of a tree or UNION, outermost first. `outer` has the bindings of enclosing levels."""
    seen = outer or {}
    parts = list(query.walk(prune=lambda node: node is not query and isinstance(node, LEVELS)))
    tables = stored_tables(query, parts, stored)
    target = next((part.name.lower() for part in parts if is_target(part, query) and part.name.lower() in stored), "")
    level = Level(query, parts, target, tables, bindings(query, parts, next(iter(tables), ""), seen))
    yield level
    for part in parts:
        if part is not query and isinstance(part, LEVELS):
            yield from levels(part, stored, seen if stands_apart(part, query) else level.bound)


def stands_apart(inner: exp.Expr, query: exp.Expr) -> bool:
    """Return whether an inner query cannot see the tables beside it: a CTE, or a sub-select in FROM without LATERAL."""
    node = inner
    while node is not query and node.parent is not None:
        if isinstance(node, exp.CTE) or (
            isinstance(node, exp.Subquery) and isinstance(node.parent, (exp.From, exp.Join))
        ):
            return True
        node = node.parent
    return False


def stored_tables(query: exp.Expr, parts: Iterable[exp.Expr], stored: frozenset[str]) -> dict[str, str]:
    return {
        name_of(part): part.name.lower()
        for part in parts
        if isinstance(part, exp.Table) and part.name.lower() in stored and not is_target(part, query)
    }


def is_target(part: exp.Expr, query: exp.Expr) -> bool:
    """Return whether the part is the table that an INSERT writes into, which is not read."""
    if not (isinstance(query, exp.Insert) and isinstance(part, exp.Table)):
        return False
    return part.parent is query or isinstance(part.parent, exp.Schema)


def bindings(query: exp.Expr, parts: list[exp.Expr], first: str, outer: Mapping[str, str]) -> dict[str, str]:
    """Return the parameter of each bound alias, for this level's sources and for visible ones of enclosing levels."""
    own = names(parts)
    bound = {alias: parameter for alias, parameter in outer.items() if alias not in own}
    facts = list(equalities(query, parts, first))
    for _ in facts:
        for fact in facts:
            bound.update(followed(fact, bound))
    return bound


def followed(fact: Equality, bound: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what one more equality binds."""
    for alias, other in ((fact.left, fact.right), (fact.right, fact.left)):
        parameter = other if other.startswith("$") else bound.get(other)
        narrows = fact.narrowed is None or alias in fact.narrowed
        if parameter and narrows and alias not in bound and not alias.startswith("$"):
            yield alias, parameter


def equalities(query: exp.Expr, parts: Iterable[exp.Expr], first: str) -> Iterator[Equality]:
    """Yield the equalities of WHERE and of joins. A bare tenant_id is that of `first`: Postgres refuses ambiguity."""
    where = query.args.get("where")
    if where is not None:
        yield from (Equality(left, right) for left, right in equal_pairs(where.this, first))
    for part in parts:
        if isinstance(part, exp.Join):
            yield from joined(part, first)


def joined(join: exp.Join, first: str) -> Iterator[Equality]:
    """Yield the equalities of a join. A LEFT JOIN restricts only the joined side; a RIGHT or FULL JOIN is ignored."""
    beside = names(join.this.walk(prune=lambda node: isinstance(node, LEVELS)))
    narrowed = {"": None, "LEFT": beside}.get(join.side.upper(), frozenset[str]())
    if (condition := join.args.get("on")) is not None:
        yield from (Equality(left, right, narrowed) for left, right in equal_pairs(condition, first))
    if any(column.name.lower() == TENANT for column in join.args.get("using") or ()):
        yield from (Equality(alias, left_of(join), narrowed) for alias in beside)


def left_of(join: exp.Join) -> str:
    """Return the source just before a join. Earlier sources may stand before a comma, where USING does not reach."""
    parent = join.parent
    assert parent is not None
    if join.index:
        return name_of(parent.args["joins"][join.index - 1].this)
    start = parent.args.get("from_")
    return name_of(start.this if start is not None else parent)


def equal_pairs(condition: exp.Expr, first: str) -> Iterator[tuple[str, str]]:
    """Yield equalities that must all hold, without those under OR and NOT; `(a, b) = ($1, $2)` is two of them."""
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from equal_pairs(condition.left, first)
        yield from equal_pairs(condition.right, first)
    elif isinstance(condition, exp.EQ):
        for left, right in zip(elements(condition.left), elements(condition.right), strict=False):
            sides = side(left, first), side(right, first)
            if all(sides):
                yield sides


def elements(value: exp.Expr) -> list[exp.Expr]:
    return value.expressions if isinstance(value, exp.Tuple) else [value]


def side(value: exp.Expr, first: str) -> str:
    value = value.unnest()
    if is_tenant(value):
        return value.text("table").lower() or first
    return parameter(value)


def is_tenant(value: exp.Expr) -> bool:
    return isinstance(value, exp.Column) and value.name.lower() == TENANT


def parameter(value: exp.Expr) -> str:
    """Return `$1` for a parameter, also if it is cast, or an empty text for anything else."""
    while isinstance(value, (exp.Cast, exp.Paren)):
        value = value.this
    return f"${value.name}" if isinstance(value, exp.Parameter) else ""


def names(parts: Iterable[exp.Expr]) -> frozenset[str]:
    return frozenset(name_of(part) for part in parts if isinstance(part, SOURCES))


def name_of(source: exp.Expr) -> str:
    return source.alias_or_name.lower()
