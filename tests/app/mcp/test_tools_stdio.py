"""Tests `cairn mcp`: the tools over stdio, in their own process."""

from pathlib import Path

from tests.app.clients.agents import local_agent
from tests.wiki import Wiki


async def test_a_stdio_server_works_in_the_wiki_named_by_its_arguments(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    arguments = ("--tenant", str(wiki.scope.tenant_id), "--owner", str(wiki.scope.owner_id))
    async with local_agent(dsn, tmp_path, *arguments) as writer:
        created = await writer.call("wiki_create", title="Austin", type="topic", content="A city.")
        assert created["page"] == "topic/austin"
        assert (await writer.client.list_prompts()).prompts[0].name == "wiki-writing"
        assert (await writer.client.list_resources()).resources[2].uri == "cairn://page/topic/austin"
    revision = await wiki.row("revisions")
    assert (revision["author_kind"], revision["author_id"]) == ("agent", "cairn mcp")
    async with local_agent(dsn, tmp_path, *arguments, "--role", "reader") as reader:
        assert (await reader.call("wiki_read", page="austin"))["content"] == "A city."
        assert (await reader.expect_error("wiki_remember", content="x"))[0]["code"] == "FORBIDDEN"
        assert "wiki_create" not in {tool.name for tool in (await reader.client.list_tools()).tools}
