"""What Alembic runs around every revision. `db.migrate` hands over the connection; without one SQL is only printed."""

from alembic import context

from db.migrate import LOCK_TIMEOUT
from db.tables import metadata
from migrations.distribute import change_tables_one_by_one

connection = context.config.attributes.get("connection")
if connection is None:
    context.configure(dialect_name="postgresql", target_metadata=metadata, transaction_per_migration=True)
    context.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
else:
    change_tables_one_by_one(connection)
    context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)

with context.begin_transaction():
    context.run_migrations()
