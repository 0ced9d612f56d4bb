"""The documents, commands and programs of docs/tutorial and docs/how-to work on the sample wiki, over HTTP."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import pytest
from graphql import OperationDefinitionNode, OperationType, parse

from app.cli.demo_wikis import load_sample
from db.ids import new_id
from db.scope import Role
from resolvers.auth.api_keys import create_api_key
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.sources.sources import cite_source
from resolvers.webhooks.posting import headers_of
from resolvers.webhooks.webhooks import new_secret
from schema.root import GRAPHQL
from selection import Limits
from selection.execute.operation import parse_document
from tests.app.service import Service
from tests.wiki import Wiki, check_derived_rows

DOCS = Path(__file__).parents[3] / "docs"
GUIDES = sorted(file for folder in ("tutorial", "how-to") for file in (DOCS / folder).glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
TAGGED = re.compile(r"graphql\(`(.*?)`\)", re.DOTALL)
STARTS_HERE = ("HASH=", "curl -s")


class Block(NamedTuple):
    guide: str
    kind: str
    text: str


def blocks(*kinds: str) -> Iterator[Block]:
    for guide in GUIDES:
        yield from (Block(guide.name, *found) for found in BLOCK.findall(guide.read_text()) if found[0] in kinds)


@pytest.fixture
async def token_and_variables(service: Service, wiki: Wiki) -> tuple[str, dict[str, Any]]:
    """Return a token of the sample's Mara and the values of the guides' variables in her wiki."""
    await load_sample(wiki.database, lambda message: None, lambda title: nullcontext(lambda *progress: None))
    owner = await wiki.connection.fetchrow("SELECT tenant_id, id FROM owners WHERE slug = 'mara'")
    page = await wiki.connection.fetchrow("SELECT id, version FROM pages WHERE slug = 'austin-texas'")
    variables = {
        "tenantId": owner["tenant_id"], "since": "2026-01-01T00:00:00Z", "ids": [page["id"]], "pageId": page["id"],
        "version": page["version"], "text": "Hot, and full of bats.", "title": "Written in GraphiQL",
    }  # fmt: skip
    token = service.token(UUID(str(owner["tenant_id"])), UUID(str(owner["id"])), Role.MEMBER)
    return token, orjson.loads(orjson.dumps(variables, default=str))


async def test_every_document_and_command_runs_on_the_sample(
    service: Service, token_and_variables: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    token, variables = token_and_variables
    answers = {}
    for block in blocks("graphql"):
        (operation, *_) = parse(block.text).definitions
        if not isinstance(operation, OperationDefinitionNode) or operation.operation is OperationType.SUBSCRIPTION:
            continue
        names = {node.variable.name.value for node in operation.variable_definitions or ()}
        answer = await service.ask(block.text, token, **{name: variables[name] for name in names & variables.keys()})
        assert "errors" not in answer, (block.text, answer)
        answers[block.text.strip().partition("(")[0]] = answer["data"]
    assert answers["query Page"]["wikiPage"]["title"] == "Austin, Texas"
    assert answers["query Search"]["wikiSearchResults"]["edges"]
    assert answers["query Titles"]["wikiPages"]["pageInfo"]["hasNextPage"] is True
    assert answers["query Changes"]["wikiChanges"]["nodes"]
    assert answers["mutation Patch"]["patchWikiSection"]["page"]["version"] == variables["version"] + 1
    assert answers["mutation Edit {\n  editWikiPage"]["editWikiPage"]["changed"] is True
    assert answers["mutation Note"]["upsertWikiPage"]["created"] is True
    await run_commands(service.url, token, tmp_path)


async def test_the_readme_shows_the_actual_response_of_the_sample(
    service: Service, token_and_variables: tuple[str, dict[str, Any]]
) -> None:
    token, variables = token_and_variables
    shown = dict(BLOCK.findall((DOCS.parent / "README.md").read_text()))
    assert await service.ask(shown["graphql"], token, tenantId=variables["tenantId"]) == orjson.loads(shown["json"])


async def run_commands(url: str, token: str, folder: Path) -> None:
    """Run the commands that call the service."""
    if not shutil.which("curl"):
        pytest.skip("no curl here")
    env = os.environ | {"CAIRN_URL": f"{url}/graphql", "CAIRN_TOKEN": token}
    outputs = []
    for block in blocks("sh"):
        if block.text.startswith(STARTS_HERE):
            command = ["bash", "-euo", "pipefail", "-c", block.text]
            result = await asyncio.to_thread(
                subprocess.run, command, cwd=folder, env=env, capture_output=True, text=True
            )
            assert result.returncode == 0, result.stderr
            outputs.append(result.stdout)
    viewer = '{"data":{"viewer" : {"role" : "MEMBER"}},"extensions":{"cost":{"requested":1,"limit":20000}}}'
    assert outputs == [viewer * 2, "304\n"]


def test_every_graphql_document_of_the_docs_is_valid() -> None:
    pages = [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    found = [block for page in pages for block in BLOCK.findall(page.read_text())]
    documents = [text for kind, text in found if kind == "graphql" and "extend schema" not in text]
    documents += [document for kind, text in found if kind == "ts" for document in TAGGED.findall(text)]
    assert documents
    for text in documents:
        parse_document(GRAPHQL, text, Limits())


async def test_the_import_program_adds_each_line_only_once(service: Service, wiki: Wiki, tmp_path: Path) -> None:
    (program,) = blocks("python")
    (tmp_path / "add_lines.py").write_text(program.text)
    (tmp_path / "lines.txt").write_text("\n".join(f"Line {n} of the log" for n in range(45)))
    issued = await create_api_key(wiki.database, wiki.scope.tenant_id, "import", Role.SERVICE, [wiki.scope.owner_id])
    env = os.environ | {"CAIRN_URL": f"{service.url}/graphql", "CAIRN_KEY": issued.key}
    command = [sys.executable, "add_lines.py", "lines.txt"]
    for added in (45, 0):
        result = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert (result.stdout, result.stderr) == (f"{added} added\n", "")
    assert len(await wiki.rows("sources")) == 45
    await check_derived_rows(wiki)


PUT = """mutation($title: String!, $text: String!) {
    upsertWikiPage(input: {type: TOPIC, title: $title, bodyMd: $text}) { page { id } } }"""


async def test_the_changes_query_returns_pages_changed_during_pagination(
    service: Service, token: str, wiki: Wiki
) -> None:
    (changes,) = (block.text for block in blocks("graphql") if "query Changes" in block.text)
    changes = changes.replace("first: 50", "first: 2")
    bodies: dict[str, str] = {}

    async def write(title: str, text: str) -> None:
        await service.ask(PUT, token, title=title, text=text)

    async def read_changes(after: str | None) -> str | None:
        while True:
            variables = {"tenantId": str(wiki.scope.tenant_id), "after": after}
            found = (await service.ask(changes, token, **variables))["data"]["wikiChanges"]
            bodies.update({change["page"]["title"]: change["page"]["bodyMd"] for change in found["nodes"]})
            if after is None:
                await write("Page 0", "changed meanwhile")  # this walk has been where it was
            after = found["pageInfo"]["endCursor"] or after
            if not found["pageInfo"]["hasNextPage"]:
                return after

    for n in range(5):
        await write(f"Page {n}", "as it was")
    cursor = await read_changes(None)
    assert bodies["Page 0"] == "changed meanwhile", "it comes again at the end"
    await write("Page 3", "changed later")
    await read_changes(cursor)
    assert bodies == {"Page 0": "changed meanwhile"} | {f"Page {n}": "as it was" for n in (1, 2, 4)} | {
        "Page 3": "changed later"
    }


SHOWN = """See [[Chef Café]], [[chef-cafe|the chef]], [[topic/Kilns.md#Firing]] and [[Nobody]].

- 2026-04-03: “Hot.” [^day%201] [^day%201] [^later], and a note of mine[^own].

[^own]: Not evidence.

[by slug](wiki:kilns), [gone](wiki:gone), [by path](/wiki/topic/kilns), `[[Kilns]] [^later]`

```
[[Kilns]] [^later]
```
"""
READ = """See [Chef Café](/wiki/entity/chef-cafe), [the chef](/wiki/entity/chef-cafe), [topic/Kilns.md#Firing](/wiki/topic/kilns#Firing) and Nobody.

- 2026-04-03: “Hot.” [1](#evidence-1) [1](#evidence-1) [2](#evidence-2), and a note of mine[^own].

[^own]: Not evidence.

[by slug](/wiki/topic/kilns), [gone](#), [by path](/wiki/topic/kilns), `[[Kilns]] [^later]`

```
[[Kilns]] [^later]
```
"""  # noqa: E501


async def test_the_render_program_converts_wiki_links_and_footnotes(
    service: Service, wiki: Wiki, token: str, tmp_path: Path
) -> None:
    if (node := shutil.which("node")) is None:
        pytest.skip("no Node here")
    await create_page(wiki.database, wiki.scope, PageDraft("entity", "Chef Café"))
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Kilns"))
    page = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Shown", body=SHOWN))
    for ref in ("day 1", "later"):
        source_id = await wiki.add_source("daily_note", ref)
        await cite_source(wiki.database, wiki.scope, page_id=page.page_id, section_slug="overview", source_id=source_id)
    (document,) = (block.text for block in blocks("graphql") if block.guide == "render-pages.md")
    (program,) = (block.text for block in blocks("js") if block.guide == "render-pages.md")
    answer = await service.ask(document, token, pageId=str(page.page_id))
    (tmp_path / "readable.mjs").write_text(program)
    (tmp_path / "page.json").write_bytes(orjson.dumps(answer["data"]["node"]))
    (tmp_path / "run.mjs").write_text(
        "import { readFileSync } from 'node:fs'; import { readable } from './readable.mjs';"
        "console.log(JSON.stringify(readable(JSON.parse(readFileSync('page.json', 'utf8')))));"
    )
    result = await asyncio.to_thread(subprocess.run, [node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    shown = orjson.loads(result.stdout)
    assert shown["body"].strip() == READ.strip()
    assert [note["ref"] for note in shown["notes"]] == ["day 1", "later"]


def test_the_webhook_program_accepts_only_genuine_requests() -> None:
    secret, body = new_secret(), b'{"type": "page.created"}'
    headers = headers_of(new_id(), datetime.now(UTC), body, [new_secret(), secret])
    stale = headers_of(new_id(), datetime.now(UTC) - timedelta(hours=1), body, [secret])
    cases = [
        (secret, headers, body),
        (new_secret(), headers, body),
        (secret, headers, body + b" "),
        (secret, stale, body),
    ]
    (python,) = blocks("py")
    namespace: dict[str, Any] = {}
    exec(compile(python.text, "webhooks.md", "exec"), namespace)
    assert [namespace["is_genuine"](*case) for case in cases] == [True, False, False, False]
