"""Functions that declare tables and columns. The rules are in docs/decisions/0003-tenancy-in-every-key.md."""

from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.schema import SchemaItem
from sqlalchemy.sql import text as sql_text

metadata = MetaData()


def scoped_table(name: str, *items: SchemaItem, key: tuple[str, ...] = ("id",), **options: Any) -> Table:
    """Return a table whose rows belong to an owner. Its primary key begins with the tenant."""
    own_id = [identifier("id")] if "id" in key else []
    return Table(
        name,
        metadata,
        identifier("tenant_id"),
        identifier("owner_id"),
        *own_id,
        *items,
        PrimaryKeyConstraint("tenant_id", *key, name=f"{name}_pk"),
        ForeignKeyConstraint(
            ["tenant_id", "owner_id"], ["owners.tenant_id", "owners.id"], name=f"{name}_owner_fk", ondelete="CASCADE"
        ),
        **options,
    )


def in_scope_key(table: str) -> UniqueConstraint:
    """Return the unique key for foreign keys. It includes the owner, so that no row refers to another wiki."""
    return UniqueConstraint("tenant_id", "owner_id", "id", name=f"{table}_scope_uq")


def refers(table: str, column: str, to: str, ondelete: str | None = "CASCADE") -> ForeignKeyConstraint:
    """Return a foreign key to a table of the same owner.

    Without CASCADE, code that deletes the row has to clear the reference first, because Citus does not support SET
    NULL.
    """
    return ForeignKeyConstraint(
        ["tenant_id", "owner_id", column],
        [f"{to}.tenant_id", f"{to}.owner_id", f"{to}.id"],
        name=f"{table}_{column.removesuffix('_id')}_fk",
        ondelete=ondelete,
    )


def identifier(name: str, *, nullable: bool = False) -> Column[Any]:
    """Return a column of UUIDs."""
    return Column(name, Uuid, nullable=nullable)


def words(name: str, *, nullable: bool = False, default: str | None = None) -> Column[Any]:
    return Column(name, Text, nullable=nullable, server_default=default)


def one_of(table: str, name: str, *values: str, default: str | None = None, nullable: bool = False) -> list[SchemaItem]:
    """Return a text column with a fixed set of values, and its check constraint.

    Unlike those of an enum type, the values can be changed without rewriting the table.
    """
    listed = ", ".join(f"'{value}'" for value in values)
    check = CheckConstraint(f"{name} IN ({listed})", name=f"{table}_{name}_ck")
    return [words(name, nullable=nullable, default=default), check]


def number(name: str, *, nullable: bool = False, default: int | None = None) -> Column[Any]:
    return Column(name, Integer, nullable=nullable, server_default=None if default is None else sql_text(str(default)))


def timestamp(name: str, *, nullable: bool = False) -> Column[Any]:
    default = None if nullable else sql_text("now()")
    return Column(name, DateTime(timezone=True), nullable=nullable, server_default=default)


def listed(name: str) -> Column[Any]:
    return Column(name, ARRAY(Text), nullable=False, server_default=sql_text("'{}'"))


def document(name: str, *, nullable: bool = False, default: str = "{}") -> Column[Any]:
    return Column(name, JSONB, nullable=nullable, server_default=None if nullable else sql_text(f"'{default}'"))
