"""Tests a whole review over HTTP: an author proposes a change, and a reviewer decides on it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from db.scope import Actor, ActorKind, Role
from tests.app.clients.agents import agent
from tests.app.clients.rest_client import RestClient
from tests.app.service import Service, serving
from tests.wiki import Wiki

POLICY = """mutation ($rules: [WikiWriteRuleInput!]) { updateWikiSettings(input: { writePolicy: $rules }) {
    userErrors { message } } }"""
HISTORY = """query ($t: ID!) { wikiPage(tenantId: $t, type: TOPIC, slug: "ledger") { version
    revisions(first: 5) { nodes { version authorId proposal { authorId deciderId status } } } } }"""
COMPILE = "mutation ($t: ID!) { compileWikiNow(tenantId: $t, propose: true) { id } }"
TEXT = "## Database\n\nIt runs on Postgres.\n\n## People\n\nMara looks after it."


@pytest.fixture
def ada(service: Service, wiki: Wiki) -> RestClient:
    """Return the client of an agent whose writes need a review."""
    return RestClient(
        service.http,
        service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.MEMBER, actor=Actor(ActorKind.AGENT, "ada")),
    )


@pytest.fixture
def ben(service: Service, wiki: Wiki) -> RestClient:
    """Return the client of an admin who decides on proposals."""
    return RestClient(
        service.http,
        service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN, actor=Actor(ActorKind.USER, "ben")),
    )


async def review(service: Service, token: str, role: str) -> None:
    answer = await service.ask(POLICY, token, rules=[{"role": role, "policy": "REVIEW"}])
    assert answer["data"]["updateWikiSettings"]["userErrors"] == []


async def test_a_conflicting_proposal_is_amended_and_accepted(
    service: Service, ada: RestClient, ben: RestClient, wiki: Wiki
) -> None:
    await ben.create_page("Ledger", content=TEXT)
    await review(service, ben.token, "MEMBER")

    # Proposed: the change is neither on the page nor found by a search.
    refusal = await ada.post(
        "/pages/ledger/edit", {"old_text": "Postgres", "new_text": "Oracle", "edit_summary": "Moved"}
    )
    assert (refusal.status_code, refusal.json()["code"]) == (409, "REVIEW_REQUIRED")
    path = f"/proposals/{refusal.json()['proposal_id']}"
    assert (await ada.get("/pages/ledger")).json()["version"] == 1
    assert (await ben.get("/search?q=Oracle")).json()["items"] == []
    waiting = (await ben.get(path)).json()
    assert (waiting["why"], waiting["conflicts"], waiting["status"]) == ("Moved", [], "open")
    assert "[-Postgres.-]" in waiting["word_diff"] or "[-Postgres-]" in waiting["word_diff"]
    assert (await ada.post(f"{path}/accept", {})).status_code == 403, "authors cannot accept their own proposals"

    # The page changes meanwhile: first in another section, then in the same section.
    await ben.post("/pages/ledger/edit", {"old_text": "Mara looks", "new_text": "Mara and Ben look"})
    assert (await ben.get(path)).json()["conflicts"] == []
    await ben.post("/pages/ledger/edit", {"old_text": "on Postgres.", "new_text": "on Postgres 18."})
    assert (await ben.get(path)).json()["conflicts"] != []
    refused = await ben.post(f"{path}/accept", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "CONFLICT")
    assert (await ben.get("/pages/ledger")).json()["version"] == 3, "nothing was written"

    # Amended and accepted: the version has the text of the reviewer and names author and reviewer.
    words = TEXT.replace("Postgres", "Oracle 23").replace("Mara looks", "Mara and Ben look")
    accepted = await ben.post(f"{path}/accept", {"content": words, "content_version": 3, "reason": "With its version."})
    assert (accepted.status_code, accepted.json()["status"], accepted.json()["accepted_version"]) == (
        200,
        "accepted",
        4,
    )
    page = (await ada.get("/pages/ledger")).json()
    assert (page["version"], page["content"]) == (4, words)
    assert [hit["slug"] for hit in (await ada.get("/search?q=Oracle")).json()["items"]] == ["ledger"]
    found = (await service.ask(HISTORY, ben.token, t=str(wiki.scope.tenant_id)))["data"]["wikiPage"]
    newest, previous, *_ = found["revisions"]["nodes"]
    both = {"authorId": "ada", "deciderId": "ben", "status": "ACCEPTED"}
    assert (newest["version"], newest["authorId"], newest["proposal"]) == (4, "ada", both)
    assert previous["proposal"] is None
    again = await ben.post(f"{path}/decline", {"reason": "Too late."})
    assert (again.status_code, again.json()["code"]) == (409, "CONFLICT")

    # The author reads the decision and its reason.
    async with agent(service, ada.token) as author:
        (decided,) = (await author.call("wiki_proposals"))["proposals"]
        assert (decided["status"], decided["reason"]) == ("accepted", "With its version.")


async def test_a_remembered_source_is_kept_while_its_citation_waits_for_a_reviewer(
    service: Service, ada: RestClient, ben: RestClient, wiki: Wiki
) -> None:
    await ben.create_page("Ledger", content=TEXT)
    await review(service, ben.token, "MEMBER")
    async with agent(service, ada.token) as author:
        kept = await author.call("wiki_remember", content="It moved.", page="ledger", section="database")
    assert (kept["created"], kept["cited_by"]) == (True, None)
    assert [str(row["id"]) for row in await wiki.rows("sources")] == [kept["source_id"]]
    accepted = await ben.post(f"/proposals/{kept['proposal_id']}/accept", {})
    assert (accepted.status_code, len(await wiki.rows("section_sources"))) == (200, 1)


async def test_a_compile_that_proposes_waits_for_the_reviewer(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    """No page exists until the admin accepts a proposal of the compiler."""
    async with serving(dsn, tmp_path, worker=True) as service:
        tenant = str(wiki.scope.tenant_id)
        ben = RestClient(
            service.http,
            service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN, actor=Actor(ActorKind.USER, "ben")),
        )
        await review(service, ben.token, "COMPILER")
        for n, text in enumerate(
            ("Met Ana Ruiz. Ana Ruiz lives in Porto.", "Ana Ruiz called.", "Lunch with Ana Ruiz.")
        ):
            given = {"kind": "daily_note", "ref": f"day-{n}", "content": text, "metadata": {"person": "Ana Ruiz"}}
            assert (await ben.post("/sources", given)).status_code == 201
        assert (await service.ask(COMPILE, ben.token, t=tenant))["data"]["compileWikiNow"]["id"]
        waiting = await proposals(ben)
        assert (await ben.get("/pages")).json()["items"] == []
        proposal = next(proposal for proposal in waiting if proposal["title"] == "Ana Ruiz")
        assert (proposal["operation"], proposal["base_version"]) == ("write_cited", None)
        accepted = await ben.post(f"/proposals/{proposal['id']}/accept", {"reason": "She does."})
        assert (accepted.status_code, accepted.json()["status"]) == (200, "accepted")
        page = (await ben.get("/pages/ana-ruiz")).json()
        assert "Porto" in page["content"]
        (revision,) = await wiki.rows("revisions", page_id=(await wiki.row("pages"))["id"])
        assert revision["author_kind"] == "compiler"
        assert await wiki.rows("section_sources") != []


async def proposals(rest: RestClient) -> list[dict[str, Any]]:
    """Wait until there are open proposals, and return them."""
    for _ in range(600):
        if found := (await rest.get("/proposals?status=open")).json()["items"]:
            return list(found)
        await asyncio.sleep(0.1)
    raise AssertionError("nothing was proposed")
