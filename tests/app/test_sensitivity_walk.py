"""Tests that a caller whose ceiling is below secret gets no word and no id of a secret in any API.

The paths, tools and pages are taken from the contract, the catalogue of tools and the table of routes, so that new ones
are included. GraphQL is covered by tests/schema/access/test_sensitivity.py.
"""

import io
import itertools
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx
import pytest
from mcp import MCPError

from app.mcp.catalogue import BY_NAME
from app.rest.endpoint import PATH
from app.web.routes import READING
from db.scope import Actor, ActorKind, Role, Scope, Terms
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant
from resolvers.knowledge.lint_reports import mute_finding, report_lint
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.claims import supersede_claim
from resolvers.pages.claims.contradictions import Claimed, record_contradiction
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, create_page, delete_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.renaming import rename_page
from resolvers.pages.sharing import share_page
from resolvers.proposals.proposals import propose_change
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from resolvers.sync.planning import Direction
from resolvers.sync.syncing import sync_folder
from resolvers.webhooks.webhooks import WebhookDraft, create_webhook
from tests.app.clients.agents import Agent, agent
from tests.app.clients.rest_client import contract
from tests.app.clients.web_client import signed_in
from tests.app.service import Service
from tests.wiki import Wiki

CANARY = "zanzi"
SECRET = {"sensitivity": "secret"}
PARTLY = f"Open salary. [[near]]\n\n## Pay {{sensitivity=secret}}\n\nMuch {CANARY}pay.\n\n## Public\n\nSeen by all."
QUERIES = ("salary", "quux salaries of all", "Near", "zan")
TOUCHED = ("revisions", "proposals", "superseded_claims", "contradictions", "share_links", "aliases", "sections")


@dataclass
class Secrets:
    """A wiki with secrets, a guest who may read the rest of it, and the words and ids that must not leak."""

    wiki: Wiki
    guest: Scope
    never: set[str]
    """Words and ids of secrets in lower case."""
    slugs: list[str]
    """The current and the former slugs of all pages."""
    ids: list[str]
    """Ids of rows of various tables."""
    role: Grant


@pytest.fixture(params=[Grant.READER, Grant.MEMBER])
async def secrets(request: pytest.FixtureRequest, wiki: Wiki) -> Secrets:
    here = wiki.database, wiki.scope
    await create_webhook(wiki.database, wiki.scope.tenant_id, WebhookDraft("https://example.org/hooks"))

    async def page(title: str, body: str, **more: Any) -> UUID:
        return (await create_page(*here, PageDraft("topic", title, body=body, **more))).page_id

    near, whole = await page("Near", "Near the salary."), await page("Open", PARTLY)
    secret_fields = {"fields": SECRET, "tags": [f"{CANARY}tag"], "summary": f"The {CANARY}summary."}
    text = f"## Pay\n\nThe quux salary is {CANARY}. See [[near]]."
    hidden = await page(f"{CANARY}bar", text, aliases=[f"{CANARY}alias"], slug="plan", **secret_fields)
    others = [await page(f"{CANARY}{n}", f"The quux salary {n}.", slug=f"other-{n}", **secret_fields) for n in range(4)]
    source = await add_source(
        *here,
        SourceDraft("document", f"{CANARY}-ref", f"A {CANARY} salary.", f"{CANARY} source", metadata=dict(SECRET)),
    )
    plain = await add_source(*here, SourceDraft("document", "plain", "A salary for all."))
    await cite_source(*here, page_id=whole, section_slug="public", source_id=plain.source_id)
    await cite_source(*here, page_id=hidden, section_slug="pay", source_id=plain.source_id)
    await record_mention(*here, name=f"{CANARY} mention", source_id=source.source_id, quote=f"A {CANARY} salary.")
    await link_pages(*here, near, hidden, reason="manual")
    await set_parent(*here, hidden, parent_id=near)
    await set_parent(*here, near, parent_id=others[0])
    address = PageAddress(page_id=hidden)
    await supersede_claim(*here, address, fact=f"The quux salary is {CANARY}", replacement=f"It was {CANARY}two")
    await record_contradiction(*here, address, Claimed(f"{CANARY} one holds."), Claimed(f"{CANARY} other holds."))
    await share_page(*here, hidden)
    await mute_finding(*here, "orphans", page_id=hidden, reason=f"A {CANARY} reason.")

    async def proposed(scope: Scope) -> Any:
        return await update_page(wiki.database, scope, hidden, body=f"More {CANARY} salary.", edit_summary=CANARY)

    await propose_change(*here, Terms(f"Why {CANARY}"), proposed)
    await rename_page(*here, hidden, title=f"{CANARY}renamed", slug="plan-b")
    await merge_pages(*here, others[0], others[1])
    await archive_page(*here, others[2])
    await delete_page(*here, others[3])
    await report_lint(*here, "request")
    rows = [row for table in TOUCHED for row in await wiki.rows(table) if row["page_id"] in {hidden, *others}]
    marked = [row for row in await wiki.rows("sections") if "sensitivity" in row["heading"]]
    never = {str(row["id"]) for row in (*rows, *marked)} | {str(id) for id in (hidden, *others, source.source_id)}
    owner = await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, "guest", "Guest")
    await grant(
        wiki.database, wiki.scope.tenant_id, owner_id=wiki.scope.owner_id, grantee_id=owner.id, role=request.param
    )
    guest = Scope(wiki.scope.tenant_id, owner.id, Role.MEMBER, Actor(ActorKind.USER, "guest"), (owner.id,))
    slugs = [row["slug"] for row in await wiki.rows("pages")] + [
        row["slug"] for row in await wiki.rows("old_slugs", "1")
    ]
    return Secrets(
        wiki, guest, never | {CANARY}, slugs, [*never, str(near), str(whole), str(plain.source_id)], request.param
    )


def leaked(secrets: Secrets, request: str, answer: str) -> list[str]:
    """Return the secret words in a response that were not in its request."""
    request, answer = request.lower(), re.sub(r"[?&]q=zan\b", "", answer.lower())
    return [word for word in secrets.never if word in answer and word not in request]


# -- REST


def rest_paths(secrets: Secrets) -> Iterator[str]:
    """Yield each GET path of the contract with each slug, id and query."""
    values = {
        "slug": secrets.slugs, "id": secrets.ids, "q": QUERIES, "from": ["1"], "to": ["2"], "path": ["a.png"],
        "include_archived": ["true"], "status": ["archived", "open", "declined"], "in": ["pages,sources"],
        "check": ["orphans"], "order": ["title"], "history": ["true"], "version": ["1"], "which": ["in", "out"],
    }  # fmt: skip
    for path, operations in contract()["paths"].items():
        if "get" not in operations or path.endswith(".zip"):
            continue
        given = operations["get"].get("parameters", [])
        named = [parameter["name"] for parameter in given if parameter.get("in") == "path"]
        needed = [
            parameter["name"] for parameter in given if parameter.get("in") == "query" and parameter.get("required")
        ]
        free = [
            parameter["name"] for parameter in given if parameter.get("in") == "query" and not parameter.get("required")
        ]
        for path_values in itertools.product(*(values[name] for name in named)):
            place = path.format(**dict(zip(named, (quote(value, safe="") for value in path_values), strict=True)))
            for query_values in itertools.product(*(values[name] for name in needed)):
                query = [f"{name}={quote(value)}" for name, value in zip(needed, query_values, strict=True)]
                yield f"{place}?{'&'.join(query)}"
                yield from (
                    f"{place}?{'&'.join([*query, f'{name}={quote(value)}'])}"
                    for name in free
                    for value in values.get(name, ())
                )


async def test_rest_shows_no_secret(service: Service, token: str, secrets: Secrets) -> None:
    own = {"authorization": f"Bearer {token}"}
    guest = {
        "authorization": f"Bearer {service.token(secrets.guest.tenant_id, secrets.guest.owner_id, Role.MEMBER)}",
        "x-cairn-owner": str(secrets.wiki.scope.owner_id),
    }
    paths, owner_leaks, successes = list(rest_paths(secrets)), 0, 0
    assert len(paths) > 150
    for path in paths:
        answer = await service.http.get(PATH + path, headers=guest)
        assert answer.status_code < 500, (path, answer.text)
        assert leaked(secrets, path, answer.text + str(answer.headers)) == [], (path, answer.text)
        successes += answer.status_code == 200
        owner_leaks += bool(leaked(secrets, path, (await service.http.get(PATH + path, headers=own)).text))
    assert successes > 40
    assert owner_leaks > 40, "the owner sees the secrets"
    export = await service.http.get(f"{PATH}/export.zip?history=true", headers=guest)
    archive = zipfile.ZipFile(io.BytesIO(export.content))
    for name in archive.namelist():
        assert leaked(secrets, "", name + archive.read(name).decode()) == [], name


# -- tools


def calls(secrets: Secrets) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each tool with arguments for each page, id and query."""
    pages = [*secrets.slugs, *(f"topic/{slug}" for slug in secrets.slugs)]
    values: dict[str, list[Any]] = {
        "query": list(QUERIES), "page": pages, "id": secrets.ids, "topic": secrets.slugs, "question_id": secrets.ids,
        "source": secrets.ids, "supersedes": pages,
    }  # fmt: skip
    fixed = {
        "old_text": "salary", "new_text": "wage", "text": "More.", "fact": "The quux salary", "replacement": "None",
        "version": 1, "from_version": 1, "to_version": 2, "content": "Words.", "title": "Near", "type": "topic",
        "question": "Which?", "why": "So.", "decision": "This.", "sensitivity": None,
    }  # fmt: skip
    for name, tool in sorted(
        BY_NAME.items(), key=lambda item: item[1].writes
    ):  # reading tools first: written words may be read
        schema = tool.definition(with_output=False).input_schema
        required = schema.get("required", [])
        base = {name: fixed[name] for name in required if name in fixed}
        if set(required) <= base.keys():
            yield name, base
        for varied in values.keys() & schema["properties"].keys():
            for value in values[varied]:
                given = base | {varied: [value] if schema["properties"][varied].get("type") == "array" else value}
                if set(required) <= given.keys() and not (name == "wiki_update" and varied != "page"):
                    yield name, given


async def test_tools_show_no_secret(service: Service, token: str, secrets: Secrets) -> None:
    """Calls the tools that read, and the tools that write with an argument that names a secret.

    Tools work in the wiki of their credential and only search other wikis. The reader case therefore uses a reader of
    the wiki itself, who has the same ceiling.
    """
    is_reader = secrets.role is Grant.READER
    theirs = (secrets.wiki.scope.owner_id, Role.READER) if is_reader else (secrets.guest.owner_id, Role.MEMBER)
    owner_leaks = succeeded = sent = 0
    async with (
        agent(service, service.token(secrets.guest.tenant_id, *theirs)) as guest,
        agent(service, token) as own,
    ):
        for resource in await resources(guest):
            assert leaked(secrets, "", resource) == []
        assert any(leaked(secrets, "", resource) for resource in await resources(own))
        for name, given in calls(secrets):
            writes = BY_NAME[name].writes
            if writes and not any(CANARY in str(value) or value in secrets.never for value in given.values()):
                continue
            text, is_error = await answer_of(guest, name, given)
            assert leaked(secrets, f"{name} {given}", text) == [], (name, given, text)
            sent, succeeded = sent + 1, succeeded + (not is_error)
            if not writes:
                owner_leaks += bool(leaked(secrets, f"{name} {given}", (await answer_of(own, name, given))[0]))
    assert (sent > 100, succeeded > (30 if is_reader else 10), owner_leaks > 20) == (True, True, True), (
        sent,
        succeeded,
        owner_leaks,
    )


async def answer_of(caller: Agent, name: str, given: dict[str, Any]) -> tuple[str, bool]:
    result = await caller.client.call_tool(name, given)
    return f"{result.content} {result.structured_content} {result.meta}", bool(result.is_error)


async def resources(caller: Agent) -> list[str]:
    """Return the list of resources, and the text of each resource or the error of reading it."""
    listed = await caller.client.list_resources()
    found = [str(listed)]
    for resource in listed.resources:
        try:
            found.append(str(await caller.client.read_resource(resource.uri)))
        except MCPError as error:  # readers may not read the lint resource
            found.append(str(error))
    return found


# -- the reader


def web_paths(secrets: Secrets, owner: str) -> Iterator[str]:
    for path in READING:
        names = re.findall(r"{(\w+)", path)
        rows = [secrets.slugs if "slug" in names else secrets.ids if "id" in names else [""]]
        for (value,) in itertools.product(*rows):
            place = re.sub(r"{owner}", owner, path).replace("{type}", "topic").replace("{path:path}", "a.png")
            place = place.replace("{slug}", value).replace("{id}", value)
            yield place
            if place.startswith(("/search/", "/suggest/", "/sources/", "/pages/")):
                yield from (f"{place}?q={quote(query)}" for query in QUERIES)


async def test_the_reader_shows_no_secret(
    service: Service, browser: httpx.AsyncClient, secrets: Secrets, owner: str
) -> None:
    theirs = service.token(secrets.guest.tenant_id, secrets.guest.owner_id, Role.MEMBER)
    owner_leaks = successes = 0
    async with signed_in(service, theirs) as guest:
        for path in web_paths(secrets, owner):
            answer = await guest.get(path)
            assert answer.status_code < 500, (path, answer.text)
            assert leaked(secrets, path, answer.text + answer.headers.get("location", "")) == [], (path, answer.text)
            successes += answer.status_code == 200
            owner_leaks += bool(leaked(secrets, path, (await browser.get(path)).text))
    assert (successes > 30, owner_leaks > 30) == (True, True), (successes, owner_leaks)


# -- webhooks and synced folders


async def test_a_webhook_with_the_default_ceiling_gets_no_secret(secrets: Secrets) -> None:
    rows = await secrets.wiki.rows("webhook_deliveries")
    assert {row["slug"] for row in rows} >= {"near", "open"}
    assert leaked(secrets, "", " ".join(map(str, rows))) == []


async def test_a_synced_folder_contains_no_secret(secrets: Secrets, tmp_path: Path) -> None:
    scope = secrets.guest.in_owner(secrets.wiki.scope.owner_id)
    await sync_folder(secrets.wiki.database, scope, tmp_path, direction=Direction.PULL)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"near.md", "open.md", "sync.json"} <= {path.name for path in files}
    assert "Seen by all." in (tmp_path / "topic" / "open.md").read_text()
    for path in files:
        assert leaked(secrets, "", f"{path} {path.read_bytes().decode(errors='replace')}") == [], path
