"""The words that revisions are written in. A revision must stay what it was: add a word here, never change one."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.schema import SchemaItem

from migrations.distribute import distribute

SCOPE = ("tenant_id", "owner_id")


def create_scoped(name: str, *items: SchemaItem, key: tuple[str, ...] = ("id",)) -> None:
    """A table whose rows lie in one scope: tenant first in its key, and an owner of that tenant."""
    own_id = [uuid("id")] if "id" in key else []
    primary = sa.PrimaryKeyConstraint("tenant_id", *key, name=f"{name}_pk")
    op.create_table(name, uuid("tenant_id"), uuid("owner_id"), *own_id, *items, primary, of_owner(name, "owner_id"))
    distribute(name)


def uuid(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Uuid, nullable=null)


def text(name: str, *, null: bool = False, default: str | None = None) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, nullable=null, server_default=default)


def texts(name: str) -> sa.Column[Any]:
    return sa.Column(name, pg.ARRAY(sa.Text), nullable=False, server_default=sa.text("'{}'"))


def integer(name: str, default: str | None = None, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer, nullable=null, server_default=None if default is None else sa.text(default))


def jsonb(name: str, default: str | None = "{}") -> sa.Column[Any]:
    """Nullable when it has no default."""
    given = None if default is None else sa.text(f"'{default}'")
    return sa.Column(name, pg.JSONB, nullable=default is None, server_default=given)


def moment(name: str, *, null: bool = False) -> sa.Column[Any]:
    """Now, unless it may be unknown."""
    return sa.Column(name, sa.DateTime(timezone=True), nullable=null, server_default=None if null else sa.text("now()"))


def one_of(table: str, name: str, *values: str, default: str | None = None, null: bool = False) -> list[SchemaItem]:
    """A text column with a fixed set of values: unlike an enum type, the set can change without a rewrite."""
    listed = ", ".join(f"'{value}'" for value in values)
    check = sa.CheckConstraint(f"{name} IN ({listed})", name=f"{table}_{name}_ck")
    return [text(name, null=null, default=default), check]


def newest(column: str) -> list[sa.TextClause]:
    """Latest or highest first; the id breaks ties, as keyset cursors need."""
    return [sa.text(f"{column} DESC"), sa.text("id DESC")]


def in_scope_key(table: str) -> sa.UniqueConstraint:
    """What references from the same scope point at: no row can refer across owners."""
    return sa.UniqueConstraint("tenant_id", "owner_id", "id", name=f"{table}_scope_uq")


def refers(table: str, column: str, to: str, *, cascade: bool = True) -> sa.ForeignKeyConstraint:
    """A reference inside the scope. Without cascade the writer clears it first: SET NULL does not exist on Citus."""
    return sa.ForeignKeyConstraint(
        [*SCOPE, column],
        [f"{to}.tenant_id", f"{to}.owner_id", f"{to}.id"],
        name=f"{table}_{column.removesuffix('_id')}_fk",
        ondelete="CASCADE" if cascade else None,
    )


def of_owner(table: str, column: str) -> sa.ForeignKeyConstraint:
    name = f"{table}_{column.removesuffix('_id')}_fk"
    return sa.ForeignKeyConstraint(
        ["tenant_id", column], ["owners.tenant_id", "owners.id"], name=name, ondelete="CASCADE"
    )


def of_tenant(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name=f"{table}_tenant_fk", ondelete="CASCADE")
