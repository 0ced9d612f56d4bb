"""The statements that one would paste into psql: <noun>.sql, and beside it how they are called."""
