"""Every API accepts, returns and exports the longest and most unusual values that any other API accepts."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from compiler.planner import NewPage, Plan, SectionProposal
from content import limits
from db.scope import Role
from tests.app.clients.agents import Agent
from tests.app.clients.rest_client import RestClient
from tests.app.command_line import run_in_this_process
from tests.app.service import Service
from tests.compiler.scripted_compiler import ScriptedPlanner, compile_all, retain_texts, scripted_compiler
from tests.full_wiki import largest_metadata, long_body, longest_line, longest_text, longest_texts
from tests.wiki import Wiki, check_derived_rows

ZIP = {"content-type": "application/zip"}
LENGTH = 5_000  # of texts: their own bound would take minutes


def slug(name: str) -> str:
    return f"{name}-{longest_text(limits.SLUG, 'ab')}"[: limits.SLUG.maximum]


async def by_graphql(service: Service, token: str, piece: str) -> None:
    document = """mutation Create($input: CreateWikiPageInput!) {
        createWikiPage(input: $input) { page { title summary tags bodyMd } } }"""
    given = {
        "type": "ENTITY",
        "title": longest_line(limits.TITLE, piece),
        "slug": slug("graphql"),
        "summary": longest_text(limits.SUMMARY, "\n"),
        "bodyMd": long_body(piece, LENGTH),
        "aliases": longest_texts(limits.ALIASES_PER_CALL, limits.ALIAS, piece),
        "tags": longest_texts(limits.TAGS, limits.TAG, piece),
        "metadata": largest_metadata(piece),
        "editSummary": longest_text(limits.EDIT_SUMMARY, "\n"),
    }
    sent = {"query": document, "variables": {"input": given}}
    headers = {"authorization": f"Bearer {token}"}
    answer = (await service.http.post("/graphql", json=sent, headers=headers)).json()
    assert "errors" not in answer, answer["errors"]
    assert answer["data"]["createWikiPage"]["page"]["title"] == given["title"]


async def by_rest(rest: RestClient, piece: str) -> None:
    await rest.create_page(
        longest_line(limits.TITLE, piece),
        content=long_body(piece, LENGTH),
        slug=slug("rest"),
        tags=longest_texts(limits.TAGS, limits.TAG, piece),
        edit_summary=longest_text(limits.EDIT_SUMMARY, "\n"),
    )
    given = {
        "kind": "document",
        "ref": longest_line(limits.REF, piece),
        "content": longest_text(limits.Bound("", LENGTH), piece),
        "title": longest_line(limits.SOURCE_TITLE, piece),
        "metadata": largest_metadata(piece),
    }
    assert (await rest.post("/sources", given)).status_code in (200, 201)


async def by_tools(agent: Agent, piece: str) -> None:
    await agent.call(
        "wiki_create",
        type="topic",
        title=longest_line(limits.TITLE, piece),
        slug=slug("tools"),
        summary=longest_text(limits.SUMMARY, "\n"),
        content=long_body(piece, LENGTH),
        tags=longest_texts(limits.TAGS, limits.TAG, piece),
        aliases=longest_texts(limits.ALIASES_PER_CALL, limits.ALIAS, piece),
    )
    await agent.call(
        "wiki_remember",
        content=longest_text(limits.Bound("", LENGTH), piece),
        title=longest_line(limits.SOURCE_TITLE, piece),
        ref=f"m{longest_line(limits.REF, piece)}"[: limits.REF.maximum - 1] + "x",
    )
    await agent.call(
        "knowledge_write", topic=f"k{longest_line(limits.TITLE, piece)}"[:-1], content="Text.", tags=["a", piece]
    )


async def by_import(rest: RestClient, piece: str) -> None:
    record = {
        "title": longest_line(limits.TITLE, piece),
        "slug": slug("import"),
        "body": long_body(piece, LENGTH),
        "cairn": {
            "summary": longest_text(limits.SUMMARY, "\n"),
            "aliases": longest_texts(limits.ALIASES, limits.ALIAS, piece)[1:],
        },
        "tags": ["a"],
        "deep": largest_metadata(piece)["deep"],
    }
    headers = {"content-type": "application/jsonl"}
    report = (await rest.ask("POST", "/import", content=orjson.dumps(record), headers=headers)).json()
    assert (report["created"], report["errors"]) == (1, [])


async def by_model(wiki: Wiki, piece: str) -> None:
    """Compile a page whose planner and section writer return the longest values."""
    (source,) = await retain_texts(
        wiki, "page entity Momofuku\nFood.", tags=longest_texts(limits.TAGS, limits.TAG, piece)[:20]
    )
    page = NewPage(
        "entity",
        longest_line(limits.TITLE, piece),
        (SectionProposal("overview", (source,), longest_text(limits.HEADING, piece)),),
        longest_text(limits.SUMMARY, "\n"),
        tuple(longest_texts(limits.ALIASES_PER_CALL, limits.ALIAS, piece)),
        tuple(longest_texts(limits.TAGS, limits.TAG, piece)),
    )

    class Long:
        async def write(self, task: Any) -> str:
            return longest_text(limits.Bound("", LENGTH), piece)

    compiler = replace(scripted_compiler(ScriptedPlanner(extra=Plan((page,)))), writer=Long())
    jobs = await compile_all(wiki, compiler)
    assert {job["status"] for job in jobs} == {"succeeded"}


async def command(dsn: str, data_dir: Path, *arguments: str) -> None:
    result = await asyncio.to_thread(run_in_this_process, data_dir, *arguments, database_url=dsn)
    assert result.code == 0, result.out + result.err


@pytest.mark.parametrize("piece", ["\x01", 'e\u0301", '])
async def test_every_api_returns_the_values_that_any_api_accepts(
    service: Service, token: str, wiki: Wiki, mcp_agent: Agent, dsn: str, tmp_path: Path, piece: str
) -> None:
    rest = RestClient(service.http, token)
    await by_graphql(service, token, piece)
    await by_rest(rest, piece)
    await by_tools(mcp_agent, piece)
    await by_import(rest, piece)
    await by_model(wiki, piece)
    await check_derived_rows(wiki)
    exported = await rest.get("/export.zip?history=true")
    assert exported.status_code == 200
    copy = await wiki.neighbour()
    other = RestClient(service.http, service.token(copy.scope.tenant_id, copy.scope.owner_id, Role.ADMIN))
    report = (await other.ask("POST", "/import", content=exported.content, headers=ZIP)).json()
    assert report["errors"] == []
    assert (await other.get("/export.zip?history=true")).content == exported.content
    last = await wiki.neighbour()
    lines = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for verb, target, path in (("export", copy, lines[0]), ("import", last, lines[0]), ("export", last, lines[1])):
        options = ["--tenant", str(target.scope.tenant_id), "--owner", str(target.scope.owner_id)]
        history = ["--history"] if verb == "export" else []
        await command(dsn, tmp_path, verb, str(path), *history, *options)
    assert lines[0].read_bytes() == lines[1].read_bytes()
