"""What was used of language models, by the day: what budgets are held against."""

from sqlalchemy import BigInteger, Column, Date, Double

from .columns import scoped_table, words

model_usage = scoped_table(
    "model_usage",
    Column("day", Date, nullable=False, comment="in UTC"),
    words("model"),
    Column("requests", BigInteger, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cost", Double, nullable=False, comment="in US dollars, of requests whose price is known"),
    key=("day", "owner_id", "model"),
)
