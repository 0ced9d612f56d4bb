"""The tenant in every statement: put in by the compiler, and proved before a plan may run."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ClauseElement, FromClause, Join, Select, Table, Uuid
from sqlalchemy.sql import visitors
from sqlalchemy.sql.expression import Alias, BinaryExpression

from .parameters import scope_value

TENANT = scope_value("tenant_id", Uuid())


def in_tenant(query: Select[Any]) -> Select[Any]:
    """Return the query with tenant_id bound for each of its tables. Declarations call it for their inner selects."""
    return query.where(*(table.c.tenant_id == TENANT for table in tenant_tables(query)))


def unbound_tables(statement: ClauseElement) -> list[FromClause]:
    """Return every tenant table, however deep, that its own select does not bind to the tenant."""
    return [
        table
        for select in selects(statement)
        for table in tenant_tables(select)
        if not any(binds_tenant(clause, table) for clause in select._where_criteria)
    ]


def selects(statement: ClauseElement) -> Iterator[Select[Any]]:
    return (part for part in visitors.iterate(statement) if isinstance(part, Select))


def tenant_tables(query: Select[Any]) -> list[FromClause]:
    tables = [table for source in froms(query) for table in leaves(source)]
    return [table for table in tables if is_stored(table) and "tenant_id" in table.c]


def froms(query: Select[Any]) -> list[FromClause]:
    """Return query.get_final_froms(), which would render the whole select only to throw the text away."""
    compiler: Any = None
    state: Any = query._compile_state_factory(query, compiler)
    found: list[FromClause] = state._get_display_froms()
    return found


def leaves(source: FromClause) -> list[FromClause]:
    return leaves(source.left) + leaves(source.right) if isinstance(source, Join) else [source]


def is_stored(source: FromClause) -> bool:
    return isinstance(source, Table) or (isinstance(source, Alias) and isinstance(source.element, Table))


def binds_tenant(clause: Any, table: FromClause) -> bool:
    return isinstance(clause, BinaryExpression) and clause.left is table.c.tenant_id and clause.right is TENANT
