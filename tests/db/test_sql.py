"""Values as SQL, where no parameters can be sent."""

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.sql import Statement, literal

SAYS = Statement("SELECT $2 || '/' || $1 || '/' || $2", ("one", "other"))
AWKWARD = ["", "'", "''", "\\", "\\'", "'; DROP TABLE pages; --", "$1", "$2", "%s", "E'x'", "é\n\t", '["a"]']


@pytest.mark.parametrize("reads_backslashes", [False, True])
async def test_a_text_is_the_same_text_as_sql(empty_dsn: str, reads_backslashes: bool) -> None:
    connection = await asyncpg.connect(empty_dsn)
    await connection.execute(f"SET standard_conforming_strings = {'off' if reads_backslashes else 'on'}")
    for text in AWKWARD:
        for other in AWKWARD:
            written = SAYS.written({"one": text, "other": other})
            assert await connection.fetchval(written) == f"{other}/{text}/{other}"
    await connection.close()


@given(st.text())
def test_nothing_in_a_text_ends_it(text: str) -> None:
    inside = literal(text).lstrip(" E")[1:-1]
    assert "'" not in inside.replace("\\\\", "").replace("''", "")
