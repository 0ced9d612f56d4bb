"""Tests the names, schemas and size of the list of tools."""

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
"""The limit for the listed tools, which a client puts into each prompt: a token is about four characters."""


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
    assert tokens(visible_tools(("all",)), with_output=True) > 3 * TOKENS, (
        "so most tools and all output schemas are left out of the usual list"
    )


def test_only_writing_tools_lack_the_read_only_hint() -> None:
    assert {tool["name"] for tool in listed() if not tool["annotations"]["readOnlyHint"]} == WRITING


def test_no_argument_names_a_tenant_or_an_owner() -> None:
    arguments = {name for tool in listed() for name in tool["inputSchema"]["properties"]}
    roles = {"owner_role"}  # the role that looks after a page, not the owner of a wiki
    assert not {name for name in arguments - roles if "tenant" in name or "owner" in name}


def test_tool_schemas_are_valid_and_describe_every_argument() -> None:
    for tool in listed():
        for kind in ("inputSchema", "outputSchema"):
            try:
                Draft202012Validator.check_schema(tool[kind])
            except SchemaError as error:
                pytest.fail(f"{tool['name']}: {error.message}")
        undescribed = {
            name
            for name, property_schema in tool["inputSchema"]["properties"].items()
            if "description" not in json.dumps(property_schema)
        }
        assert undescribed <= {"title"}, tool["name"]


def test_the_command_line_lists_the_same_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == listed()
    assert main(["tools"]) == 0
    assert "wiki_read(page, offset, version, max_chars)\n    Read a page" in capsys.readouterr().out
