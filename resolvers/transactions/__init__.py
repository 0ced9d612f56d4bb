"""Transactions of writes: the lock of a wiki, the activity log and the errors of Postgres."""
