"""Binds every table of a statement to the caller's tenant, and verifies it before a plan may run."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ClauseElement, FromClause, Join, Select, Table, Uuid
from sqlalchemy.sql import visitors
from sqlalchemy.sql.expression import Alias, BinaryExpression

from .parameters import scope_value

TENANT = scope_value("tenant_id", Uuid())


def in_tenant(query: Select[Any]) -> Select[Any]:
    """Return the query with a condition on tenant_id for each of its tables.

    The compiler calls it for the queries of mappings. Mappings call it themselves for selects inside of those.
    """
    return query.where(*(table.c.tenant_id == TENANT for table in tenant_tables(query)))


def unbound_tables(statement: ClauseElement) -> list[FromClause]:
    """Return each table with a tenant_id, at any depth, that its own select does not bind to the tenant."""
    return [
        table
        for select in selects(statement)
        for table in tenant_tables(select)
        if not any(binds_tenant(clause, table) for clause in select._where_criteria)
    ]


def selects(statement: ClauseElement) -> Iterator[Select[Any]]:
    return (part for part in visitors.iterate(statement) if isinstance(part, Select))


def tenant_tables(query: Select[Any]) -> list[FromClause]:
    """Return the tables in the FROM clause of a select that have a tenant_id."""
    tables = [table for source in froms(query) for table in leaves(source)]
    return [table for table in tables if is_stored(table) and "tenant_id" in table.c]


def froms(query: Select[Any]) -> list[FromClause]:
    """Return the same as query.get_final_froms(), without rendering the whole select as that does."""
    compiler: Any = None
    state: Any = query._compile_state_factory(query, compiler)
    found: list[FromClause] = state._get_display_froms()
    return found


def leaves(source: FromClause) -> list[FromClause]:
    """Return the tables and sub-selects of a join."""
    return leaves(source.left) + leaves(source.right) if isinstance(source, Join) else [source]


def is_stored(source: FromClause) -> bool:
    """Return whether a FROM item is a table, and not a sub-select or a function."""
    return isinstance(source, Table) or (isinstance(source, Alias) and isinstance(source.element, Table))


def binds_tenant(clause: Any, table: FromClause) -> bool:
    return isinstance(clause, BinaryExpression) and clause.left is table.c.tenant_id and clause.right is TENANT
