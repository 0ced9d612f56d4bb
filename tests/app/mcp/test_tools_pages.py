"""Tests the page tools: reads, page names, refused writes, versions, and the tools listed to each client."""

from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from app.mcp.catalogue import TOOLSETS
from app.setting_types import Toolset
from db.scope import Role
from resolvers.auth.owners import Grant, grant
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.contradictions import (
    Claimed,
    Resolution,
    record_contradiction,
    resolve_contradiction,
)
from resolvers.pages.lifecycle import archive_page
from tests.app.clients.agents import Agent, agent
from tests.app.service import Service, serving
from tests.wiki import Wiki, check_derived_rows


async def test_a_page_is_read_with_its_links_and_citations_in_one_statement(
    statements: list[str], service: Service, token: str
) -> None:
    async with agent(service, token) as mcp_agent:
        text = "A city.\n\n## Notes\n\nSee [[barton-springs]] and [[Zilker Park]].\n\n## More\n\nWords."
        fields = {"type": "topic", "aliases": ["ATX", "Capital of Texas"], "tags": ["city"]}
        await mcp_agent.call("wiki_create", title="Austin", content=text, **fields)
        await mcp_agent.call("wiki_create", title="Barton Springs", type="entity", content="In [[austin]].")
        for section, ref in (("notes", "m1"), ("notes", "m2"), ("overview", "m3")):
            await mcp_agent.call("wiki_remember", content=ref, ref=ref, page="austin", section=section)
        statements.clear()
        page = await mcp_agent.call("wiki_read", page="austin")
        read = [sql for sql in statements if "tool_calls" not in sql]
        output = await mcp_agent.text("wiki_read", page="austin")
    assert len(read) == 1, read
    assert page["links"] == ["entity/barton-springs"]
    assert page["broken_links"] == ["zilker-park"]
    assert page["linked_from"] == ["entity/barton-springs"]
    assert page["aliases"] == ["atx", "austin", "capital of texas"]
    cites = {section["section"]: sorted(section["cites"]) for section in page["sections"]}
    assert cites == {"overview": ["memory_unit:m3"], "notes": ["memory_unit:m1", "memory_unit:m2"], "more": []}
    for line in (
        "aliases: atx, austin, capital of texas", "links to: entity/barton-springs", "broken links: zilker-park",
        "overview (cites memory_unit:m3)",
    ):  # fmt: skip
        assert line in output


async def test_a_page_is_found_by_its_title_and_by_its_aliases(mcp_agent: Agent) -> None:
    await mcp_agent.call("wiki_create", title="TCP/IP", type="concept", content="Packets.", slug="internet-protocols")
    await mcp_agent.call(
        "wiki_create", title="Café Mocha", type="entity", content="Coffee.", aliases=["The Corner Bar"]
    )
    for name in ("TCP/IP", "tcp/ip", "internet-protocols", "concept/TCP/IP", "Internet Protocols"):
        assert (await mcp_agent.call("wiki_read", page=name))["page"] == "concept/internet-protocols"
    for name in ("Café Mocha", "cafe  mocha", "the corner bar", "entity/The Corner Bar", "[[Café Mocha]]"):
        assert (await mcp_agent.call("wiki_read", page=name))["page"] == "entity/cafe-mocha"
    edited = await mcp_agent.call("wiki_edit", page="The Corner Bar", old_text="Coffee", new_text="Good coffee")
    assert edited["page"] == "entity/cafe-mocha"
    await mcp_agent.call("wiki_create", title="The Corner Bar", type="topic", content="Bars.")
    assert (await mcp_agent.call("wiki_read", page="The Corner Bar"))["page"] == "topic/the-corner-bar", (
        "a title takes precedence over an alias"
    )


async def test_an_unknown_page_name_is_refused_with_similar_names(mcp_agent: Agent) -> None:
    await mcp_agent.call("wiki_create", title="Barton Springs", type="entity", content="Cold water.")
    for name in ("barton", "bartn springs", "cold water", "topic/barton-springs"):
        error, text = await mcp_agent.expect_error("wiki_read", page=name)
        assert error["code"] == "NOT_FOUND"
        assert "Perhaps you mean one of these: entity/barton-springs." in text
    _, text = await mcp_agent.expect_error("wiki_read", page="quasar")
    assert "Find pages with wiki_search or wiki_list." in text


async def test_a_page_with_an_existing_title_is_refused(mcp_agent: Agent, wiki: Wiki) -> None:
    await mcp_agent.call("wiki_create", title="Kiln", type="entity", content="Hot.", aliases=["The Oven"])
    for title in ("Kiln", "  KILN ", "The oven"):
        error, text = await mcp_agent.expect_error("wiki_create", title=title, type="entity", content="Hot again.")
        assert (error["code"], error["page"], error["currentVersion"]) == ("PAGE_EXISTS", "entity/kiln", 1)
        assert "wiki_edit" in text
        assert "entity/kiln" in text
    assert len(await wiki.rows("pages")) == 1
    other = await mcp_agent.call("wiki_create", title="Kiln", type="topic", content="About kilns.")
    assert other["page"] == "topic/kiln", "a page of another type may have the same title"
    meant = await mcp_agent.call("wiki_create", title="Kiln", type="entity", content="A village.", slug="kiln-village")
    assert meant["page"] == "entity/kiln-village"
    await archive_page(wiki.database, wiki.scope, (await wiki.row("pages", slug="kiln", type="entity"))["id"])
    await archive_page(wiki.database, wiki.scope, (await wiki.row("pages", slug="kiln-village"))["id"])
    _, text = await mcp_agent.expect_error("wiki_create", title="Kiln", type="entity", content="Hot.")
    assert "It is archived." in text
    await check_derived_rows(wiki)


async def test_the_fields_of_a_page_are_changed(mcp_agent: Agent, wiki: Wiki) -> None:
    await mcp_agent.call("wiki_create", title="River", type="entity", content="Wet.")
    await mcp_agent.call("wiki_create", title="Austin", type="topic", content="A city.", tags=["a"], aliases=["ATX"])
    changed = await mcp_agent.call(
        "wiki_update", page="austin", summary="The capital.", tags=["city", "texas"], aliases=["Waterloo"],
        related=["entity/river"], expected_version=1, edit_summary="Facts",
    )  # fmt: skip
    assert changed == {"page": "topic/austin", "version": 2, "changed": True}
    page = await mcp_agent.call("wiki_read", page="Waterloo")
    assert (page["summary"], page["tags"], page["links"]) == ("The capital.", ["city", "texas"], ["entity/river"])
    assert page["aliases"] == ["austin", "waterloo"]
    again = await mcp_agent.call("wiki_update", page="austin", tags=["city", "texas"])
    assert again == {"page": "topic/austin", "version": 2, "changed": False}
    await mcp_agent.call("wiki_update", page="austin", summary="", tags=[], related=[])
    page = await mcp_agent.call("wiki_read", page="austin")
    assert (page["summary"], page["tags"], page["links"], page["aliases"]) == (None, [], [], ["austin", "waterloo"])
    _, text = await mcp_agent.expect_error("wiki_update", page="austin")
    assert "Give what is to change: title, summary, tags, aliases, related" in text
    error, _ = await mcp_agent.expect_error("wiki_update", page="austin", related=["nowhere"])
    assert error["field"].startswith("related")
    error, _ = await mcp_agent.expect_error("wiki_update", page="austin", tags=["x"], expected_version=1)
    assert (error["code"], error["currentVersion"]) == ("CONFLICT", 3)
    await check_derived_rows(wiki)


async def test_versions_are_appended_to_read_compared_and_restored(mcp_agent: Agent, wiki: Wiki) -> None:
    await mcp_agent.call("wiki_create", title="Austin", type="topic", content="A city.", tags=["old"])
    done = await mcp_agent.call(
        "wiki_append", page="austin", text="It is hot.", section="weather", edit_summary="Weather"
    )
    assert done == {"page": "topic/austin", "version": 2, "changed": True}
    await mcp_agent.call("wiki_update", page="austin", tags=["new"], title="Austin, Texas")
    old = await mcp_agent.call("wiki_read", page="austin", version=1)
    assert (old["content"], old["version"], old["title"], old["tags"]) == ("A city.", 1, "Austin", ["old"])
    assert "## Weather\n\nIt is hot." in (await mcp_agent.call("wiki_read", page="austin", version=2))["content"]
    difference = await mcp_agent.call("wiki_diff", page="austin", from_version=1, to_version=2)
    assert (difference["lines_added"], difference["lines_removed"]) == (5, 1)
    assert "+It is hot." in difference["diff"]
    restored = await mcp_agent.call("wiki_restore", page="austin", version=1, expected_version=3)
    assert restored["version"] == 4
    page = await mcp_agent.call("wiki_read", page="austin")
    assert (page["content"], page["tags"], page["title"]) == ("A city.", ["old"], "Austin")
    for tool, arguments in (
        ("wiki_read", {"version": 9}), ("wiki_restore", {"version": 9}),
        ("wiki_diff", {"from_version": 1, "to_version": 9}),
    ):  # fmt: skip
        assert (await mcp_agent.expect_error(tool, page="austin", **arguments))[0]["code"] == "NOT_FOUND"
    await check_derived_rows(wiki)


async def test_a_long_difference_is_truncated_and_marked_as_cut(mcp_agent: Agent) -> None:
    await mcp_agent.call("wiki_create", title="Long", type="topic", content="One.")
    await mcp_agent.call("wiki_append", page="long", text="\n".join(f"Line {n}." for n in range(500)))
    for limit in (200, 1_000):
        text = await mcp_agent.text("wiki_diff", page="long", from_version=1, to_version=2, max_chars=limit)
        assert len(text) <= limit
        assert "ask with a greater max_chars" in text
    whole = await mcp_agent.call("wiki_diff", page="long", from_version=1, to_version=2, max_chars=50_000)
    assert (whole["is_cut"], "+Line 499." in whole["diff"]) == (False, True)


async def test_a_difference_that_is_too_long_is_not_called_the_same_text(mcp_agent: Agent) -> None:
    await mcp_agent.call("wiki_create", title="Long", type="topic", content="One.")
    await mcp_agent.call("wiki_append", page="long", text="\n".join(f"Line {n}." for n in range(5_001)))
    compared = await mcp_agent.call("wiki_diff", page="long", from_version=1, to_version=2)
    assert (compared["diff"], compared["is_cut"], compared["lines_added"]) == ("", True, 5_003)
    text = await mcp_agent.text("wiki_diff", page="long", from_version=1, to_version=2)
    assert "5003 lines added, 1 removed" in text
    assert "read both versions with wiki_read" in text


async def test_the_metadata_of_a_source_is_stored_with_it(mcp_agent: Agent, wiki: Wiki) -> None:
    metadata = {
        "place": "Barton Springs",
        "city": "Austin",
        "person": ["Mara", "Marco"],
        "project": "Swim",
        "tags": ["a"],
    }
    await mcp_agent.call("wiki_remember", content="Cold.", metadata=metadata)
    assert (await wiki.row("sources"))["metadata"] == metadata
    error, _ = await mcp_agent.expect_error("wiki_remember", content="Cold again.", metadata={"x": "y" * 100_000})
    assert error["field"] == "metadata"


async def test_a_reader_is_not_shown_tools_that_write(service: Service, wiki: Wiki, token: str) -> None:
    async def listed_tools(token: str, **headers: str) -> set[str]:
        async with agent(service, token, **headers) as caller:
            return {tool.name for tool in (await caller.client.list_tools()).tools}

    tenant_id, owner_id = wiki.scope.tenant_id, wiki.scope.owner_id
    everything = {tool.name for tool in TOOLSETS["all"]}
    reading = {tool.name for tool in TOOLSETS["all"] if not tool.writes}
    assert await listed_tools(token) == everything
    assert await listed_tools(service.token(tenant_id, owner_id, Role.READER)) == reading
    other = await wiki.neighbour(Role.MEMBER)
    theirs = service.token(tenant_id, other.scope.owner_id)
    for role, names in ((Grant.READER, reading), (Grant.MEMBER, everything)):
        await grant(wiki.database, tenant_id, owner_id=owner_id, grantee_id=other.scope.owner_id, role=role)
        assert await listed_tools(theirs, **{"x-cairn-owner": str(owner_id)}) == names
    async with agent(service, service.token(tenant_id, owner_id, Role.READER)) as reader:
        error, _ = await reader.expect_error("wiki_create", title="T", type="topic", content="x")
        assert error["code"] == "FORBIDDEN"


USUAL = {"X-MCP-Toolsets": ""}
"""The header of a client that requests no toolset."""


async def test_older_tool_names_are_listed_only_if_the_operator_enables_them(
    dsn: str, tmp_path: Path, wiki: Wiki
) -> None:
    async with serving(dsn, tmp_path, tools_older_names=True) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with agent(service, token, **USUAL) as caller:
            names = [tool.name for tool in (await caller.client.list_tools()).tools]
    assert names[-2:] == ["search_wiki", "read_wiki_page"]


async def test_a_client_is_listed_the_toolsets_that_it_asks_for(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async def listed_tools(service: Service, **headers: str) -> list[str]:
        async with agent(service, service.token(wiki.scope.tenant_id, wiki.scope.owner_id), **headers) as caller:
            assert (await caller.call("wiki_graph"))["pages"] == [], "a tool that is not listed can be called"
            return [tool.name for tool in (await caller.client.list_tools()).tools]

    async with serving(dsn, tmp_path, toolsets=["knowledge"]) as service:
        assert await listed_tools(service, **USUAL) == [tool.name for tool in TOOLSETS["knowledge"]]
        requested = await listed_tools(service, **{"X-MCP-Toolsets": "links, History"})
        assert set(requested) == {tool.name for name in ("links", "history") for tool in TOOLSETS[name]}
        assert set(await listed_tools(service, **{"X-MCP-Toolsets": "all"})) == {tool.name for tool in TOOLSETS["all"]}
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        headers = {"Authorization": f"Bearer {token}", "X-MCP-Toolsets": "magic"}
        answer = await service.http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)
        assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (400, "BAD_USER_INPUT")


def test_the_setting_knows_every_toolset() -> None:
    assert set(get_args(Toolset)) == set(TOOLSETS)


async def test_a_read_begins_with_superseded_claims(mcp_agent: Agent) -> None:
    await mcp_agent.call("wiki_create", title="Ledger", type="project", content="The ledger runs on Postgres.")
    result = await mcp_agent.call(
        "wiki_supersede", page="ledger", fact="runs on Postgres", replacement='runs on "MySQL"',
        superseded_on="2026-03-02",
    )  # fmt: skip
    assert (result["page"], result["version"], result["changed"]) == ("project/ledger", 2, True)
    line = 'Used to say "runs on Postgres" until 2026-03-02; now says "runs on \'MySQL\'".'
    read = await mcp_agent.call("wiki_read", page="ledger")
    assert (read["superseded"], read["superseded_count"]) == ([line], 1)
    lines = (await mcp_agent.text("wiki_read", page="ledger")).splitlines()
    assert lines[2].startswith("<data ")
    assert lines[3] == line, "superseded claims are inside the data marks"
    for n in range(7):
        await mcp_agent.call(
            "wiki_supersede", page="ledger", fact=f"Version {n}", replacement=f"{n + 1}", rewrite=False
        )
    read = await mcp_agent.call("wiki_read", page="ledger")
    assert (len(read["superseded"]), read["superseded_count"]) == (5, 8)
    assert "Version 6" in read["superseded"][0]
    refused = await mcp_agent.expect_error(
        "wiki_supersede", page="ledger", fact="a", replacement="b", overridden_by="x"
    )
    assert "kind:ref" in str(refused)


async def test_a_page_is_merged_into_another_page(mcp_agent: Agent) -> None:
    for type, title in (("topic", "Austin"), ("entity", "ATX")):
        await mcp_agent.call("wiki_create", title=title, type=type, content=f"{title} is hot.")
    merge = {"page": "entity/atx", "into": "topic/austin"}
    assert "CONFLICT" in str(await mcp_agent.expect_error("wiki_merge", **merge, expected_version=7))
    result = await mcp_agent.call("wiki_merge", **merge, expected_version=1, idempotency_key="merge-1")
    assert result == {"page": "topic/austin", "version": 2, "changed": True}
    assert await mcp_agent.call("wiki_merge", **merge, expected_version=1, idempotency_key="merge-1") == result
    read = await mcp_agent.call("wiki_read", page="ATX")
    assert read["page"] == "topic/austin"
    assert all(f"{title} is hot." in read["content"] for title in ("Austin", "ATX"))
    assert "into itself" in str(await mcp_agent.expect_error("wiki_merge", page="austin", into="topic/austin"))
    assert "austin" in str(await mcp_agent.expect_error("wiki_merge", page="austen", into="topic/austin"))


async def test_a_read_shows_open_contradictions(mcp_agent: Agent, wiki: Wiki) -> None:
    await mcp_agent.call("wiki_create", title="Ledger", type="project", content="On Postgres.\n\n## Later\n\nOn MySQL.")
    (page,) = await wiki.rows("pages")
    older, newer = (Claimed(text, on=datetime(2026, month, 2, tzinfo=UTC)) for text, month in MONTHS.items())
    contradiction = await record_contradiction(wiki.database, wiki.scope, PageAddress(page["id"]), older, newer)
    line = f'Undecided ({contradiction.id}): "On Postgres." (2026-01-02) or "On MySQL." (2026-03-02).'
    assert (await mcp_agent.call("wiki_read", page="ledger"))["contradictions"] == [line]
    assert line in await mcp_agent.text("wiki_read", page="ledger")
    await resolve_contradiction(wiki.database, wiki.scope, contradiction.id, Resolution.KEEP_NEWER, "I looked.")
    read = await mcp_agent.call("wiki_read", page="ledger")
    assert (read["contradictions"], read["superseded_count"]) == ([], 1)
    assert "Postgres" not in read["content"]


MONTHS = {"On Postgres.": 1, "On MySQL.": 3}
