"""Tests that GraphQL, REST, tools and files write and read the page fields that frontmatter also has."""

import io
import zipfile
from typing import Any

import pytest

from db.scope import Role
from resolvers.auth.api_keys import create_api_key
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.claims import supersede_claim
from resolvers.pages.history import restore_state
from resolvers.pages.lifecycle import create_page, update_page
from tests.app.clients.agents import agent
from tests.app.clients.rest_client import RestClient
from tests.app.service import Service
from tests.wiki import Wiki

READ = """query ($t: ID!, $slug: String!) { wikiPage(tenantId: $t, type: TOPIC, slug: $slug) { version
    sensitivity statedConfidence expiresAt ownerRole supersedes { slug } contradicts { slug } related { slug } } }"""
GIVEN = {
    "sensitivity": "SECRET", "statedConfidence": "HIGH", "expiresAt": "2027-03-02T00:00:00Z", "ownerRole": "architect",
    "supersedes": ["old"], "contradicts": ["topic/other"], "related": ["near"],
}  # fmt: skip
EXPECTED = {
    "sensitivity": "SECRET", "statedConfidence": "HIGH", "expiresAt": "2027-03-02T00:00:00.000000Z",
    "ownerRole": "architect", "supersedes": [{"slug": "old"}], "contradicts": [{"slug": "other"}],
    "related": [{"slug": "near"}],
}  # fmt: skip
STORED = {
    "sensitivity": "secret", "confidence": "high", "expires_at": "2027-03-02", "owner": "architect",
    "supersedes": ["old"], "contradicts": ["topic/other"],
}  # fmt: skip
UNSET = {
    "sensitivity": "INTERNAL", "statedConfidence": None, "expiresAt": None, "ownerRole": None, "supersedes": [],
    "contradicts": [], "related": [],
}  # fmt: skip


@pytest.fixture
async def rest(service: Service, token: str, wiki: Wiki) -> RestClient:
    for title in ("Old", "Other", "Near"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body="Words."))
    return RestClient(service.http, token)


async def graphql(service: Service, token: str, query: str, **variables: Any) -> Any:
    headers = {"authorization": f"Bearer {token}"}
    answer = (
        await service.http.post("/graphql", json={"query": query, "variables": variables}, headers=headers)
    ).json()
    assert "errors" not in answer, answer
    return answer["data"]


async def mutate(service: Service, token: str, mutation: str, **given: Any) -> dict[str, Any]:
    kind = mutation[0].upper() + mutation[1:] + "Input"
    text = (
        f"mutation ($i: {kind}!) {{ done: {mutation}(input: $i) {{ page {{ id }} userErrors {{ field message }} }} }}"
    )
    payload: dict[str, Any] = (await graphql(service, token, text, i=given))["done"]
    return payload


async def test_graphql_writes_and_reads_page_fields(service: Service, token: str, rest: RestClient, wiki: Wiki) -> None:
    created = await mutate(service, token, "createWikiPage", type="TOPIC", title="Plan", bodyMd="A plan.", **GIVEN)
    tenant = str(wiki.scope.tenant_id)
    assert (await graphql(service, token, READ, t=tenant, slug="plan"))["wikiPage"] == {"version": 1, **EXPECTED}
    assert (await wiki.row("pages", slug="plan"))["metadata"] == STORED
    cleared = {name: [] if isinstance(value, list) else None for name, value in GIVEN.items()}
    await mutate(service, token, "updateWikiPage", pageId=created["page"]["id"], **cleared)
    assert (await graphql(service, token, READ, t=tenant, slug="plan"))["wikiPage"] == {"version": 2, **UNSET}
    await mutate(service, token, "upsertWikiPage", type="TOPIC", title="Plan", ownerRole="copywriter")
    await mutate(service, token, "updateWikiPage", pageId=created["page"]["id"], sensitivity="PUBLIC")
    assert (await wiki.row("pages", slug="plan"))["metadata"] == {"owner": "copywriter", "sensitivity": "public"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("supersedes", ["nobody"]), ("contradicts", ["plan"]), ("related", ["nobody"]), ("ownerRole", "x" * 101)],
)
async def test_an_invalid_value_of_a_page_field_is_refused(
    service: Service, token: str, rest: RestClient, wiki: Wiki, field: str, value: Any
) -> None:
    created = await mutate(service, token, "createWikiPage", type="TOPIC", title="Plan")
    payload = await mutate(service, token, "updateWikiPage", pageId=created["page"]["id"], **{field: value})
    assert payload["page"] is None
    assert payload["userErrors"][0]["field"] == [field] + (["0"] if isinstance(value, list) else [])
    assert (await wiki.row("pages", slug="plan"))["version"] == 1


async def test_rest_writes_and_reads_page_fields(rest: RestClient, wiki: Wiki) -> None:
    given = {
        "sensitivity": "confidential", "stated_confidence": "low", "expires_at": "2027-03-02T10:00:00Z",
        "owner_role": "backend", "supersedes": ["old"],
    }  # fmt: skip
    created = await rest.create_page("Plan", **given)
    names = {"slug": "old", "title": "Old", "type": "topic"}
    expected = given | {"expires_at": "2027-03-02T10:00:00.000000Z", "supersedes": [names]}
    assert created | expected == created
    assert (created["confidence"], created["contradicts"]) == ("low", [])
    changes = {"owner_role": None, "contradicts": ["other"], "supersedes": []}
    changed = (await rest.ask("PATCH", "/pages/plan", json=changes)).json()
    assert (changed["owner_role"], changed["supersedes"]) == (None, [])
    assert [page["slug"] for page in changed["contradicts"]] == ["other"]
    assert changed["sensitivity"] == "confidential", "a field that the request omits is unchanged"
    refused = await rest.ask("PATCH", "/pages/plan", json={"supersedes": ["nobody"]})
    assert (refused.status_code, refused.json()["field"]) == (422, "supersedes.0")


async def test_tools_write_and_read_page_fields(service: Service, token: str, rest: RestClient) -> None:
    async with agent(service, token) as mcp_agent:
        await mcp_agent.call("wiki_create", title="Plan", type="topic", content="A plan.", sensitivity="confidential")
        given = {"expires_at": "2027-03-02", "owner_role": "architect", "contradicts": ["Topic/other"]}
        await mcp_agent.call("wiki_update", page="plan", stated_confidence="high", supersedes=["[[old]]"], **given)
        page, text = await mcp_agent.call("wiki_read", page="plan"), await mcp_agent.text("wiki_read", page="plan")
        await mcp_agent.call("wiki_update", page="plan", owner_role="", expires_at="")
        after = await mcp_agent.call("wiki_read", page="plan")
        error, _ = await mcp_agent.expect_error("wiki_update", page="plan", sensitivity="hush")
    assert page["expires_at"] == "2027-03-02T00:00:00.000000Z"
    assert page == page | {
        "sensitivity": "confidential", "stated_confidence": "high", "owner_role": "architect",
        "supersedes": ["topic/old"], "contradicts": ["topic/other"],
    }  # fmt: skip
    for line in ("sensitivity: confidential", "owner: architect", "contradicts: topic/other", "supersedes: topic/old"):
        assert line in text
    assert (after["owner_role"], after["expires_at"]) == (None, None)
    assert error["field"] == "sensitivity"


async def test_page_fields_are_imported_from_and_exported_to_frontmatter(
    service: Service, token: str, rest: RestClient, wiki: Wiki
) -> None:
    text = (
        "---\ntitle: Plan\ntype: topic\ndescription: What we do\nowner: architect\nconfidence: high\n"
        "expires_at: 2027-03-02\nsensitivity: secret\nsupersedes: old\n"
        "contradicts: [other]\nrelated: [near]\n---\nWe.\n"
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("topics/plan.md", text)
    answer = await rest.ask("POST", "/import", content=packed.getvalue(), headers={"content-type": "application/zip"})
    assert answer.status_code == 200, answer.text
    tenant = str(wiki.scope.tenant_id)
    assert (await graphql(service, token, READ, t=tenant, slug="plan"))["wikiPage"] == {"version": 1, **EXPECTED}
    await create_page(
        wiki.database, wiki.scope, PageDraft("topic", "Newer", fields={"owner_role": "qa", "contradicts": ["plan"]})
    )
    exported = await rest.get("/export.zip")
    with zipfile.ZipFile(io.BytesIO(exported.content)) as archive:
        files = {name.rpartition("/")[2]: archive.read(name).decode() for name in archive.namelist()}
    assert "owner: qa" in files["newer.md"]
    assert "contradicts:\n- plan\n" in files["newer.md"].replace("  - ", "- ")
    for line in ("owner: architect", "confidence: high", "sensitivity: secret", "supersedes: old"):
        assert line in files["plan.md"]


async def test_no_caller_marks_a_page_above_its_own_ceiling(service: Service, wiki: Wiki, rest: RestClient) -> None:
    """A member by grant reads up to confidential, so it may raise a page to confidential and lower it again."""
    tenant_id = wiki.scope.tenant_id
    guest = await create_owner(wiki.database, tenant_id, OwnerKind.USER, "guest", "Guest")
    await grant(wiki.database, tenant_id, owner_id=wiki.scope.owner_id, grantee_id=guest.id, role=Grant.MEMBER)
    key = (await create_api_key(wiki.database, tenant_id, "guest", Role.MEMBER, [guest.id])).key
    headers = {"authorization": f"Bearer {key}", "X-Cairn-Owner": str(wiki.scope.owner_id)}

    async def marked(method: str, path: str, **given: Any) -> int:
        return (await service.http.request(method, f"/api/wiki{path}", headers=headers, json=given)).status_code

    assert await marked("PATCH", "/pages/near", sensitivity="secret") == 403
    assert await marked("POST", "/pages", title="Mine", type="topic", content="x", sensitivity="secret") == 403
    assert await marked("PATCH", "/pages/near", sensitivity="confidential") == 200
    assert await marked("PATCH", "/pages/near", sensitivity="public") == 200
    assert [row["slug"] for row in await wiki.rows("pages", "slug")] == ["near", "old", "other"]


async def test_a_trajectory_becomes_as_sensitive_as_its_page(wiki: Wiki) -> None:
    page = await create_page(wiki.database, wiki.scope, PageDraft("topic", "Store", body="We use Ada."))
    for fact, now in (("We use Ada.", "We use Bee."), ("We use Bee.", "We use Cee.")):
        await supersede_claim(wiki.database, wiki.scope, PageAddress(page.page_id), fact=fact, replacement=now)
    await update_page(wiki.database, wiki.scope, page.page_id, fields={"sensitivity": "secret"})
    assert (await wiki.row("pages", slug="store-trajectory"))["metadata"]["sensitivity"] == "secret"


async def test_metadata_without_a_sensitivity_keeps_the_page_sensitivity(
    service: Service, token: str, rest: RestClient, wiki: Wiki
) -> None:
    """Metadata without the key `sensitivity` keeps the sensitivity, and with the key null clears it."""
    created = await mutate(service, token, "createWikiPage", type="TOPIC", title="Plan", sensitivity="SECRET")
    own = {"pageId": created["page"]["id"]}

    async def stored_metadata() -> Any:
        return (await wiki.row("pages", slug="plan"))["metadata"]

    for metadata in ({"a": 1}, None, {}):
        await mutate(service, token, "updateWikiPage", **own, metadata=metadata)
        assert await stored_metadata() == {**(metadata or {}), "sensitivity": "secret"}
    await mutate(service, token, "upsertWikiPage", type="TOPIC", title="Plan", metadata={"a": 2})
    assert await stored_metadata() == {"a": 2, "sensitivity": "secret"}
    await mutate(service, token, "updateWikiPage", **own, metadata={"sensitivity": "confidential"})
    assert await stored_metadata() == {"sensitivity": "confidential"}
    await mutate(service, token, "updateWikiPage", **own, metadata={"sensitivity": None, "b": 1})
    assert await stored_metadata() == {"b": 1}, "an explicit null clears the sensitivity"
    await mutate(service, token, "updateWikiPage", **own, metadata={}, sensitivity="SECRET")
    await mutate(service, token, "updateWikiPage", **own, metadata={}, sensitivity=None)
    assert await stored_metadata() == {}


async def test_a_restored_version_has_the_higher_sensitivity_of_both(wiki: Wiki) -> None:
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Plan", metadata={"a": 1}))).page_id
    await update_page(wiki.database, wiki.scope, page_id, fields={"sensitivity": "secret"}, title="Other")
    await restore_state(wiki.database, wiki.scope, page_id, 1)
    row = await wiki.row("pages")
    assert (row["title"], row["metadata"]) == ("Plan", {"a": 1, "sensitivity": "secret"})
    await update_page(wiki.database, wiki.scope, page_id, fields={"sensitivity": None})
    await restore_state(wiki.database, wiki.scope, page_id, 2)
    assert (await wiki.row("pages"))["metadata"]["sensitivity"] == "secret"
