"""Idempotency-Key: a request whose response was lost may be sent again, and is executed once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from db.scope import Actor, ActorKind, Role
from resolvers import idempotency
from resolvers.idempotency import forget_answers
from tests.app.command_line import ServingCommand
from tests.app.service import SECRET, Service, serving
from tests.waiting import within
from tests.wiki import Wiki, check_derived_rows

CREATE = """mutation($title: String!) { createWikiPage(input: {type: TOPIC, title: $title, slug: "t"}) {
    created page { id title version } userErrors { field } } }"""
NUMBERED = """mutation { createWikiPage(input: {type: TOPIC, title: "Same"}) { page { slug title } } }"""
BLOCKING = "LOCK TABLE activity IN ACCESS EXCLUSIVE MODE"  # what every write writes last


async def send(service: Service, token: str, query: str, key: str, **variables: Any) -> httpx.Response:
    return await service.post(query, token, variables, **{"idempotency-key": key})


async def send_until_accepted(service: Service, token: str, query: str, key: str, **variables: Any) -> httpx.Response:
    """Retry a request as the documentation tells clients to."""
    async with within("the request was still refused"):
        while (response := await send(service, token, query, key, **variables)).status_code in (409, 503):
            assert int(response.headers["retry-after"]) >= 1
            await asyncio.sleep(0.05)
    return response


def code(response: httpx.Response) -> str:
    found: str = response.json()["errors"][0]["extensions"]["code"]
    return found


@asynccontextmanager
async def blocked_writes(wiki: Wiki) -> AsyncIterator[None]:
    """Block every write until the context ends."""
    async with wiki.connection.transaction():
        await wiki.connection.execute(BLOCKING)
        yield


async def wait_for_a_blocked_statement(wiki: Wiki) -> None:
    """Wait until a statement of the service waits for a lock."""
    waiting = """
        SELECT EXISTS (
            SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
            WHERE datname = current_database() AND NOT granted
        )"""
    async with within("no statement of the service waited for a lock"):
        while not await wiki.connection.fetchval(waiting):
            await asyncio.sleep(0.01)


async def test_a_repeated_request_gets_the_first_response(service: Service, token: str, wiki: Wiki) -> None:
    first = await send(service, token, CREATE, "k-1", title="T")
    again = await send(service, token, CREATE, '"k-1"', title="T")
    assert first.json()["data"]["createWikiPage"]["page"] == {
        "id": str((await wiki.row("pages"))["id"]), "title": "T", "version": 1,
    }  # fmt: skip
    assert again.content == first.content
    assert ("idempotency-replayed" in first.headers, again.headers["idempotency-replayed"]) == (False, "true")
    assert len(await wiki.rows("revisions")) == 1
    await check_derived_rows(wiki)


async def test_a_key_cannot_be_reused_for_another_request(service: Service, token: str, wiki: Wiki) -> None:
    await send(service, token, CREATE, "k-1", title="T")
    other = await send(service, token, CREATE, "k-1", title="Another")
    assert (other.status_code, code(other)) == (422, "IDEMPOTENCY_KEY_REUSED")
    neighbour = await wiki.neighbour()
    headers = {"idempotency-key": "k-1", "x-cairn-owner": str(neighbour.scope.owner_id)}
    elsewhere = await service.post(CREATE, token, {"title": "T"}, **headers)
    assert (elsewhere.status_code, code(elsewhere)) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert len(await wiki.rows("pages")) == 1


async def test_each_credential_has_keys_of_its_own(service: Service, token: str, wiki: Wiki) -> None:
    scope = wiki.scope
    others = [
        service.token(scope.tenant_id, scope.owner_id, scope.role, actor=Actor(ActorKind.AGENT, "another")),
        service.token(scope.tenant_id, scope.owner_id, Role.MEMBER),
    ]
    for credential in (token, *others):
        response = await send(service, credential, NUMBERED, "k-1")
        assert "idempotency-replayed" not in response.headers
    renewed = service.token(scope.tenant_id, scope.owner_id, scope.role)
    assert (await send(service, renewed, NUMBERED, "k-1")).headers["idempotency-replayed"] == "true"
    assert len(await wiki.rows("pages")) == 3


async def test_concurrent_requests_with_the_same_key_write_once(service: Service, token: str, wiki: Wiki) -> None:
    responses = await asyncio.gather(*(send_until_accepted(service, token, NUMBERED, "k-1") for _ in range(16)))
    assert {response.content for response in responses} == {responses[0].content}
    assert sum("idempotency-replayed" not in response.headers for response in responses) == 1
    assert len(await wiki.rows("pages")) == 1
    await check_derived_rows(wiki)


async def test_requests_with_different_keys_are_separate_writes(service: Service, token: str, wiki: Wiki) -> None:
    plain = [service.ask(NUMBERED, token) for _ in range(8)]
    keyed = [send_until_accepted(service, token, NUMBERED, f"k-{n % 8}") for n in range(24)]
    await asyncio.gather(*plain, *keyed)
    assert len(await wiki.rows("pages")) == 16
    await check_derived_rows(wiki)


async def test_a_repetition_of_a_running_request_gets_409_and_retry_after(
    service: Service, token: str, wiki: Wiki, dsn: str, tmp_path: Path
) -> None:
    async with serving(dsn, tmp_path) as another, blocked_writes(wiki):
        first = asyncio.create_task(send(service, token, NUMBERED, "k-1"))
        await wait_for_a_blocked_statement(wiki)
        second = await send(another, token, NUMBERED, "k-1")
        assert (second.status_code, code(second)) == (409, "IDEMPOTENCY_IN_PROGRESS")
        assert second.headers["retry-after"] == "1"
    assert (await first).status_code == 200
    assert (await send(service, token, NUMBERED, "k-1")).headers["idempotency-replayed"] == "true"
    assert len(await wiki.rows("pages")) == 1


async def test_a_lost_response_is_returned_to_a_retry(service: Service, token: str, wiki: Wiki) -> None:
    async with blocked_writes(wiki):
        headers = {"authorization": f"Bearer {token}", "idempotency-key": "k-1"}
        with pytest.raises(httpx.ReadTimeout):
            await service.http.post("/graphql", json={"query": NUMBERED}, headers=headers, timeout=0.3)
    response = await send_until_accepted(service, token, NUMBERED, "k-1")
    assert response.json()["data"]["createWikiPage"]["page"]["slug"] == "same"
    assert len(await wiki.rows("pages")) == 1


async def test_a_process_that_is_killed_leaves_neither_the_write_nor_the_key(
    service: Service, token: str, wiki: Wiki, dsn: str, tmp_path: Path
) -> None:
    serve = partial(ServingCommand, tmp_path, "serve", "--port", "0", database_url=dsn, jwt_secret=SECRET)
    with await asyncio.to_thread(serve) as doomed:
        async with blocked_writes(wiki), httpx.AsyncClient() as http:
            headers = {"authorization": f"Bearer {token}", "idempotency-key": "k-1"}
            asking = asyncio.create_task(http.post(doomed.url, json={"query": NUMBERED}, headers=headers))
            await wait_for_a_blocked_statement(wiki)
            doomed.process.kill()
            assert await asyncio.to_thread(doomed.process.wait) < 0
            with pytest.raises(httpx.TransportError):
                await asking
    response = await send_until_accepted(service, token, NUMBERED, "k-1")
    assert response.json()["data"]["createWikiPage"]["page"]["slug"] == "same"
    assert len(await wiki.rows("pages")) == 1
    await check_derived_rows(wiki)


async def test_a_refused_request_may_be_corrected_under_the_same_key(service: Service, token: str, wiki: Wiki) -> None:
    refused = await send(service, token, CREATE, "k-1", title=" ")
    assert refused.json()["data"]["createWikiPage"]["userErrors"] == [{"field": ["title"]}]
    for query in ("mutation { nothingLikeThat }", "mutation {"):
        assert "data" not in (await send(service, token, query, "k-1")).json()
    assert (await send(service, token, CREATE, "k-1", title="T")).json()["data"]["createWikiPage"]["created"] is True
    assert len(await wiki.rows("pages")) == 1


async def test_a_repeated_deletion_gets_the_first_response(service: Service, token: str, wiki: Wiki) -> None:
    created = await send(service, token, CREATE, "k-1", title="T")
    page = created.json()["data"]["createWikiPage"]["page"]["id"]
    delete = "mutation($id: ID!) { deleteWikiPage(input: {pageId: $id}) { deletedPageId } }"
    for _ in range(2):
        response = await send(service, token, delete, "k-2", id=page)
        assert response.json()["data"] == {"deleteWikiPage": {"deletedPageId": page}}


TWO = """mutation($ref: String!) {
    createWikiPage(input: {type: TOPIC, title: "T"}) { page { id } }
    addWikiSource(input: {kind: URL, ref: $ref, content: "x"}) { source { id } userErrors { field } }
}"""


async def test_a_client_error_in_one_field_does_not_undo_other_fields(service: Service, token: str, wiki: Wiki) -> None:
    responses = [await send(service, token, TWO, "k-1", ref=" ") for _ in range(2)]
    assert responses[0].json()["data"]["addWikiSource"]["userErrors"] == [{"field": ["ref"]}]
    assert responses[1].content == responses[0].content
    assert (len(await wiki.rows("pages")), len(await wiki.rows("sources"))) == (1, 0)


async def test_a_missing_object_in_one_field_does_not_undo_other_fields(
    service: Service, token: str, wiki: Wiki
) -> None:
    text = """mutation { createWikiPage(input: {type: TOPIC, title: "T"}) { page { id } }
        archiveWikiPage(input: {pageId: "01234567-0000-7000-8000-000000000000"}) { changed } }"""
    for _ in range(2):
        assert code(await send(service, token, text, "k-1")) == "NOT_FOUND"
    assert len(await wiki.rows("pages")) == 1


async def test_a_server_fault_undoes_the_whole_request(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, statement_timeout=0.3) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with wiki.connection.transaction():
            await wiki.connection.execute("LOCK TABLE sources IN ACCESS EXCLUSIVE MODE")
            failed = (await send(service, token, TWO, "k-1", ref="r")).json()
        assert failed["data"] is None
        codes = {error["extensions"]["code"] for error in failed["errors"]}
        assert codes <= {"TIMEOUT", "UNAVAILABLE"}, "a read waits for the lock, too, and what follows is not tried"
        assert await wiki.rows("pages") == []
        done = await send_until_accepted(service, token, TWO, "k-1", ref="r")
        assert ("errors" in done.json(), "idempotency-replayed" in done.headers) == (False, False)
    assert (len(await wiki.rows("pages")), len(await wiki.rows("sources"))) == (1, 1)


async def test_a_write_whose_response_is_too_long_to_store_is_not_done(
    service: Service, token: str, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "ANSWER_MAX", 50)
    response = await send(service, token, NUMBERED, "k-1")
    assert (response.status_code, code(response)) == (400, "LIMIT_EXCEEDED")
    assert await wiki.rows("pages") == []


async def test_writes_to_two_wikis_in_opposite_order_do_not_deadlock(service: Service, token: str, wiki: Wiki) -> None:
    neighbour = await wiki.neighbour()
    ids = [str(wiki.scope.owner_id), str(neighbour.scope.owner_id)]
    text = """mutation($a: ID!, $b: ID!) {
        a: createWikiPage(input: {type: TOPIC, title: "T", ownerId: $a}) { created }
        b: createWikiPage(input: {type: TOPIC, title: "T", ownerId: $b}) { created }
    }"""

    async def until_done(key: str, a: str, b: str) -> None:
        async with within("the write was still refused"):
            while "errors" in (await send_until_accepted(service, token, text, key, a=a, b=b)).json():
                await asyncio.sleep(0.05)

    await asyncio.gather(until_done("k-1", *ids), until_done("k-2", *reversed(ids)))
    assert (len(await wiki.rows("pages")), len(await neighbour.rows("pages"))) == (2, 2)


async def test_queries_ignore_the_idempotency_key(service: Service, token: str, wiki: Wiki) -> None:
    for title in ("A", "B"):
        await service.ask(CREATE.replace('slug: "t"', f'slug: "{title.lower()}"'), token, title=title)
        response = await send(service, token, "{ recentWikiPages { title } }", "k-1")
        assert response.json()["data"]["recentWikiPages"][0]["title"] == title
    assert await wiki.connection.fetchval("SELECT count(*) FROM idempotency_keys") == 0


@pytest.mark.parametrize("key", ["", '""', "two words", "é", "x" * 256, "tab\there"])
async def test_an_invalid_key_is_refused(service: Service, token: str, wiki: Wiki, key: str) -> None:
    headers = [("authorization", f"Bearer {token}".encode()), ("idempotency-key", key.encode())]
    response = await service.http.post("/graphql", json={"query": NUMBERED}, headers=headers)  # type: ignore[arg-type]
    assert (response.status_code, code(response)) == (400, "BAD_USER_INPUT")
    assert await wiki.rows("pages") == []


async def test_stored_responses_expire_after_24_hours(service: Service, token: str, wiki: Wiki) -> None:
    keys = [str(uuid4()) for _ in range(3)]
    for key in keys:
        await send(service, token, NUMBERED, key)
    await wiki.connection.execute(
        "UPDATE idempotency_keys SET created_at = created_at - interval '24 hours' WHERE digest <> "
        "(SELECT digest FROM idempotency_keys ORDER BY created_at DESC LIMIT 1)"
    )
    assert "idempotency-replayed" not in (await send(service, token, NUMBERED, keys[0])).headers
    assert await forget_answers(wiki.database) == 1
    assert await forget_answers(wiki.database) == 0
    assert await wiki.connection.fetchval("SELECT count(*) FROM idempotency_keys") == 2


async def test_a_starting_process_deletes_old_keys(
    service: Service, token: str, wiki: Wiki, dsn: str, tmp_path: Path
) -> None:
    for key in ("k-1", "k-2"):
        await send(service, token, NUMBERED, key)
    await wiki.connection.execute(
        "UPDATE idempotency_keys SET created_at = created_at - interval '25 hours' "
        "WHERE created_at = (SELECT min(created_at) FROM idempotency_keys)"
    )
    async with serving(dsn, tmp_path), asyncio.timeout(20):
        while await wiki.connection.fetchval("SELECT count(*) FROM idempotency_keys") > 1:
            await asyncio.sleep(0.02)


async def test_a_write_with_a_key_is_read_back_inside_its_transaction(service: Service, token: str) -> None:
    texts = [
        'mutation { createWikiPage(input: {type: TOPIC, title: "A"}) { page { title sections { heading } } } }',
        'mutation { upsertWikiPage(input: {type: TOPIC, title: "B"}) { page { slug } conflict { page { id } } } }',
        'mutation { addWikiSource(input: {kind: URL, ref: "r", content: "x"}) { source { pages { nodes { id } } } } }',
    ]  # fmt: skip
    for n, text in enumerate(texts):
        answer = (await send(service, token, text, f"k-{n}")).json()
        assert "errors" not in answer
        (payload,) = answer["data"].values()
        assert next(iter(payload.values())) is not None


async def test_a_request_with_two_keys_is_refused(service: Service, token: str) -> None:
    headers = [("authorization", f"Bearer {token}"), ("idempotency-key", "a"), ("idempotency-key", "b")]
    response = await service.http.post("/graphql", json={"query": NUMBERED}, headers=headers)
    assert code(response) == "BAD_USER_INPUT"
