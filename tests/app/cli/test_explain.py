"""`cairn explain` shows the cost of a query, the SQL that it sends, and how Postgres runs it."""

import asyncio
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from db.database import Database
from tests.app.command_line import MARA, RunCommand, run_command
from tests.forked import ROOT
from tests.wiki import check_derived_rows, close_wiki, open_wiki

PAGE = """query Page($tenantId: ID!, $slug: String!, $first: Int = 3) {
  wikiPage(tenantId: $tenantId, type: ENTITY, slug: $slug) { title backlinks(first: $first) { nodes { title } } }
}
"""
SEARCH = 'query ($tenantId: ID!) { wikiSearch(tenantId: $tenantId, query: "austin") { score page { title } } }'
SLUG = ("--variables", '{"slug": "austin"}')
Write = Callable[[str], str]


def nested(depth: int) -> str:
    return f'{{"slug": {"[" * depth}{"]" * depth}}}'


@pytest.fixture
def run_in_wiki(run_in_acme: RunCommand) -> RunCommand:
    """Return a function that runs a command on a wiki with two pages."""
    assert run_in_acme("create", "entity", "Austin", "A city with [[water]].", *MARA).code == 0
    assert run_in_acme("create", "topic", "Water", "It flows in [[Austin]].", *MARA).code == 0
    return run_in_acme


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a document to a file and returns its path."""

    def write_file(text: str) -> str:
        (tmp_path / "page.graphql").write_text(text)
        return str(tmp_path / "page.graphql")

    return write_file


def explained(run_in_wiki: RunCommand, *arguments: str) -> dict[str, Any]:
    """Return the JSON output."""
    result = run_in_wiki("explain", *arguments, *MARA, "--json")
    assert result.code == 0, result.err
    found: dict[str, Any] = json.loads(result.out)
    return found


def test_sql_cost_parameters_and_plan_are_printed(run_in_wiki: RunCommand, write: Write) -> None:
    result = run_in_wiki("explain", write(PAGE), *SLUG, *MARA)
    assert result.code == 0, result.err
    assert result.out.startswith("-- query Page\n-- cost: 4 of at most 20000\n-- statements: 1\n-- parameters:\n")
    assert '  $slug = "austin"\n' in result.out
    assert "$first = 3\n" in result.out
    assert "  scope.tenant_id = " in result.out
    assert "\nSELECT\n  CASE WHEN (pg_column_size(whole.answer) <= " in result.out
    assert "SELECT JSON_OBJECT(\n" in result.out
    sql, _, plan = result.out.partition(";\n\n")
    assert "->  Index Scan using " in plan
    assert "cost=" in plan
    assert "actual time" not in plan
    assert "austin" not in sql.partition("\nSELECT")[2] + plan, "no value is in the SQL, or in a plan for all values"


def test_the_guide_shows_the_printed_output(run_in_wiki: RunCommand, write: Write) -> None:
    """Ids and the plan are not compared, because they differ between databases."""
    guide = (ROOT / "docs" / "how-to" / "reading-sql.md").read_text()
    (document,), (shown,) = (re.findall(rf"```{kind}\n(.*?)```", guide, re.DOTALL) for kind in ("graphql", "sql"))
    printed = run_in_wiki("explain", write(document), *MARA).out
    assert without_ids(printed.partition("\n\n")[0]) == without_ids(shown.partition("\n\n")[0])


def without_ids(text: str) -> str:
    return re.sub(r"[0-9a-f-]{36}", "ID", text)


def test_json_output_has_the_same_explanation(run_in_wiki: RunCommand, write: Write) -> None:
    found = explained(run_in_wiki, write(PAGE), *SLUG)
    assert found["operation"] == "query Page"
    assert found["cost"] == {"requested": 4, "limit": 20000}
    (statement,) = found["statements"]
    assert (statement["field"], statement["planning"], statement["hasSteps"]) == (None, "generic", False)
    sources = {parameter["source"]: parameter["value"] for parameter in statement["parameters"]}
    assert (sources["$slug"], sources["$first"]) == ("austin", 3)
    assert [parameter["number"] for parameter in statement["parameters"]] == list(
        range(1, len(statement["parameters"]) + 1)
    )
    assert f"${len(statement['parameters'])}::" in statement["sql"]
    assert statement["plan"][0]["Plan"]["Node Type"] == "Subquery Scan"


def test_postgres_accepts_the_formatted_sql(run_in_wiki: RunCommand, write: Write, dsn: str) -> None:
    (statement,) = explained(run_in_wiki, write(PAGE), *SLUG)["statements"]

    async def prepare() -> int:
        connection = await asyncpg.connect(dsn)
        try:
            return len((await connection.prepare(statement["sql"])).get_parameters())
        finally:
            await connection.close()

    assert asyncio.run(prepare()) == len(statement["parameters"])


def test_analyze_shows_times_and_buffers(run_in_wiki: RunCommand, write: Write) -> None:
    result = run_in_wiki("explain", write(PAGE), *SLUG, "--analyze", *MARA)
    assert result.code == 0, result.err
    assert "actual time=" in result.out
    assert "Buffers: shared hit=" in result.out
    assert "Execution Time: " in result.out
    (statement,) = explained(run_in_wiki, write(PAGE), *SLUG, "--analyze")["statements"]
    (plan,) = statement["plan"]
    assert plan["Plan"]["Actual Rows"] == 1
    assert plan["Plan"]["Shared Hit Blocks"] > 0
    assert plan["Execution Time"] > 0
    assert "$" in json.dumps(plan), "it is the plan for all values, as the server uses it"


@pytest.mark.parametrize("more", [(), ("--analyze",)])
def test_a_search_is_explained_with_the_parameters_of_its_steps(
    run_in_wiki: RunCommand, write: Write, more: tuple[str, ...]
) -> None:
    found = explained(run_in_wiki, write(SEARCH), *more)
    (statement,) = found["statements"]
    assert statement["hasSteps"]
    values = {parameter["source"]: parameter["value"] for parameter in statement["parameters"]}
    assert values["step.keys"] == (["austin"] if more else None)
    assert found["statementsSent"] == (2 if more else None)
    assert statement["plan"][0]["Plan"]


def test_a_long_search_is_explained_by_its_compiled_statement(run_in_wiki: RunCommand, write: Write) -> None:
    """A ranking statement runs first; the pages that it finds are parameters of the compiled statement."""
    question = "which city is it that has more water than " + " or ".join(f"word{n}" for n in range(12))
    found = explained(run_in_wiki, write(SEARCH.replace('"austin"', f'"{question}"')), "--analyze")
    (statement,) = found["statements"]
    assert "step.page_id" in {parameter["source"] for parameter in statement["parameters"]}
    assert found["statementsSent"] > 2


def test_a_query_with_a_custom_plan_is_explained_with_its_values(run_in_wiki: RunCommand, write: Write) -> None:
    file = write("query ($t: DateTime!) { wikiPages(filter: {updatedSince: $t}, orderBy: UPDATED) { nodes { id } } }")
    for more in ((), ("--analyze",)):
        (statement,) = explained(run_in_wiki, file, "--variables", '{"t": "2999-01-01T00:00:00Z"}', *more)["statements"]
        assert statement["planning"] == "custom"
        assert "2999-01-01" in json.dumps(statement["plan"])


def test_values_with_special_characters_are_quoted(run_in_wiki: RunCommand, write: Write) -> None:
    """Postgres quotes the values: quotation marks, backslashes, lists and documents."""
    file = write(
        """query ($slug: String!, $tags: [String!], $ids: [ID!]!, $tenantId: ID!) {
          a: wikiPage(tenantId: $tenantId, type: ENTITY, slug: $slug) { title }
          b: wikiPages(filter: {tags: $tags}) { nodes { title } }
          c: nodes(ids: $ids) { id }
        }"""
    )
    odd = {"slug": 'o\'\\ "x" $1 {}', "tags": ["a,b", 'c"d', "e\\f", "NULL", ""], "ids": ["nothing"]}
    (statement,) = explained(run_in_wiki, file, "--variables", json.dumps(odd), "--analyze")["statements"]
    assert statement["plan"][0]["Execution Time"] > 0


def test_a_query_with_introspection_sends_a_statement_per_root_field(run_in_wiki: RunCommand, write: Write) -> None:
    file = write("{ recentWikiPages(limit: 2) { bodyHtml } viewer { role } __schema { queryType { name } } }")
    found = explained(run_in_wiki, file)
    assert [statement["field"] for statement in found["statements"]] == ["recentWikiPages", "viewer"]
    assert explained(run_in_wiki, file, "--analyze")["statementsSent"] == 2
    result = run_in_wiki("explain", file, *MARA)
    assert "-- statements: 2\n-- field: recentWikiPages\n-- parameters:\n" in result.out
    assert "\n-- field: viewer\n" in result.out


def test_an_operation_without_statements_is_explained_with_its_cost(run_in_wiki: RunCommand, write: Write) -> None:
    assert run_in_wiki("explain", write("{ __typename }"), *MARA).out == (
        "-- query (without a name)\n-- cost: 1 of at most 20000\n-- statements: 0\n"
    )


def test_a_query_over_the_cost_limit_is_explained_but_not_run(run_in_wiki: RunCommand, write: Write) -> None:
    file = write(
        "{ wikiPages(first: 100) { nodes { backlinks(first: 100) { nodes { id children(limit: 9) { id } } } } } }"
    )
    assert "\n-- cost: 100101 of at most 20000, refused\n" in run_in_wiki("explain", file, *MARA).out
    result = run_in_wiki("explain", file, "--analyze", *MARA, "--json")
    assert (result.code, result.error["code"]) == (1, "LIMIT_EXCEEDED")


def test_explain_applies_the_permissions_of_the_role(run_in_wiki: RunCommand, write: Write) -> None:
    file = write("{ wikiApiKeys { nodes { name } } }")
    result = run_in_wiki("explain", file, *MARA, "--json")
    assert (result.code, result.error["code"]) == (1, "FORBIDDEN")
    assert len(explained(run_in_wiki, file, "--role", "admin")["statements"]) == 1


def test_an_operation_among_several_is_chosen_by_name(run_in_wiki: RunCommand, write: Write) -> None:
    file = write("query A { viewer { role } } query B { recentWikiPages { id } }")
    result = run_in_wiki("explain", file, *MARA, "--json")
    assert (result.code, result.error["code"]) == (1, "OPERATION_RESOLUTION_FAILURE")
    assert explained(run_in_wiki, file, "--operation", "B")["operation"] == "query B"


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("query {\n  wikiPage(", "GRAPHQL_PARSE_FAILED", ":2:12: Syntax Error: Expected Name, found <EOF>."),
        ("query {\n\n  wikiPag { id }\n}", "GRAPHQL_VALIDATION_FAILED", ":3:3: Cannot query field 'wikiPag'"),
        ("query ($n: Int!) {\n wikiPages(first: $n) { nodes { id } } }", "BAD_USER_INPUT", ":1:8: Variable '$n'"),
        ("{ wikiPages(first: -1) { nodes { id } } }", "BAD_USER_INPUT", "A list cannot have a negative size."),
    ],
)
def test_an_invalid_document_is_reported_with_its_line(
    run_in_wiki: RunCommand, write: Write, text: str, code: str, message: str
) -> None:
    file = write(text)
    result = run_in_wiki("explain", file, *MARA)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert message in result.err
    error = run_in_wiki("explain", file, *MARA, "--json").error
    assert error["code"] == code
    if message.startswith(":"):
        assert message in result.err.replace(file, "")
        assert [error["line"], error["column"]] == [int(part) for part in message.split(":")[1:3]]


@pytest.mark.parametrize(
    "text",
    [
        'mutation Make { createWikiPage(input: {type: TOPIC, title: "x"}) { page { id } } }',
        "subscription Follow { wikiScopeChanged { kind } }",
    ],
)
@pytest.mark.parametrize("more", [(), ("--analyze",)])
def test_only_queries_are_explained(run_in_wiki: RunCommand, write: Write, text: str, more: tuple[str, ...]) -> None:
    result = run_in_wiki("explain", write(text), *MARA, *more, "--json")
    assert (result.code, result.out, result.error["code"]) == (1, "", "NOT_A_QUERY")
    assert result.error["message"].startswith("Only a query can be explained, and this is a ")
    assert json.loads(run_in_wiki("pages", *MARA, "--json").out)["totalCount"] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("none.graphql",), "UNREADABLE", "none.graphql: No such file or directory."),
        (("page.graphql", "--variables", "@none.json"), "UNREADABLE", "none.json: No such file or directory."),
        (("page.graphql", "--variables", "{"), "BAD_USER_INPUT", "The variables are not JSON: "),
        (("page.graphql", "--variables", "[1]"), "BAD_USER_INPUT", "The variables must be a JSON object, like "),
        (("page.graphql", "--variables", nested(1_000)), "LIMIT_EXCEEDED", ""),
        (("page.graphql", "--variables", nested(50_000)), "BAD_USER_INPUT", "The variables are not JSON: "),
        (("bytes.graphql",), "BAD_USER_INPUT", "bytes.graphql: a document is text in UTF-8."),
    ],
)
def test_unreadable_files_and_invalid_variables_are_refused(
    run_in_wiki: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...], code: str, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("page.graphql").write_text(PAGE)
    Path("bytes.graphql").write_bytes(b"\xff")
    result = run_in_wiki("explain", *arguments, *MARA, "--json")
    assert (result.code, result.error["code"]) == (1, code)
    assert message in result.error["message"]


def test_document_and_variables_cannot_both_come_from_stdin(run_in_wiki: RunCommand) -> None:
    result = run_in_wiki("explain", "-", "--variables", "-", *MARA)
    assert result.code == 2
    assert "only one of FILE and --variables can be read from stdin" in result.err


@pytest.mark.parametrize("way", ["document", "variables", "file"])
def test_documents_and_variables_are_read_from_stdin_or_a_file(
    run_in_wiki: RunCommand, write: Write, tmp_path: Path, way: str
) -> None:
    """The command runs in its own process, as in a terminal."""
    file, values = write(PAGE), tmp_path / "page.json"
    values.write_text('{"slug": "austin"}')
    arguments, stdin = {
        "document": (("-", *SLUG), PAGE),
        "variables": ((file, "--variables", "-"), values.read_text()),
        "file": ((file, "--variables", f"@{values}"), ""),
    }[way]
    environment = {name: os.environ[name] for name in ("PATH", "CAIRN_DATABASE_URL", "CAIRN_DATA_DIR")}
    explained = run_command(["explain", *arguments, *MARA], environment, stdin)
    assert (explained.code, explained.err) == (0, "")
    assert '  $slug = "austin"\n' in explained.out


async def test_analyze_runs_read_only_and_is_rolled_back(dsn: str) -> None:
    wiki = await open_wiki(dsn)
    database = Database(dsn, size=1)
    await database.open()
    try:
        async with database.explaining() as connection:
            with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
                await connection.rows(
                    "DELETE FROM pages WHERE tenant_id = $1", [wiki.scope.tenant_id], ["ANALYZE"], False
                )
        async with database.explaining() as connection:
            await connection.raw.execute("SET LOCAL work_mem = '64kB'")
        async with database.searching() as free:
            assert await free.raw.fetchval("SHOW work_mem") != "64kB"
            assert await free.raw.fetchval("SELECT count(*) FROM pg_prepared_statements WHERE name ~ 'explained'") == 0
    finally:
        await database.close()
        await check_derived_rows(wiki)
        await close_wiki(wiki)
