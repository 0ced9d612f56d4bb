"""Rows from JSON documents in a column of another row."""

from typing import Any

from sqlalchemy import ColumnElement, TableValuedAlias, column, func
from sqlalchemy.types import TypeEngine


def json_rows(documents: ColumnElement[Any], **types: TypeEngine[Any]) -> TableValuedAlias:
    """Return the objects of a JSON array as rows with these columns, in order."""
    return typed_rows(func.jsonb_to_recordset(documents), types)


def json_row(document: ColumnElement[Any], **types: TypeEngine[Any]) -> TableValuedAlias:
    """Return a JSON object as one row with these columns. If it is null, the row has only nulls."""
    return typed_rows(func.jsonb_to_record(document), types)


def typed_rows(function: Any, types: dict[str, TypeEngine[Any]]) -> TableValuedAlias:
    columns: list[Any] = [column(name, type_) for name, type_ in types.items()]
    rows: TableValuedAlias = function.table_valued(*columns).render_derived(with_types=True)
    return rows
