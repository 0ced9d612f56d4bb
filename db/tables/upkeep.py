"""What keeps a wiki in order: the day of its last sweep, and what is being forgotten."""

from sqlalchemy import Column, Date

from .columns import identifier, moment, refers, scoped_table, words

sweeps = scoped_table("sweeps", Column("swept_on", Date, nullable=False, comment="in UTC"), key=("owner_id",))

# What a forgotten source said, until the job that takes it out of pages and history has done so. Nobody else reads it.
forgettings = scoped_table(
    "forgettings",
    identifier("source_id"),
    words("said"),
    moment("since"),
    refers("forgettings", "source_id", "sources"),
    key=("source_id",),
)
