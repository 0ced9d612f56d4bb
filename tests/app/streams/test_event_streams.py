"""Tests GraphQL over server-sent events."""

from pathlib import Path

import httpx
import orjson

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from tests.app.clients.streaming import PAGE_CHANGED, WIKI_CHANGED, open_events
from tests.app.service import Service, serving
from tests.wiki import Wiki

EVENTS = "text/event-stream"
INITIAL = WIKI_CHANGED.replace("Changed", "Changed(initial: true)")


async def test_page_changes_are_sent_as_events(service: Service, wiki: Wiki, token: str) -> None:
    page = str((await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))).page_id)
    followed = PAGE_CHANGED.replace("(pageId", "(initial: true, pageId")
    async with open_events(service, token, followed, page=page) as stream:
        assert stream.response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert (await stream.next_event())["kind"] == "RESYNC"
        await update_page(wiki.database, wiki.scope, page, title="Austin, Texas")
        shown = {"kind": "RENAMED", "pageId": page, "version": 2, "page": {"title": "Austin, Texas"}}
        assert await stream.next_event() == shown


async def test_a_query_sends_one_event_and_complete(service: Service, token: str) -> None:
    async with open_events(service, token, "{ viewer { role } }") as stream:
        kind, answer = await stream.next()
        assert (kind, answer["data"]) == ("next", {"viewer": {"role": "ADMIN"}})
        assert await stream.next() == ("complete", None)
    headers = {"accept": EVENTS, "authorization": f"Bearer {token}"}
    got = await service.http.get("/graphql", params={"query": "{ viewer { role } }"}, headers=headers)
    *_, event, end = got.text.split("event: ")
    assert '"ADMIN"' in event
    assert end == "complete\ndata: \n\n"


async def test_an_invalid_document_is_reported_in_the_stream(service: Service, token: str) -> None:
    for query in ("{ nothing }", 'subscription { wikiPageChanged(pageId: "no") { at } }'):
        async with open_events(service, token, query) as stream:
            kind, answer = await stream.next()
            assert stream.response.status_code == 200
            assert kind == "next"
            assert answer is not None
            assert answer["errors"]
            assert await stream.next() == ("complete", None)


async def test_a_caller_without_permission_gets_an_error_status(service: Service, token: str) -> None:
    change = 'mutation { createWikiPage(input: {type: TOPIC, title: "A"}) { created } }'
    async with open_events(service, None, WIKI_CHANGED) as stream:
        assert stream.response.status_code == 401
    headers = {"accept": EVENTS, "authorization": f"Bearer {token}"}
    got = await service.http.get("/graphql", params={"query": change}, headers=headers)
    assert (got.status_code, got.json()["errors"][0]["extensions"]["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert (await service.http.post("/graphql", content="{}", headers=headers)).status_code == 415


async def test_a_mutation_with_an_idempotency_key_is_executed_once(service: Service, wiki: Wiki, token: str) -> None:
    async def send(title: str, key: str, accept: str = EVENTS) -> httpx.Response:
        change = f'mutation {{ createWikiPage(input: {{type: TOPIC, title: "{title}"}}) {{ page {{ slug }} }} }}'
        return await service.post(change, token, accept=accept, **{"idempotency-key": key})

    answers = [await send("Same", "a") for _ in range(2)]
    assert answers[0].text == answers[1].text
    repeated = await send("Same", "a", "application/json")
    assert repeated.headers["idempotency-replayed"] == "true"
    assert f"data: {repeated.text}\n" in answers[0].text
    assert [page["slug"] for page in await wiki.rows("pages", "slug")] == ["same"]
    assert '"IDEMPOTENCY_KEY_REUSED"' in (await send("Other", "a")).text
    assert (await send("Other", "a b")).status_code == 400


async def test_a_subscription_without_a_stream_is_refused(service: Service, token: str) -> None:
    """A client that accepts JSON only, prefers JSON or refuses events is told how to connect."""
    for accept in (
        "application/json",
        "application/graphql-response+json, application/json, text/event-stream",
        "text/event-stream;q=0, application/json",
    ):
        response = await service.post(WIKI_CHANGED, token, accept=accept)
        (error,) = response.json()["errors"]
        assert error["extensions"]["code"] == "STREAM_REQUIRED"
        assert "graphql-transport-ws" in error["message"]
        assert "text/event-stream" in error["message"]
    got = await service.http.get(
        "/graphql", params={"query": WIKI_CHANGED}, headers={"authorization": f"Bearer {token}"}
    )
    assert got.json()["errors"][0]["extensions"]["code"] == "STREAM_REQUIRED"


async def test_a_stream_ends_when_its_token_expires(service: Service, wiki: Wiki) -> None:
    short = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, ttl=2)
    async with open_events(service, short, INITIAL) as stream:
        assert (await stream.next_event())["kind"] == "RESYNC"
        kind, answer = await stream.next()
        assert answer is not None
        assert (kind, answer["errors"][0]["extensions"]["code"]) == ("next", "UNAUTHENTICATED")
        assert await stream.next() == ("complete", None)


async def test_the_number_of_streams_per_credential_is_limited(dsn: str, wiki: Wiki, tmp_path: Path) -> None:
    async with serving(dsn, tmp_path, max_streams=1) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with open_events(service, token, INITIAL) as stream:
            await stream.next_event()
            async with open_events(service, token, INITIAL) as second:
                assert (second.response.status_code, second.response.headers["retry-after"]) == (429, "1")
                refused = orjson.loads(await second.response.aread())["errors"][0]["extensions"]
        assert refused == {"code": "THROTTLED", "retryAfter": 1}


async def test_the_stream_of_a_disconnected_client_no_longer_counts(dsn: str, wiki: Wiki, tmp_path: Path) -> None:
    async with serving(dsn, tmp_path, max_streams=1) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        for _ in range(3):
            async with httpx.AsyncClient(base_url=service.url) as http:
                own = Service(service.url, http)
                for _ in range(100):
                    async with open_events(own, token, INITIAL) as stream:
                        if stream.response.status_code == 200:
                            await stream.next_event()
                            break
                else:
                    raise AssertionError("the stream of the disconnected client still counts")
