"""The rules on executed SQL find what they should and nothing else; sql_rules_cases.sql holds the statements."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from db.sql import statements, tables_of
from tests.sql_rules import REFERENCE_TABLES, TENANT_TABLES, judged, violations, written
from tests.sql_text import NOUNS, split, tree

HEADER = re.compile(r"^-- (accepted|spare|refused)(?: \[(.+)\])?: (.+)$", re.MULTILINE)
PREDICATE = re.compile(
    r"(?:\w+\.)?tenant_id = (?:\$\d+(?:::UUID)?|CAST\(\$\d+ AS uuid\)|\w+\.tenant_id)"
    r"|\(\$1::text\)::uuid = tenant_id|\(s.tenant_id, s.id\) = \(\$1, \$2\)",
    re.IGNORECASE,
)


class Case(NamedTuple):
    verdict: str
    words: str
    name: str
    sql: str


def read_cases() -> list[Case]:
    text = Path(__file__).with_name("sql_rules_cases.sql").read_text(encoding="utf-8")
    _, *parts = HEADER.split(text)
    return [Case(*(part.strip() for part in map(str, parts[start : start + 4]))) for start in range(0, len(parts), 4)]


def planted_faults() -> list[Case]:
    """Each accepted statement, once for every tenant predicate in it, without that one."""
    return [
        Case("planted", found[0], f"{case.name}, predicate {number}", without(case.sql, found))
        for case in CASES
        if case.verdict == "accepted"
        for number, found in enumerate(PREDICATE.finditer(case.sql), start=1)
    ]


def without(sql: str, found: re.Match[str]) -> str:
    return f"{sql[: found.start()]}true{sql[found.end() :]}"


CASES = read_cases()
ACCEPTED = [case for case in CASES if case.verdict != "refused"]
REFUSED = [case for case in CASES if case.verdict == "refused"]
PLANTED = planted_faults()


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.name)
def test_what_keeps_to_the_rules_is_accepted(case: Case) -> None:
    assert violations(case.sql) == []


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_breaks_a_rule_is_refused_in_words_that_say_which(case: Case) -> None:
    assert any(case.words in finding for finding in violations(case.sql)), violations(case.sql)


@pytest.mark.parametrize("case", PLANTED, ids=lambda case: case.name)
def test_a_missing_tenant_predicate_is_found_wherever_it_was(case: Case) -> None:
    assert any("not bound" in finding or "no way to the tenant" in finding for finding in violations(case.sql))


@pytest.mark.parametrize("noun", NOUNS)
def test_the_named_statements_keep_to_the_rules(noun: str) -> None:
    found = {name: violations(statement.sql) for name, statement in statements(noun).items()}
    assert {name: findings for name, findings in found.items() if findings} == {}


def test_the_tenant_tables_are_those_of_the_schema_but_for_the_two_that_find_the_tenant() -> None:
    assert {"pages", "owners", "grants", "compile_jobs", "search_pages"} <= TENANT_TABLES
    assert TENANT_TABLES.isdisjoint({"tenants", "api_keys"})


def test_other_tables_can_be_asked_about() -> None:
    sql = "SELECT id FROM wiki_pages"
    assert violations(sql) == []
    assert violations(sql, frozenset({"wiki_pages"})) != []


def test_a_finding_names_table_alias_and_remedy() -> None:
    [finding] = violations("SELECT p.id FROM pages AS p")
    assert finding == "pages p: not bound to the tenant: write p.tenant_id = $n in its own select"


def test_every_unbound_table_is_named_once() -> None:
    sql = "SELECT 1 FROM pages AS p, links AS l WHERE EXISTS (SELECT FROM pages AS p)"
    assert [finding.partition(":")[0] for finding in violations(sql)] == ["pages p", "links l"]


def test_the_caller_may_change_the_list_it_got() -> None:
    sql = "SELECT p.title FROM pages AS p"
    violations(sql).clear()
    assert violations(sql) != []


@given(st.text(alphabet="$1;'\"-/*:a \\\n", max_size=30))
def test_whatever_stands_in_a_literal_is_left_alone(text: str) -> None:
    literal = "'" + text.replace("'", "''") + "'"
    identifier = '"' + text.replace('"', '""') + '"'
    assert split(f"SELECT {literal} AS {identifier} , $1") == [f"SELECT {literal} AS {identifier} , $1"]


@given(st.text(max_size=200))
def test_any_text_gets_a_verdict(text: str) -> None:
    assert isinstance(violations(text), list)
    assert isinstance(violations(f"SELECT id FROM pages WHERE {text}"), list)


def test_a_statement_is_read_once() -> None:
    """Thousands run in one suite."""
    judged.cache_clear()
    for case in CASES * 50:
        violations(case.sql)
    assert judged.cache_info().misses <= len(CASES)


@pytest.mark.parametrize("noun", NOUNS)
def test_what_a_named_statement_reads_and_writes_is_told_without_a_parser(noun: str) -> None:
    """Statements go together only where none reads what another writes: no table may be overlooked."""
    for name, statement in statements(noun).items():
        [text] = split(statement.sql)
        query = tree(text)
        found = {table.name.lower() for table in query.find_all(exp.Table)} & (TENANT_TABLES | REFERENCE_TABLES)
        changed = {written(arm) for arm in [query, *query.find_all(exp.CTE)]} - {""}
        read, writes = tables_of(statement.sql)
        assert {table for table, _ in writes} == changed, name
        assert found <= read | changed, name
