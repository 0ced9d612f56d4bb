"""What Alembic runs around every revision. `db.migrate` hands over the connection; without one SQL is only printed."""

from collections.abc import Collection, Mapping
from typing import Any

from alembic import context
from alembic.ddl.base import AddColumn
from alembic.runtime.migration import MigrationContext, MigrationInfo
from sqlalchemy import ColumnClause, column, event, func, literal_column, table, update

from db.migrate import LOCK_TIMEOUT
from db.tables import metadata
from migrations.distribute import change_tables_one_by_one

OPTIONS: dict[str, Any] = {"target_metadata": metadata, "transaction_per_migration": True}


def keep_window(
    ctx: MigrationContext, step: MigrationInfo, heads: Collection[Any], run_args: Mapping[str, Any]
) -> None:
    """Store, in the transaction of a revision, the oldest revision whose release works beside it: `runs_beside`."""
    oldest = getattr(getattr(step.up_revision, "module", None), "runs_beside", None)
    if oldest is not None:
        stored: ColumnClause[str] = column("oldest_revision")
        narrowed = func.greatest(stored, literal_column(f"'{oldest}'"))
        ctx.impl.execute(update(table("installation", stored)).values(oldest_revision=narrowed))


def add_once(_connection: object, clause: object, *_: object) -> None:
    """Add a column only if it is missing, because a revision that is interrupted in an autocommit block is repeated."""
    if isinstance(clause, AddColumn):
        clause.if_not_exists = True


connection = context.config.attributes.get("connection")
if connection is None:
    context.configure(dialect_name="postgresql", on_version_apply=keep_window, **OPTIONS)
    context.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
else:
    event.listen(connection, "before_execute", add_once)
    change_tables_one_by_one(connection)
    context.configure(connection=connection, on_version_apply=keep_window, **OPTIONS)

with context.begin_transaction():
    context.run_migrations()
