"""The rules on executed SQL report every violation and nothing else; sql_rules_cases.sql has the statements."""

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
    """Return each accepted statement once for every tenant predicate in it, without that predicate."""
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
def test_statements_that_follow_the_rules_are_accepted(case: Case) -> None:
    assert violations(case.sql) == []


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_statements_that_break_a_rule_are_refused_with_its_message(case: Case) -> None:
    assert any(case.words in finding for finding in violations(case.sql)), violations(case.sql)


@pytest.mark.parametrize("case", PLANTED, ids=lambda case: case.name)
def test_every_missing_tenant_predicate_is_found(case: Case) -> None:
    assert any("not bound" in finding or "no way to the tenant" in finding for finding in violations(case.sql))


@pytest.mark.parametrize("noun", NOUNS)
def test_named_statements_follow_the_rules(noun: str) -> None:
    found = {name: violations(statement.sql) for name, statement in statements(noun).items()}
    assert {name: findings for name, findings in found.items() if findings} == {}


def test_tenant_tables_exclude_tenants_and_api_keys() -> None:
    assert {"pages", "owners", "grants", "compile_jobs", "search_pages"} <= TENANT_TABLES
    assert TENANT_TABLES.isdisjoint({"tenants", "api_keys"})


def test_the_tables_to_check_can_be_given() -> None:
    sql = "SELECT id FROM wiki_pages"
    assert violations(sql) == []
    assert violations(sql, frozenset({"wiki_pages"})) != []


def test_a_finding_names_table_alias_and_remedy() -> None:
    [finding] = violations("SELECT p.id FROM pages AS p")
    assert finding == "pages p: not bound to the tenant: write p.tenant_id = $n in its own select"


def test_every_unbound_table_is_named_once() -> None:
    sql = "SELECT 1 FROM pages AS p, links AS l WHERE EXISTS (SELECT FROM pages AS p)"
    assert [finding.partition(":")[0] for finding in violations(sql)] == ["pages p", "links l"]


def test_changing_a_returned_list_does_not_change_later_results() -> None:
    sql = "SELECT p.title FROM pages AS p"
    violations(sql).clear()
    assert violations(sql) != []


@given(st.text(alphabet="$1;'\"-/*:a \\\n", max_size=30))
def test_literals_and_quoted_identifiers_are_not_split(text: str) -> None:
    literal = "'" + text.replace("'", "''") + "'"
    identifier = '"' + text.replace('"', '""') + '"'
    assert split(f"SELECT {literal} AS {identifier} , $1") == [f"SELECT {literal} AS {identifier} , $1"]


@given(st.text(max_size=200))
def test_any_text_gets_a_verdict(text: str) -> None:
    assert isinstance(violations(text), list)
    assert isinstance(violations(f"SELECT id FROM pages WHERE {text}"), list)


def test_each_statement_is_judged_once() -> None:
    """A run of the suite executes thousands of statements."""
    judged.cache_clear()
    for case in CASES * 50:
        violations(case.sql)
    assert judged.cache_info().misses <= len(CASES)


@pytest.mark.parametrize("noun", NOUNS)
def test_tables_of_agrees_with_the_parser_for_named_statements(noun: str) -> None:
    """Statements are sent together only if none reads what another writes, so no table may be missed."""
    for name, statement in statements(noun).items():
        [text] = split(statement.sql)
        query = tree(text)
        found = {table.name.lower() for table in query.find_all(exp.Table)} & (TENANT_TABLES | REFERENCE_TABLES)
        changed = {written(arm) for arm in [query, *query.find_all(exp.CTE)]} - {""}
        read, writes = tables_of(statement.sql)
        assert {table for table, _ in writes} == changed, name
        assert found <= read | changed, name
