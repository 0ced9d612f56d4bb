"""Tests GraphQL over a WebSocket: events, permissions, the protocol and limits."""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import orjson
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.subscriptions import websocket
from db.scope import Role
from resolvers.auth.api_keys import create_api_key, revoke_api_key
from resolvers.auth.owners import Grant, grant, revoke
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, delete_page, update_page
from resolvers.sources.sources import SourceDraft, add_source
from tests.app.clients.streaming import PAGE_CHANGED, SOON, WIKI_CHANGED, open_initialised_socket, open_socket
from tests.app.service import Service, serving
from tests.wiki import Wiki, close_wiki, open_wiki


async def create(wiki: Wiki, title: str = "Austin", **more: Any) -> str:
    return str((await create_page(wiki.database, wiki.scope, PageDraft("topic", title, **more))).page_id)


# -- events


async def test_an_event_contains_the_current_page_and_its_nested_fields(
    service: Service, wiki: Wiki, token: str
) -> None:
    page, other = await create(wiki), await create(wiki, "Texas", body="Of [[Austin]].")
    nested = PAGE_CHANGED.replace("title", "title excerpt backlinks { totalCount nodes { title } }")
    async with open_initialised_socket(service, token) as socket:
        await socket.subscribe(PAGE_CHANGED, "flat", page=page)
        await socket.subscribe(nested, "deep", page=page)
        await update_page(wiki.database, wiki.scope, page, body="Hot.")
        messages = [await socket.receive(), await socket.receive()]
        answers = {message["id"]: message["payload"]["data"]["wikiPageChanged"] for message in messages}
        assert answers["flat"] == {"kind": "UPDATED", "pageId": page, "version": 2, "page": {"title": "Austin"}}
        backlinks = {"totalCount": 1, "nodes": [{"title": "Texas"}]}
        assert answers["deep"]["page"] == {"title": "Austin", "excerpt": "Hot.", "backlinks": backlinks}
        await update_page(wiki.database, wiki.scope, other, body="Nothing.")
        await socket.check_nothing_sent()


async def test_deleting_a_page_completes_its_subscription_and_not_that_of_the_wiki(
    service: Service, wiki: Wiki, token: str
) -> None:
    page = await create(wiki)
    async with open_initialised_socket(service, token) as socket:
        await socket.subscribe(PAGE_CHANGED, "page", page=page)
        await socket.subscribe(WIKI_CHANGED, "wiki")
        await add_source(wiki.database, wiki.scope, SourceDraft("document", "d", "Said."))
        assert (await socket.next_event()) == {"kind": "EVIDENCE", "pageId": None, "version": None, "page": None}
        await delete_page(wiki.database, wiki.scope, page)
        messages = [await socket.receive() for _ in range(3)]
        types_by_id = {id: [message["type"] for message in messages if message["id"] == id] for id in ("page", "wiki")}
        assert types_by_id == {"page": ["next", "complete"], "wiki": ["next"]}
        event = messages[0]["payload"]["data"].popitem()[1]
        assert (event["kind"], event["pageId"], event["page"]) == ("DELETED", page, None)


async def test_a_write_that_is_rolled_back_sends_no_event(service: Service, wiki: Wiki, token: str) -> None:
    page = await create(wiki)
    async with open_initialised_socket(service, token) as socket:
        await socket.subscribe(WIKI_CHANGED)
        await wiki.connection.execute("ALTER TABLE activity ADD CONSTRAINT unkept CHECK (action <> 'page.updated')")
        with pytest.raises(Exception, match="cannot hold"):
            await update_page(wiki.database, wiki.scope, page, title="Dallas")
        await wiki.connection.execute("ALTER TABLE activity DROP CONSTRAINT unkept")
        await create(wiki, "Houston")
        assert (await socket.next_event())["kind"] == "CREATED"


async def test_queries_and_mutations_are_answered_over_the_websocket(service: Service, token: str) -> None:
    create = 'mutation { createWikiPage(input: {type: TOPIC, title: "A"}) { page { version } } }'
    async with open_initialised_socket(service, token) as socket:
        for query, data in (("{ viewer { role } }", {"viewer": {"role": "ADMIN"}}),
                            (create, {"createWikiPage": {"page": {"version": 1}}})):  # fmt: skip
            await socket.send(type="subscribe", id="same", payload={"query": query})
            answer = await socket.receive()
            assert (answer["id"], answer["type"], answer["payload"]["data"]) == ("same", "next", data)
            assert await socket.receive() == {"id": "same", "type": "complete"}


REFUSED = {
    "subscription { wikiScopeChanged {": "GRAPHQL_PARSE_FAILED",
    "subscription { nothing }": "GRAPHQL_VALIDATION_FAILED",
    "subscription { a: wikiScopeChanged { at } b: wikiScopeChanged { at } }": "GRAPHQL_VALIDATION_FAILED",
    "subscription { __typename }": "GRAPHQL_VALIDATION_FAILED",
    "subscription { wikiScopeChanged @skip(if: true) { at } }": "GRAPHQL_VALIDATION_FAILED",
    "subscription ($p: ID!) { wikiPageChanged(pageId: $p) { at } }": "BAD_USER_INPUT",
    'subscription { wikiScopeChanged(tenantId: "no") { at } }': "FORBIDDEN",
    'subscription { wikiScopeChanged(ownerId: "1", userId: "2") { at } }': "BAD_USER_INPUT",
    'subscription { wikiPageChanged(pageId: "no") { at } }': "NOT_FOUND",
    'subscription { wikiScopeChanged(ownerId: "no") { at } }': "NOT_FOUND",
}


async def test_an_invalid_operation_is_answered_with_an_error(service: Service, token: str) -> None:
    async with open_initialised_socket(service, token) as socket:
        for query, code in REFUSED.items():
            await socket.send(type="subscribe", id="1", payload={"query": query})
            message = await socket.receive()
            assert (message["type"], message["id"]) == ("error", "1")
            assert code in {error["extensions"]["code"] for error in message["payload"]}, query
        await socket.check_nothing_sent()


async def test_an_event_over_the_cost_limit_is_an_error_and_the_stream_continues(
    service: Service, wiki: Wiki, token: str
) -> None:
    below = "children(limit: 100) { children(limit: 100) { children { id } } }"
    dear = f"subscription {{ wikiScopeChanged {{ page {{ {below} }} }} }}"
    async with open_initialised_socket(service, token) as socket:
        await socket.send(
            type="subscribe", id="1", payload={"query": dear.replace("Changed", "Changed(initial: true)")}
        )
        assert (await socket.receive())["payload"]["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
        await create(wiki)
        assert (await socket.receive())["type"] == "next"


async def test_only_admins_subscribe_to_compile_jobs(service: Service, wiki: Wiki) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.MEMBER)
    async with open_initialised_socket(service, token) as socket:
        await socket.send(type="subscribe", id="1", payload={"query": "subscription { wikiCompileJobChanged { at } }"})
        assert (await socket.receive())["payload"][0]["extensions"]["code"] == "FORBIDDEN"


# -- permissions


async def test_a_revoked_grant_ends_the_stream_without_revealing_the_page(service: Service, wiki: Wiki) -> None:
    friend = await wiki.neighbour(Role.MEMBER)
    tenant, owner, guest = wiki.scope.tenant_id, wiki.scope.owner_id, friend.scope.owner_id
    await grant(wiki.database, tenant, owner_id=owner, grantee_id=guest, role=Grant.READER)
    page, theirs = await create(wiki), f'subscription {{ wikiScopeChanged(ownerId: "{owner}") {{ kind pageId }} }}'
    async with open_initialised_socket(service, service.token(tenant, guest, Role.MEMBER)) as socket:
        await socket.subscribe(PAGE_CHANGED, "page", page=page)
        await socket.subscribe(theirs, "wiki")
        await update_page(wiki.database, wiki.scope, page, body="One.")
        assert {(await socket.receive())["type"] for _ in range(2)} == {"next"}
        await revoke(wiki.database, tenant, owner_id=owner, grantee_id=guest)
        await update_page(wiki.database, wiki.scope, page, body="Two.")
        for message in [await socket.receive(), await socket.receive()]:
            assert (message["type"], message["payload"][0]["extensions"]["code"]) == ("error", "FORBIDDEN")
            assert page not in orjson.dumps(message).decode()
        await update_page(wiki.database, wiki.scope, page, body="Three.")
        await socket.check_nothing_sent()


async def test_a_stream_of_a_wiki_passes_over_hidden_pages(service: Service, wiki: Wiki) -> None:
    """The events of a page that is or was hidden from the reader are not sent, and do not end the stream."""
    here, secret = (wiki.database, wiki.scope), {"sensitivity": "secret"}
    reader = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    async with open_socket(service) as socket:
        await socket.initialise(reader)
        await socket.subscribe(WIKI_CHANGED)
        hidden = await create_page(*here, PageDraft("topic", "Layoffs", fields=secret))
        await delete_page(*here, hidden.page_id)
        shown = await create_page(*here, PageDraft("topic", "Austin"))
        assert (await socket.next_event())["pageId"] == str(shown.page_id)


async def test_another_tenant_gets_no_event_and_cannot_detect_a_page(service: Service, wiki: Wiki, dsn: str) -> None:
    page, stranger = await create(wiki), await open_wiki(dsn)
    token = service.token(stranger.scope.tenant_id, stranger.scope.owner_id, Role.ADMIN)
    refusals = []
    async with open_initialised_socket(service, token) as socket:
        await socket.subscribe(WIKI_CHANGED, "own")
        for id in (page, str(stranger.scope.owner_id)):
            await socket.send(type="subscribe", id="1", payload={"query": PAGE_CHANGED, "variables": {"page": id}})
            refusals.append(await socket.receive())
        assert refusals[0] == refusals[1]
        await update_page(wiki.database, wiki.scope, page, body="Secret.")
        await socket.check_nothing_sent()
        await create(stranger, "Mine")
        assert (await socket.next_event())["page"]["title"] == "Mine"
    await close_wiki(stranger)


async def test_a_connection_is_closed_when_its_token_expires(service: Service, wiki: Wiki) -> None:
    short = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, ttl=2)
    async with open_initialised_socket(service, short) as socket:
        await socket.subscribe(WIKI_CHANGED)
        assert await socket.wait_closed() == (4403, "The token has expired.")


async def test_revoking_an_api_key_closes_its_connection(
    service: Service, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resolvers.auth.credentials.CACHE_TTL", 0.2)
    scope = wiki.scope
    key = await create_api_key(wiki.database, scope.tenant_id, "k", Role.MEMBER, [scope.owner_id])
    async with open_initialised_socket(service, key.key) as socket:
        await socket.subscribe(WIKI_CHANGED)
        await revoke_api_key(wiki.database, scope.tenant_id, key.id)
        assert await socket.wait_closed() == (4403, "The API key has been revoked.")


async def test_a_revoked_grant_ends_queries_over_an_open_connection(service: Service, wiki: Wiki) -> None:
    friend = await wiki.neighbour(Role.MEMBER)
    tenant, owner, guest = wiki.scope.tenant_id, wiki.scope.owner_id, friend.scope.owner_id
    await grant(wiki.database, tenant, owner_id=owner, grantee_id=guest, role=Grant.READER)
    await create(wiki)
    ask = {"query": "{ recentWikiPages { title } }"}
    async with open_socket(service, x_cairn_owner=str(owner)) as socket:
        await socket.initialise(service.token(tenant, guest, Role.MEMBER))
        await socket.send(type="subscribe", id="1", payload=ask)
        assert (await socket.receive())["payload"]["data"] == {"recentWikiPages": [{"title": "Austin"}]}
        assert (await socket.receive())["type"] == "complete"
        await revoke(wiki.database, tenant, owner_id=owner, grantee_id=guest)
        await socket.send(type="subscribe", id="1", payload=ask)
        assert (await socket.receive())["type"] == "error"


ORIGINS = {
    "https://evil.example.org": False,
    "null": False,
    "http://[": False,
    "https://app.example.org": True,
    "https://b.example.org": True,
    "{own}": True,
}


async def test_connections_from_other_origins_are_refused(dsn: str, wiki: Wiki, tmp_path: Path) -> None:
    async with serving(dsn, tmp_path, cors_origins="https://app.example.org,https://b.example.org") as service:
        for origin, is_let_in in ORIGINS.items():
            with nullcontext() if is_let_in else pytest.raises(InvalidStatus, match="403"):
                async with open_socket(service, origin=origin.replace("{own}", service.url)) as socket:
                    await socket.initialise(service.token(wiki.scope.tenant_id, wiki.scope.owner_id))


# -- the protocol


async def test_the_authorization_header_authenticates_a_connection(service: Service, token: str) -> None:
    async with open_socket(service, authorization=f"Bearer {token}") as socket:
        await socket.initialise()


@pytest.mark.parametrize("protocol", ["graphql-ws", None])
async def test_an_unsupported_subprotocol_is_refused(service: Service, protocol: str | None) -> None:
    async with open_socket(service, protocol) as socket:
        assert (await socket.wait_closed())[0] == 4406


MALFORMED_MESSAGES = [
        "", "no JSON", "[]", "null", '"ping"', "{}", '{"type": 1}', '{"type": "start"}', '{"type": "connection_ack"}',
        '{"type": "next", "id": "1", "payload": {}}', '{"type": "subscribe", "payload": {"query": "{ a }"}}',
        '{"type": "subscribe", "id": "", "payload": {"query": "{ a }"}}', '{"type": "subscribe", "id": "1"}',
        '{"type": "subscribe", "id": 1, "payload": {"query": "{ a }"}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": 1}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ a }", "variables": []}}',
        '{"type": "subscribe", "id": "%s", "payload": {"query": "{ a }"}}' % ("x" * 256),
    '{"type": "complete"}', '{"type": "ping", "payload": 1}', '{"type": "pong", "payload": []}', b"{}",
]  # fmt: skip


async def test_a_malformed_message_ends_the_connection(service: Service, token: str) -> None:
    for text in MALFORMED_MESSAGES:
        async with open_initialised_socket(service, token) as socket:
            await socket.connection.send(text)
            assert (await socket.wait_closed())[0] == 4400, text


async def test_a_client_without_a_credential_is_refused(service: Service) -> None:
    for credential in (None, "Bearer nonsense", "Basic abc", 7, "Bearer \x00"):
        async with open_socket(service) as socket:
            await socket.send(type="connection_init", payload={"authorization": credential})
            assert (await socket.wait_closed())[0] == 4403, credential


async def test_nothing_is_executed_before_the_connection_is_acknowledged(service: Service) -> None:
    async with open_socket(service) as socket:
        await socket.check_nothing_sent()
        await socket.send(type="subscribe", id="1", payload={"query": "{ viewer { role } }"})
        assert await socket.wait_closed() == (4401, "Unauthorized")


async def test_a_connection_is_initialised_once_and_in_time(
    service: Service, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_initialised_socket(service, token) as socket:
        await socket.send(type="connection_init")
        assert await socket.wait_closed() == (4429, "Too many initialisation requests")
    monkeypatch.setattr(websocket, "INIT_TIMEOUT", 0.1)
    async with open_socket(service) as socket:
        assert await socket.wait_closed() == (4408, "Connection initialisation timeout")


async def test_an_operation_id_can_be_reused_after_its_operation_ends(service: Service, wiki: Wiki, token: str) -> None:
    async with open_initialised_socket(service, token) as socket:
        await socket.send(type="complete", id="never was")
        await socket.subscribe(WIKI_CHANGED)
        await socket.send(type="complete", id="1")
        await socket.check_nothing_sent()
        await create(wiki)
        await socket.check_nothing_sent()
        await socket.subscribe(WIKI_CHANGED)
        await socket.send(type="subscribe", id="1", payload={"query": "{ viewer { role } }"})
        assert await socket.wait_closed() == (4409, "Subscriber for 1 already exists")


async def test_a_payload_that_is_too_large_does_not_free_the_id_of_a_running_operation(
    dsn: str, wiki: Wiki, tmp_path: Path
) -> None:
    async with serving(dsn, tmp_path, max_operations=1, max_variables=10) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with open_initialised_socket(service, token) as socket:
            await socket.send(type="subscribe", id="2", payload={"query": "{ a }", "variables": {"list": [0] * 30}})
            message = await socket.receive()
            assert (message["id"], message["type"]) == ("2", "error")
            assert message["payload"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
            await socket.subscribe(WIKI_CHANGED)
            await socket.send(type="subscribe", id="1", payload={"query": "{ a }", "variables": {"list": [0] * 30}})
            assert await socket.wait_closed() == (4409, "Subscriber for 1 already exists")


async def test_a_ping_is_answered_with_its_payload(service: Service) -> None:
    async with open_socket(service) as socket:
        await socket.send(type="ping", payload={"n": 1})
        assert await socket.receive() == {"type": "pong", "payload": {"n": 1}}


# -- limits


async def test_operations_connections_and_messages_are_bounded(dsn: str, wiki: Wiki, tmp_path: Path) -> None:
    async with serving(dsn, tmp_path, max_operations=1, max_streams=1, max_body=2000) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with open_initialised_socket(service, token) as socket:
            await socket.subscribe(WIKI_CHANGED)
            await socket.send(type="subscribe", id="2", payload={"query": WIKI_CHANGED})
            while (message := await socket.receive())["id"] != "2":  # the first subscription may get a RESYNC event
                assert message["type"] == "next"
            assert (message["type"], message["payload"][0]["extensions"]["code"]) == ("error", "LIMIT_EXCEEDED")
            async with open_socket(service) as second:
                await second.send(type="connection_init", payload={"authorization": f"Bearer {token}"})
                assert (await second.wait_closed())[0] == 4429
            await socket.send(type="ping", payload={"text": "x" * 3000})
            assert (await socket.wait_closed())[0] == 1009
        async with asyncio.timeout(SOON):
            while not await opens(service, token):
                await asyncio.sleep(0.01)


async def opens(service: Service, token: str) -> bool:
    """Return whether another connection is accepted again."""
    async with open_socket(service) as socket:
        await socket.send(type="connection_init", payload={"authorization": f"Bearer {token}"})
        try:
            return (await socket.receive())["type"] == "connection_ack"
        except ConnectionClosed:
            return False
