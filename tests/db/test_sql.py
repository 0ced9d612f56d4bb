"""Values as SQL, where no parameters can be sent."""

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text as sqlalchemy_text
from sqlalchemy.dialects.postgresql import asyncpg as dialects

from db.sql import Statement, combine, is_independent, literal, parse_statement, statements, texts
from tests.sql_text import NOUNS

SAYS = Statement("SELECT $2 || '/' || $1 || '/' || $2", ("one", "other"))
AWKWARD = ["", "'", "''", "\\", "\\'", "'; DROP TABLE pages; --", "$1", "$2", "%s", "E'x'", "é\n\t", '["a"]']


@pytest.mark.parametrize("reads_backslashes", [False, True])
async def test_a_text_is_the_same_text_as_sql(empty_dsn: str, reads_backslashes: bool) -> None:
    connection = await asyncpg.connect(empty_dsn)
    await connection.execute(f"SET standard_conforming_strings = {'off' if reads_backslashes else 'on'}")
    for text in AWKWARD:
        for other in AWKWARD:
            written = SAYS.render({"one": text, "other": other})
            assert await connection.fetchval(written) == f"{other}/{text}/{other}"
    await connection.close()


@given(st.text())
def test_nothing_in_a_text_ends_it(text: str) -> None:
    inside = literal(text).lstrip(" E")[1:-1]
    assert "'" not in inside.replace("\\\\", "").replace("''", "")


def test_names_become_numbers_as_sqlalchemy_would_have_it() -> None:
    """Statements are read without SQLAlchemy, which is slow to import; this holds the two together."""
    assert len(NOUNS) > 20
    dialect = dialects.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
    for noun in NOUNS:
        for name, body in texts(noun).items():
            theirs = sqlalchemy_text(body).compile(dialect=dialect)
            assert statements(noun)[name] == (str(theirs), tuple(theirs.positiontup or ())), f"{noun}: {name}"


def test_a_name_that_comes_again_is_the_same_number_and_a_cast_is_no_name() -> None:
    assert parse_statement("SELECT :b, :a, CAST(:b AS text), 'x'::text, a[1:2]") == Statement(
        "SELECT $1, $2, CAST($1 AS text), 'x'::text, a[1:2]", ("b", "a")
    )


WRITE = Statement("-- Says something.\nINSERT INTO sections (tenant_id, id) VALUES ($1, $2)", ("tenant_id", "id"))
DROP = Statement("DELETE FROM links WHERE tenant_id = $1 AND id = $2", ("tenant_id", "id"))


def test_statements_together_share_what_all_are_given_and_nothing_else() -> None:
    last = Statement("-- A page.\nSELECT id FROM pages WHERE id = $1 AND tenant_id = $2", ("id", "tenant_id"))
    assert combine((WRITE, DROP), last, frozenset({"tenant_id"})) == Statement(
        "WITH sent_0 AS (INSERT INTO sections (tenant_id, id) VALUES ($1, $2)), "
        "sent_1 AS (DELETE FROM links WHERE tenant_id = $1 AND id = $3) "
        "SELECT id FROM pages WHERE id = $4 AND tenant_id = $1",
        ("tenant_id", "0.id", "1.id", "2.id"),
    )


@pytest.mark.parametrize("beginning", ["WITH", "WITH RECURSIVE"])
def test_a_statement_with_arms_of_its_own_keeps_them_behind_the_others(beginning: str) -> None:
    last = Statement(f"{beginning} p AS (SELECT $1) SELECT * FROM p", ("id",))
    together = combine((WRITE,), last, frozenset())
    assert together.sql.startswith(f"{beginning} sent_0 AS (INSERT INTO")
    assert together.sql.endswith("), p AS (SELECT $3) SELECT * FROM p")


@pytest.mark.parametrize(
    ("sql", "may"),
    [
        ("SELECT id FROM pages", True),
        ("SELECT sections FROM pages", True),
        ("SELECT id FROM pages JOIN sections ON true", False),
        ("UPDATE sections SET heading = ''", False),
        ("DELETE FROM pages USING sections", False),
        ("INSERT INTO sections (id) VALUES ($1)", False),
        ("INSERT INTO links (id) VALUES ($1)", True),
        ("INSERT INTO links (id) SELECT id FROM links", False),
        ("INSERT INTO pages (id) VALUES ($1) ON CONFLICT DO UPDATE SET id = excluded.id", True),
    ],
)
def test_a_statement_goes_along_with_writes_that_it_does_not_look_at(sql: str, may: bool) -> None:
    assert is_independent(sql, (WRITE.sql, DROP.sql)) is may
