"""SQL statements: their parameters, values rendered as literals, and statements combined into one."""

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
async def test_rendered_literals_have_the_same_value_in_postgres(empty_dsn: str, reads_backslashes: bool) -> None:
    connection = await asyncpg.connect(empty_dsn)
    await connection.execute(f"SET standard_conforming_strings = {'off' if reads_backslashes else 'on'}")
    for text in AWKWARD:
        for other in AWKWARD:
            sql = SAYS.render({"one": text, "other": other})
            assert await connection.fetchval(sql) == f"{other}/{text}/{other}"
    await connection.close()


@given(st.text())
def test_no_text_ends_its_literal(text: str) -> None:
    inside = literal(text).lstrip(" E")[1:-1]
    assert "'" not in inside.replace("\\\\", "").replace("''", "")


def test_named_parameters_are_numbered_as_by_sqlalchemy() -> None:
    """Statements are parsed without SQLAlchemy, which is slow to import; the results must agree."""
    assert len(NOUNS) > 20
    dialect = dialects.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
    for noun in NOUNS:
        for name, body in texts(noun).items():
            theirs = sqlalchemy_text(body).compile(dialect=dialect)
            assert statements(noun)[name] == (str(theirs), tuple(theirs.positiontup or ())), f"{noun}: {name}"


def test_repeated_parameters_share_a_number_and_casts_are_not_parameters() -> None:
    assert parse_statement("SELECT :b, :a, CAST(:b AS text), 'x'::text, a[1:2]") == Statement(
        "SELECT $1, $2, CAST($1 AS text), 'x'::text, a[1:2]", ("b", "a")
    )


WRITE = Statement("-- Says something.\nINSERT INTO sections (tenant_id, id) VALUES ($1, $2)", ("tenant_id", "id"))
DROP = Statement("DELETE FROM links WHERE tenant_id = $1 AND id = $2", ("tenant_id", "id"))


def test_combined_statements_share_only_the_common_parameters() -> None:
    last = Statement("-- A page.\nSELECT id FROM pages WHERE id = $1 AND tenant_id = $2", ("id", "tenant_id"))
    assert combine((WRITE, DROP), last, frozenset({"tenant_id"})) == Statement(
        "WITH sent_0 AS (INSERT INTO sections (tenant_id, id) VALUES ($1, $2)), "
        "sent_1 AS (DELETE FROM links WHERE tenant_id = $1 AND id = $3) "
        "SELECT id FROM pages WHERE id = $4 AND tenant_id = $1",
        ("tenant_id", "0.id", "1.id", "2.id"),
    )


@pytest.mark.parametrize("beginning", ["WITH", "WITH RECURSIVE"])
def test_a_combined_statement_keeps_its_own_ctes(beginning: str) -> None:
    last = Statement(f"{beginning} p AS (SELECT $1) SELECT * FROM p", ("id",))
    combined = combine((WRITE,), last, frozenset())
    assert combined.sql.startswith(f"{beginning} sent_0 AS (INSERT INTO")
    assert combined.sql.endswith("), p AS (SELECT $3) SELECT * FROM p")


@pytest.mark.parametrize(
    ("sql", "expected"),
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
def test_a_statement_is_independent_of_writes_to_tables_it_does_not_read(sql: str, expected: bool) -> None:
    assert is_independent(sql, (WRITE.sql, DROP.sql)) is expected
