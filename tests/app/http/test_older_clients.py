"""Clients of the older GraphQL contract work with another URL and no other change."""

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from compiler.jobs.worker import work_once
from db.scope import Role
from resolvers.model.drafts import PageDraft
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.app.clients.older_clients import CLI, MOBILE, URL, WEB, OlderClient
from tests.app.service import Service
from tests.compiler.scripted_compiler import ScriptedPlanner, scripted_compiler
from tests.wiki import Wiki


@pytest.fixture
def client(service: Service, wiki: Wiki, token: str) -> OlderClient:
    return OlderClient(service, token, str(wiki.scope.tenant_id), str(wiki.scope.owner_id))


async def remember(wiki: Wiki, *texts: str) -> None:
    drafts = [SourceDraft("memory_unit", f"m-{n}", text) for n, text in enumerate(texts)]
    await retain_sources(wiki.database, wiki.scope, drafts)


async def create(wiki: Wiki, type: str, title: str, body: str | None = None) -> UUID:
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body=body))).page_id


async def test_the_mobile_app_opens_pages_and_shows_their_links(wiki: Wiki, client: OlderClient) -> None:
    lisbon = await create(wiki, "topic", "Lisbon")
    taberna = await create(wiki, "entity", "Taberna", "In [[Lisbon]].")
    assert await client.open_page("TOPIC", "lisbon") == "Lisbon\nbased on 0 memories\n< Taberna"
    assert await client.open_page("ENTITY", "taberna") == "Taberna\nbased on 0 memories\n> Lisbon"
    assert await client.open_page("DECISION", "taberna") is None
    await set_parent(wiki.database, wiki.scope, taberna, parent_id=lisbon)
    assert await client.draw() == {("Taberna", "Lisbon", False), ("Lisbon", "Taberna", True)}
    await archive_page(wiki.database, wiki.scope, taberna)
    assert await client.open_page("ENTITY", "taberna") is None
    recent = await client.ask(MOBILE["recent"], userId=client.user_id, limit=10)
    assert [page["title"] for page in recent] == ["Lisbon"]


async def test_the_mobile_app_shows_the_memories_of_a_page(wiki: Wiki, client: OlderClient) -> None:
    await remember(wiki, "page entity Momofuku # notes\nFood.", "page entity Momofuku # notes\nMore food.")
    assert await client.compile(lambda: work_once(wiki.database, scripted_compiler(), "test")) == 0
    place = {"userId": client.user_id, "type": "ENTITY", "slug": "momofuku"}
    page = await client.ask(MOBILE["page"], **place)
    assert (page["sourceMemoryCount"], [section["sectionSlug"] for section in page["sections"]]) == (2, ["notes"])
    assert set((await client.ask(MOBILE["memories"], **place, limit=5))["sourceMemoryIds"]) == {"m-0", "m-1"}
    assert (await client.ask(MOBILE["section"], **place, section="notes"))["sectionChildren"] == []
    (hit,) = await client.ask(MOBILE["search"], userId=client.user_id, query="momof", limit=None)
    assert (hit["page"]["title"], sorted(hit["matchingMemoryIds"])) == ("Momofuku", ["m-0", "m-1"])


async def test_the_web_app_finds_pages_and_their_connected_pages(wiki: Wiki, client: OlderClient) -> None:
    await create(wiki, "topic", "Lisbon")
    page_id = await create(wiki, "entity", "Taberna", "In [[Lisbon]].")
    assert await client.find("taberna") == ["Taberna"]
    around = await client.ask(WEB["around"], pageId=str(page_id))
    assert [(page["title"], page["status"], page["aliases"]) for page in around["connected"]] == [
        ("Lisbon", "active", ["lisbon"])
    ]
    assert around["backlinks"] == []


async def test_the_command_line_watches_a_compile_to_its_end(wiki: Wiki, client: OlderClient) -> None:
    await remember(wiki, "page entity Momofuku\nFood.")
    (job,) = await client.jobs()
    assert (job["status"], job["trigger"], job["claimedAt"]) == ("pending", "memory_retain", None)
    assert await client.status() == [("pending", "a memory", "-", "-")]
    assert await client.compile(lambda: work_once(wiki.database, scripted_compiler(), "test")) == 0
    (job,) = await client.jobs()
    assert job["status"] == "succeeded"
    assert job["userId"] == client.user_id
    assert datetime.fromisoformat(job["claimedAt"]) <= await wiki.connection.fetchval("SELECT clock_timestamp()")
    assert await client.status() == [("succeeded", "a memory", "1", "1")]


async def test_the_command_line_rebuilds_a_wiki(wiki: Wiki, client: OlderClient) -> None:
    await remember(wiki, "page entity Momofuku\nFood.")
    while await work_once(wiki.database, scripted_compiler(), "test"):
        pass
    assert await client.rebuild(lambda: work_once(wiki.database, scripted_compiler(), "test")) == (1, 0)
    assert await client.find("momofuku") == ["Momofuku"]


async def test_the_command_line_distinguishes_a_failed_job_from_a_running_one(wiki: Wiki, client: OlderClient) -> None:
    class Broken(ScriptedPlanner):
        async def plan(self, *_: Any) -> Any:
            raise RuntimeError("no plan")

    async def try_again() -> None:
        await wiki.connection.execute("UPDATE compile_jobs SET run_after = created_at WHERE status = 'pending'")
        await work_once(wiki.database, scripted_compiler(Broken()), "test")

    await remember(wiki, "page entity Momofuku\nFood.")
    assert await client.compile(try_again) == 1
    (job,) = await client.jobs()
    assert (job["status"], job["attempt"], bool(job["error"])) == ("failed", 5, True)


async def test_sweep_jobs_have_the_trigger_lint_in_the_older_contract(wiki: Wiki, client: OlderClient) -> None:
    await remember(wiki, "hold Chef Joao")
    await wiki.connection.execute("UPDATE compile_jobs SET trigger = 'sweep'")
    assert await client.status() == [("pending", "the nightly sweep", "-", "-")]


async def test_an_import_of_a_journal_is_dispatched(wiki: Wiki, client: OlderClient) -> None:
    empty = await client.ask(CLI["import"], accountId="a-1", userId=client.user_id, limit=None)
    assert (empty["dispatched"], bool(empty["error"])) == (False, True)
    await wiki.add_source("journal_idea", "idea-1", "page entity Momofuku\nFood.")
    started = await client.ask(CLI["import"], accountId="a-1", userId=client.user_id, limit=5)
    assert (started["dispatched"], started["agentId"], started["error"]) == (True, client.user_id, None)
    assert await client.status() == [("pending", "an import", "-", "-")]


# -- the same service


async def test_permissions_and_limits_match_the_newer_endpoint(
    service: Service, wiki: Wiki, client: OlderClient
) -> None:
    reader = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    jobs = {"query": CLI["jobs"], "variables": {"tenantId": client.tenant_id}}
    refused = await service.http.post(URL, json=jobs, headers={"authorization": f"Bearer {reader}"})
    assert refused.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert (await service.http.post(URL, json=jobs)).status_code == 401
    lists = (f"a{n}: recentWikiPages(limit: 100) {{ children(limit: 100) {{ id }} }}" for n in range(3))
    expensive = {"query": "{" + " ".join(lists) + "}"}
    answer = (await service.http.post(URL, json=expensive, headers={"authorization": f"Bearer {client.token}"})).json()
    assert answer["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
    assert answer["extensions"]["cost"]["requested"] == 1 + 3 * (100 + 100 * 100)


async def test_an_idempotency_key_is_bound_to_its_endpoint(service: Service, client: OlderClient) -> None:
    body = {"query": CLI["compile"], "variables": {"tenantId": client.tenant_id, "ownerId": client.user_id}}
    headers = {"authorization": f"Bearer {client.token}", "idempotency-key": "k-1"}
    first = await service.http.post(URL, json=body, headers=headers)
    again = await service.http.post(URL, json=body, headers=headers)
    assert first.json()["data"]["compileWikiNow"]["status"] == "pending"
    assert (again.content, again.headers["idempotency-replayed"]) == (first.content, "true")
    newer = await service.http.post("/graphql", json=body, headers=headers)
    assert newer.json()["errors"][0]["extensions"]["code"] == "IDEMPOTENCY_KEY_REUSED"


async def test_the_older_endpoint_has_no_subscriptions(service: Service, client: OlderClient) -> None:
    url = service.url.replace("http", "ws") + URL
    with pytest.raises(InvalidStatus) as refused:
        await connect(url, subprotocols=[Subprotocol("graphql-transport-ws")])
    assert refused.value.response.status_code == 403
    headers = {"authorization": f"Bearer {client.token}", "accept": "text/event-stream"}
    assert (await service.http.post(URL, json={"query": "{ __typename }"}, headers=headers)).status_code == 406


async def test_fields_of_the_newer_schema_are_invalid_at_the_older_endpoint(
    service: Service, client: OlderClient
) -> None:
    headers = {"authorization": f"Bearer {client.token}"}
    for text in ("{ wikiPages { nodes { id } } }", "{ recentWikiPages { owner { id } } }", "{ viewer { role } }"):
        answer = (await service.http.post(URL, json={"query": text}, headers=headers)).json()
        assert answer["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
