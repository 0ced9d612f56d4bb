"""Tests knowledge entries, which are written by tools or loaded from seed files, and the hot index."""

import asyncio
import json
from pathlib import Path

import pytest

from app.mcp.seed import load_seed_files
from app.settings import Settings
from tests.app.clients.agents import Agent, agent
from tests.app.command_line import environment, run_command
from tests.app.service import Service, serving
from tests.wiki import Wiki, check_derived_rows


async def test_an_entry_is_written_found_listed_and_deleted(mcp_agent: Agent, wiki: Wiki) -> None:
    created = await mcp_agent.call(
        "knowledge_write", topic="discord_setup", content="## Bot\n\n1. Create it.", tags="discord, bot"
    )
    assert created == {"topic": "discord_setup", "page": "reference/discord-setup", "version": 1, "created": True}
    (entry,) = (await mcp_agent.call("knowledge_search", query="discord"))["entries"]
    assert (entry["content"], entry["tags"], entry["source"]) == ("## Bot\n\n1. Create it.", ["discord", "bot"], "user")
    again = await mcp_agent.call("knowledge_write", topic="Discord setup", content="Another way.")
    assert (again["topic"], again["version"], again["created"]) == ("discord_setup", 2, False)
    (known,) = (await mcp_agent.call("knowledge_list"))["entries"]
    assert known["tags"] == ["discord", "bot"], "a write without tags keeps the tags"
    await mcp_agent.call("knowledge_delete", topic="discord_setup")
    assert (await mcp_agent.call("knowledge_list"))["entries"] == []
    error, text = await mcp_agent.expect_error("knowledge_delete", topic="discord_setup")
    assert (error["code"], "knowledge_list" in text) == ("NOT_FOUND", True)
    assert (await mcp_agent.call("knowledge_write", topic="discord_setup", content="Back."))["version"] == 3
    assert (await mcp_agent.call("wiki_read", page="reference/discord-setup"))["content"] == "Back."


async def test_writing_a_knowledge_entry_keeps_other_metadata_of_the_page(mcp_agent: Agent, wiki: Wiki) -> None:
    await mcp_agent.call("knowledge_write", topic="ports", content="8000.")
    await wiki.connection.execute("""UPDATE pages SET metadata = '{"room": 12}'""")
    (entry,) = (await mcp_agent.call("knowledge_list"))["entries"]
    assert entry["source"] == "api"
    await mcp_agent.call("knowledge_write", topic="ports", content="9000.")
    assert (await wiki.row("pages"))["metadata"] == {"room": 12, "knowledgeSource": "user"}


async def test_a_knowledge_search_returns_five_entries_within_max_chars(mcp_agent: Agent) -> None:
    for n in range(7):
        await mcp_agent.call("knowledge_write", topic=f"spring {n}", content="Springs are cold. " * 50)
    assert len((await mcp_agent.call("knowledge_search", query="springs"))["entries"]) == 5
    some = (await mcp_agent.call("knowledge_search", query="springs", max_chars=1300))["entries"]
    assert [entry["is_cut"] for entry in some] == [False, True]
    assert "2 more" not in await mcp_agent.text("knowledge_search", query="springs")
    text = await mcp_agent.text("knowledge_search", query="springs", max_chars=1300)
    assert "3 more did not fit" in text
    assert some[0]["content"] == "Springs are cold. " * 50
    assert 1200 < len(text) <= 1300


async def test_an_empty_knowledge_list_names_the_tool_that_fills_it(mcp_agent: Agent) -> None:
    text = await mcp_agent.text("knowledge_list")
    assert "no knowledge entries" in text.lower()
    assert "knowledge_write" in text


async def test_topics_are_listed_by_name_whatever_their_case(mcp_agent: Agent) -> None:
    for topic, tags in (("beta", ["x", "y"]), ("Alpha", []), ("alpine", None), ("Zebra", ["z"])):
        await mcp_agent.call("knowledge_write", topic=topic, content="Text.", tags=tags)
    text = await mcp_agent.text("knowledge_list")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows[1:] == [
        "| Alpha | - | user |", "| alpine | - | user |", "| beta | x, y | user |",
        "| Zebra | z | user |",
    ]  # fmt: skip
    seen, cursor = [], None
    while cursor or not seen:
        part = await mcp_agent.call("knowledge_list", limit=2, cursor=cursor)
        seen, cursor = [*seen, *(entry["topic"] for entry in part["entries"])], part["next_cursor"]
    assert seen == ["Alpha", "alpine", "beta", "Zebra"]


@pytest.mark.parametrize("query", ["", " ", '""', "(", "?!", "the", "the of", "*", "\0"])
async def test_a_search_without_search_terms_finds_nothing(mcp_agent: Agent, query: str) -> None:
    await mcp_agent.call("knowledge_write", topic="discord_setup", content="The bot of the house.", tags=["discord"])
    await mcp_agent.call("knowledge_write", topic="prices", content="Ten.")
    assert (await mcp_agent.call("knowledge_search", query=query))["entries"] == []


async def test_tags_are_searched_by_their_words(mcp_agent: Agent, wiki: Wiki) -> None:
    await mcp_agent.call(
        "knowledge_write", topic="bot guide", content="Create it.", tags="discord-setup,Machine Learning"
    )
    await mcp_agent.call("knowledge_write", topic="prices", content="Ten.", tags="money")
    for query in (
        "discord",
        "discord setup",
        "machine learning",
        "Learning",
        "machines",
        "discor",
        "tag:discord-setup",
    ):
        assert [entry["topic"] for entry in (await mcp_agent.call("knowledge_search", query=query))["entries"]] == [
            "bot guide"
        ]
    assert [hit["page"] for hit in (await mcp_agent.call("wiki_search", query="money"))["results"]] == [
        "reference/prices"
    ]
    await mcp_agent.call("knowledge_write", topic="prices", content="Ten.", tags=["costs"])
    assert (await mcp_agent.call("knowledge_search", query="money"))["entries"] == []
    await check_derived_rows(wiki)


async def test_the_hot_index_follows_tool_calls_and_reads(
    mcp_agent: Agent, service: Service, token: str, wiki: Wiki
) -> None:
    assert (await mcp_agent.call("wiki_hot_index"))["entries"] == []
    await mcp_agent.call("knowledge_write", topic="how to search", content="Words.", tags=["Search"])
    await mcp_agent.call("knowledge_write", topic="prices", content="Ten.", tags=["money"])
    await mcp_agent.call("wiki_create", title="Austin", type="topic", content="A city.")
    for _ in range(3):
        await mcp_agent.call("wiki_search", query="nothing")
    await mcp_agent.call("wiki_read", page="topic/austin")
    entries = (await mcp_agent.call("wiki_hot_index"))["entries"]
    assert [(entry["page"], entry["score"]) for entry in entries] == [
        ("reference/how-to-search", 3),
        ("topic/austin", 1),
    ]
    assert "- reference/how-to-search [Search]" in await mcp_agent.text("wiki_hot_index")
    answer = await service.ask("{ wikiHotIndex { score page { slug } } }", token)
    assert answer["data"]["wikiHotIndex"][1] == {"score": 1, "page": {"slug": "austin"}}
    stranger = await wiki.neighbour()
    async with agent(service, service.token(stranger.scope.tenant_id, stranger.scope.owner_id)) as other:
        assert (await other.call("wiki_hot_index"))["entries"] == []
    owner = f'ownerId: "{wiki.scope.owner_id}"'
    theirs = service.token(stranger.scope.tenant_id, stranger.scope.owner_id)
    answer = await service.ask(f"{{ wikiHotIndex({owner}) {{ score }} }}", theirs)
    assert answer["data"]["wikiHotIndex"] == []


async def test_a_call_is_counted_without_its_arguments(mcp_agent: Agent, wiki: Wiki) -> None:
    await mcp_agent.call("wiki_search", query="a secret word")
    await mcp_agent.expect_error("wiki_read", page="a-secret-page")
    rows = await wiki.rows("tool_calls", "tool")
    assert [(row["tool"], row["calls"]) for row in rows] == [("wiki_read", 1), ("wiki_search", 1)]
    assert "secret" not in str(rows)


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    folder = tmp_path / "seeds"
    folder.mkdir()
    (folder / "claude_models.md").write_text("tags: ai, models\n# Models\n\nSmall and large.")
    (folder / "ports.md").write_text("8000.")
    (folder / "empty.md").write_text("tags: a\n")
    (folder / "latin.md").write_bytes(b"\xe9")
    (folder / "notes.txt").write_text("No entry.")
    return folder


async def test_a_service_loads_its_seed_files_before_it_serves(
    dsn: str, tmp_path: Path, seeds: Path, wiki: Wiki
) -> None:
    target = {"seed_tenant": str(wiki.scope.tenant_id), "seed_owner": str(wiki.scope.owner_id)}
    for _ in range(2):
        async with serving(dsn, tmp_path, seed_dir=seeds, **target) as service:
            token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
            async with agent(service, token) as caller:
                entries = (await caller.call("knowledge_list"))["entries"]
    assert [(entry["topic"], entry["tags"], entry["source"]) for entry in entries] == [
        ("claude_models", ["ai", "models"], "seed"),
        ("ports", [], "seed"),
    ]
    assert (await wiki.row("pages", slug="claude-models"))["body_md"] == "# Models\n\nSmall and large."
    async with serving(dsn, tmp_path, seed_dir=seeds, seed_tenant="nobody", seed_owner="nobody") as service:
        assert (await service.http.get("/healthz")).status_code == 200


async def test_seed_files_neither_overwrite_nor_restore_entries(mcp_agent: Agent, wiki: Wiki, seeds: Path) -> None:
    await mcp_agent.call("knowledge_write", topic="ports", content="9000.")
    (seeds / ".draft.md").write_text("Hidden.")
    report = await load_seed_files(wiki.database, wiki.scope, seeds)
    assert (report.made, report.known, [file for file, _ in report.refused]) == (
        ["claude_models"],
        1,
        ["empty.md", "latin.md"],
    )
    await mcp_agent.call("knowledge_delete", topic="claude_models")
    assert (await load_seed_files(wiki.database, wiki.scope, seeds)).made == []
    (entry,) = (await mcp_agent.call("knowledge_search", query="ports"))["entries"]
    assert (entry["content"], entry["source"]) == ("9000.", "user")
    assert await load_seed_files(wiki.database, wiki.scope, seeds / "nowhere") == ([], 0, [])


async def test_a_command_loads_seed_files_and_reports_each_result(
    dsn: str, tmp_path: Path, seeds: Path, wiki: Wiki
) -> None:
    arguments = ("--tenant", str(wiki.scope.tenant_id), "--owner", str(wiki.scope.owner_id), "--json")
    environ = environment(tmp_path) | {"CAIRN_DATABASE_URL": dsn}
    seeded = await asyncio.to_thread(run_command, ["knowledge", "seed", str(seeds), *arguments], environ)
    report = json.loads(seeded.out)
    assert (seeded.code, report["made"], report["known"]) == (1, ["claude_models", "ports"], 0)
    assert [refusal["file"] for refusal in report["refused"]] == ["empty.md", "latin.md"]


def test_a_seed_directory_needs_a_wiki(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="CAIRN_SEED_TENANT"):
        Settings(seed_dir=tmp_path)
