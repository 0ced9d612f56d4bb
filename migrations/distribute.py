"""The one thing that differs on Citus: a table is spread over the machines straight after its CREATE TABLE."""

from alembic import context, op
from sqlalchemy import Connection, text

SHARDS = 64


def distribute(table: str, *, beside: str | None = "owners") -> None:
    """Spreads a tenant table by tenant_id, its rows on the machine of their owner's. Does nothing on plain Postgres."""
    if not on_citus():
        return
    if beside is None:
        call = text("SELECT create_distributed_table(:table, 'tenant_id', shard_count => :shards)")
        op.execute(call.bindparams(table=table, shards=SHARDS))
    else:
        call = text("SELECT create_distributed_table(:table, 'tenant_id', colocate_with => :beside)")
        op.execute(call.bindparams(table=table, beside=beside))


def copy_everywhere(table: str) -> None:
    """Keeps a whole copy on every machine: for what is read before the tenant is known."""
    if on_citus():
        op.execute(text("SELECT create_reference_table(:table)").bindparams(table=table))


def change_tables_one_by_one(connection: Connection) -> None:
    """Lets every revision of this session change reference tables and distributed ones in one transaction.

    Citus changes the shards of a table side by side, over several connections, none of which sees what the transaction
    has done to a reference table: it refuses that, and has to be told to use one connection.
    """
    is_ours = not connection.in_transaction()
    if is_citus(connection):
        connection.execute(text("SET citus.multi_shard_modify_mode TO 'sequential'"))
    if is_ours:
        connection.commit()  # Alembic begins a transaction of its own for each revision


def on_citus() -> bool:
    """False too where SQL is only printed: nobody is there to ask."""
    return not context.is_offline_mode() and is_citus(op.get_bind())


def is_citus(connection: Connection) -> bool:
    found = connection.execute(text("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"))
    return bool(found.scalar())
