"""Alembic's scripts: how the schema came to be. Forward only; run by `db.migrate`."""
