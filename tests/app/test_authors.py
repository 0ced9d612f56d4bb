"""Tests the kind and the name of the author of a version in every API."""

from typing import Any

from db.scope import Actor, ActorKind, Role
from resolvers.auth.api_keys import create_api_key
from resolvers.auth.owners import OwnerKind, create_owner
from tests.app.clients.agents import agent
from tests.app.clients.rest_client import RestClient
from tests.app.service import Service
from tests.wiki import Wiki

HISTORY = """query ($tenant: ID!, $owner: ID!) {
    wikiPage(tenantId: $tenant, ownerId: $owner, type: TOPIC, slug: "kiln") {
        revisions { nodes { version authorKind authorName } }
    }
}"""
VIEWER = "{ viewer { actorKind actorName } }"


async def test_every_api_names_the_author_of_a_version(statements: list[str], service: Service, wiki: Wiki) -> None:
    tenant_id = wiki.scope.tenant_id
    scout = await create_owner(wiki.database, tenant_id, OwnerKind.AGENT, "scout", "Scout the agent")
    key = await create_api_key(wiki.database, tenant_id, "nightly import", Role.MEMBER, [scout.id])
    stranger = await wiki.neighbour()

    def token(actor: Actor | None) -> str:
        return service.token(tenant_id, scout.id, actor=actor)

    writers = {
        key.key: ("AGENT", "nightly import"),
        token(Actor(ActorKind.AGENT, str(scout.id))): ("AGENT", "Scout the agent"),
        token(Actor(ActorKind.USER, "ada@example.org")): ("USER", "ada@example.org"),
        token(Actor(ActorKind.SERVICE, "0199f0c2-5d3e-7c1a-9f00-3a5b8c2d1e4f")): (
            "SERVICE", "0199f0c2-5d3e-7c1a-9f00-3a5b8c2d1e4f",
        ),
        token(Actor(ActorKind.USER, str(stranger.scope.owner_id))): ("USER", "O"),
    }  # fmt: skip
    expected: list[tuple[str, str]] = []
    for n, (credential, author) in enumerate(writers.items()):
        rest = RestClient(service.http, credential)
        if n == 0:
            await rest.create_page("Kiln", content="Fires.")
        else:
            edited = await rest.post("/pages/kiln/edit", {"old_text": "Fires", "new_text": f"{n} Fires"})
            assert edited.status_code == 200, edited.text
        expected.insert(0, author)
        viewer = (await service.ask(VIEWER, credential))["data"]["viewer"]
        assert (viewer["actorKind"], viewer["actorName"]) == author
    credential = next(iter(writers))
    variables = {"tenant": str(tenant_id), "owner": str(scout.id)}
    nodes = (await service.ask(HISTORY, token(None), **variables))["data"]["wikiPage"]["revisions"]["nodes"]
    assert [(node["authorKind"], node["authorName"]) for node in nodes] == expected
    items = (await RestClient(service.http, credential).get("/pages/kiln/history")).json()["items"]
    assert [(item["author_type"].upper(), item["author_name"]) for item in items] == expected
    async with agent(service, credential) as caller:
        versions = (await caller.call("wiki_history", page="kiln"))["versions"]
    assert [version["author"] for version in versions] == [f"{kind.lower()} {name}" for kind, name in expected]
    statements.clear()
    await service.ask(HISTORY, token(None), **variables)
    assert len([sql for sql in statements if "revisions" in sql]) == 1, "author names need no further statement"


async def test_an_author_is_not_named_after_an_owner_of_another_tenant(service: Service, wiki: Wiki, dsn: str) -> None:
    other: Any = await wiki.connection.fetchrow(
        "INSERT INTO tenants (tenant_id, slug, name) VALUES (gen_random_uuid(), 'far', 'Far') RETURNING tenant_id"
    )
    far = await create_owner(wiki.database, other["tenant_id"], OwnerKind.USER, "far", "Far away")
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, actor=Actor(ActorKind.USER, str(far.id)))
    assert (await service.ask(VIEWER, token))["data"]["viewer"]["actorName"] == str(far.id)
