"""What was used of language models, by the day."""

import sqlalchemy as sa

from migrations.columns import create_scoped, text

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    create_scoped(
        "model_usage",
        sa.Column("day", sa.Date, nullable=False, comment="in UTC"),
        text("model"),
        sa.Column("requests", sa.BigInteger, nullable=False),
        sa.Column("input_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.Double, nullable=False, comment="in US dollars, of requests whose price is known"),
        key=("day", "owner_id", "model"),
    )


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
