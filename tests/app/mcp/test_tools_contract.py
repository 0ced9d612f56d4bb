"""The list of tools: names and schemas that agents rely on."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from app.cli.program import main
from app.mcp.catalogue import BY_NAME, TOOLS, TOOLSETS, visible_tools
from app.mcp.tool import Tool

LISTED = Path(__file__).with_name("mcp_tools.json")
NAMES = {
    "wiki_create", "wiki_edit", "wiki_read", "wiki_list", "wiki_search", "wiki_history", "knowledge_search",
    "knowledge_write", "knowledge_list", "knowledge_delete",
}  # fmt: skip
OLDER = {"search_wiki", "read_wiki_page"}
WRITING = {
    "wiki_create", "wiki_edit", "wiki_append", "wiki_supersede", "wiki_update", "wiki_restore", "wiki_remember",
    "knowledge_write", "knowledge_delete", "wiki_stub", "wiki_ingest", "wiki_decide",
    "wiki_merge",
}  # fmt: skip
TOKENS = 3_000
"""Of all that a client puts into a prompt before the first question: a tokenizer makes one of some four characters."""


def listed() -> list[dict[str, Any]]:
    tools = (*TOOLSETS["all"], *TOOLSETS["chat"])
    return [tool.definition().model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


def test_the_list_of_tools_equals_the_committed_list() -> None:
    """To accept a change, delete the file, run this test, and commit the file that it writes."""
    text = json.dumps(listed(), indent=1, ensure_ascii=False) + "\n"
    if not LISTED.exists():
        LISTED.write_text(text, encoding="utf-8")
    assert text == LISTED.read_text(encoding="utf-8")


def test_every_public_tool_name_exists() -> None:
    assert {tool.name for tool in TOOLS} >= NAMES
    assert BY_NAME.keys() >= OLDER


def test_the_list_of_tools_stays_below_its_token_limit() -> None:
    def tokens(tools: Sequence[Tool], *, with_output: bool = False) -> int:
        shown = [tool.definition(with_output=with_output) for tool in tools]
        listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in shown]
        return len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False)) // 4

    assert tokens(visible_tools()) < TOKENS
    assert tokens(visible_tools(may_write=False)) < TOKENS // 2
    assert tokens(visible_tools(("all",)), with_output=True) > 3 * TOKENS, "which is why most are left out"


def test_hints_say_which_tools_write() -> None:
    assert {one["name"] for one in listed() if not one["annotations"]["readOnlyHint"]} == WRITING


def test_no_argument_names_a_tenant_or_an_owner() -> None:
    arguments = {name for one in listed() for name in one["inputSchema"]["properties"]}
    roles = {"owner_role"}  # who looks after a page, which says nothing of whose wiki it lies in
    assert not {name for name in arguments - roles if "tenant" in name or "owner" in name}


def test_tool_schemas_are_valid_and_describe_every_argument() -> None:
    for one in listed():
        for kind in ("inputSchema", "outputSchema"):
            try:
                Draft202012Validator.check_schema(one[kind])
            except SchemaError as error:
                pytest.fail(f"{one['name']}: {error.message}")
        undescribed = {
            name for name, about in one["inputSchema"]["properties"].items() if "description" not in json.dumps(about)
        }
        assert undescribed <= {"title"}, one["name"]


def test_the_command_line_lists_the_same_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == listed()
    assert main(["tools"]) == 0
    assert "wiki_read(page, offset, version, max_chars)\n    Read a page" in capsys.readouterr().out
