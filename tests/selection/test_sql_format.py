"""SQL is formatted for people without changing the statement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.execute.sql_format import NARROW, TOKEN, WIDTH, format_sql

WORDS = [
    "SELECT", "FROM", "WHERE", "AND", "OR", "BETWEEN", "JOIN", "LEFT", "ORDER", "BY", "LIMIT", "WITH", "ORDINALITY",
    "WHEN", "THEN", "ELSE", "pages_1.title", "$1::UUID", "count(*)", "'it''s'", "'a\n(b'", "E'\\'('", '"a ) b"', "=",
    "->>", "<=", "12.5", "$x$ ( $x$", ",", "a_rather_long_name_of_a_column_in_some_table", "-- said\n", "/* ( */",
]  # fmt: skip
PIECES = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=6).flatmap(
        lambda parts: st.sampled_from([f"({' '.join(parts)})", f"f({' '.join(parts)})", f"CASE {' '.join(parts)} END"])
    ),
    max_leaves=40,
)
STATEMENTS = st.lists(PIECES, max_size=30).map(" ".join)


def tokens(sql: str) -> list[str]:
    return [found[0] for found in TOKEN.finditer(sql) if not found["space"]]


@given(STATEMENTS)
def test_formatting_changes_only_white_space(sql: str) -> None:
    assert tokens(format_sql(sql)) == tokens(sql)


@given(STATEMENTS)
def test_formatting_is_idempotent(sql: str) -> None:
    once = format_sql(sql)
    assert format_sql(once) == once


@given(st.text(alphabet="()[]'\"$-/*;, CASEND\n", max_size=40))
def test_any_text_is_formatted(text: str) -> None:
    assert isinstance(format_sql(text), str)


def test_a_short_statement_stays_on_its_line() -> None:
    assert format_sql("SELECT 1\n  FROM pages\nWHERE a = ( 2 )") == "SELECT 1 FROM pages WHERE a = (2)"


def test_clauses_items_and_conditions_get_their_own_lines() -> None:
    columns = ", ".join(f"pages_1.column_{n} AS column_{n}" for n in range(4))
    sql = f"""SELECT {columns}, CASE WHEN pages_1.a BETWEEN 1 AND 2 THEN 'a, b' ELSE 'c' END AS d
        FROM pages AS pages_1 LEFT OUTER JOIN links ON links.id = pages_1.id CROSS JOIN unnest($1) WITH ORDINALITY AS u
        WHERE pages_1.id = coalesce((SELECT old_slugs_1.page_id FROM old_slugs AS old_slugs_1
          WHERE old_slugs_1.owner_id = $6::UUID AND old_slugs_1.slug = $5::VARCHAR LIMIT 1), $2)
          AND pages_1.when_it_was_made BETWEEN '2026-01-01 00:00:00' AND '2026-01-31 00:00:00' OR pages_1.is_open
        ORDER BY pages_1.id, 2"""
    assert format_sql(sql) == (
        """SELECT
  pages_1.column_0 AS column_0,
  pages_1.column_1 AS column_1,
  pages_1.column_2 AS column_2,
  pages_1.column_3 AS column_3,
  CASE WHEN pages_1.a BETWEEN 1 AND 2 THEN 'a, b' ELSE 'c' END AS d
FROM pages AS pages_1
LEFT OUTER JOIN links ON links.id = pages_1.id
CROSS JOIN unnest($1) WITH ORDINALITY AS u
WHERE pages_1.id = coalesce(
  (
    SELECT old_slugs_1.page_id
    FROM old_slugs AS old_slugs_1
    WHERE old_slugs_1.owner_id = $6::UUID AND old_slugs_1.slug = $5::VARCHAR
    LIMIT 1
  ),
  $2
)
  AND pages_1.when_it_was_made BETWEEN '2026-01-01 00:00:00' AND '2026-01-31 00:00:00'
  OR pages_1.is_open
ORDER BY pages_1.id, 2"""
    )


@pytest.mark.parametrize("depth", [1, 30])
def test_lines_exceed_the_width_only_when_deeply_indented(depth: int) -> None:
    inner = "a.b AS c, " * 40 + "d"
    for _ in range(depth):
        inner = f"SELECT f(({inner})) AS item FROM pages AS pages_1 WHERE pages_1.id = 1"
    for line in format_sql(inner).splitlines():
        indent = len(line) - len(line.lstrip())
        assert len(line) <= max(WIDTH, indent + 2 * NARROW)


def test_comments_are_removed_and_literals_stay() -> None:
    sql = "SELECT '--', $$ /* $$ -- of a reader (\nFROM a /* ; */ WHERE b = '\n'"
    assert format_sql(sql) == "SELECT '--', $$ /* $$ FROM a WHERE b = '\n'"
    assert format_sql("SELECT a *-- of a reader\nb =/* ( */ c") == "SELECT a * b = c"
