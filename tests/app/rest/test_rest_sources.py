"""Tests sources over REST: retaining one or several, forgetting, rebuilding and searching."""

import pytest

from db.scope import Role
from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.service import Service
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import compile_all
from tests.wiki import Wiki

NOTE = {"kind": "daily_note", "ref": "a", "content": "page entity Momofuku\nThe Zyxglorb."}


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


async def test_a_new_source_queues_a_compile_if_the_tenant_enables_compiling(rest: RestClient, wiki: Wiki) -> None:
    await wiki.connection.execute("""UPDATE tenants SET settings = '{"compiling": false}'""")
    assert (await rest.post("/sources", NOTE)).status_code == 201
    assert not await wiki.rows("compile_jobs")
    await wiki.connection.execute("UPDATE tenants SET settings = '{}'")
    assert (await rest.post("/sources", NOTE)).status_code == 200
    assert not await wiki.rows("compile_jobs"), "the source existed already"
    await rest.post("/sources", NOTE | {"ref": "b"})
    assert [job["trigger"] for job in await wiki.rows("compile_jobs")] == ["retain"]


async def test_sources_of_an_array_are_retained_independently(rest: RestClient, wiki: Wiki) -> None:
    given = [NOTE, NOTE, NOTE | {"ref": "b", "content": " "}, NOTE | {"ref": "c"}]
    answer = await rest.post("/sources", given)
    assert answer.status_code == 201
    done = answer.json()
    assert [(item["position"], item["created"], item["code"]) for item in done["items"]] == [
        (0, True, None), (1, False, None), (2, False, "BAD_USER_INPUT"), (3, True, None),
    ]  # fmt: skip
    assert done["job_id"] == str((await wiki.row("compile_jobs"))["id"])
    again = await rest.post("/sources", given)
    assert (again.status_code, again.json()["job_id"]) == (200, None)
    assert status_and_code(await rest.post("/sources", [])) == (422, "BAD_USER_INPUT")
    assert status_and_code(await rest.post("/sources", [NOTE] * 101)) == (422, "BAD_USER_INPUT")
    wrong = await rest.post("/sources", [NOTE, NOTE | {"kind": "gossip"}])
    assert (status_and_code(wrong), wrong.json()["field"]) == ((422, "BAD_USER_INPUT"), "1.kind")
    assert (await rest.post("/sources", NOTE | {"kind": "gossip"})).json()["field"] == "kind"


async def test_a_forgotten_source_cannot_be_retained_again(rest: RestClient, service: Service, wiki: Wiki) -> None:
    headers = {"idempotency-key": "k-1"}
    source_id = (await rest.post("/sources", NOTE, headers=headers)).json()["id"]
    await compile_all(wiki)
    member = RestClient(service.http, service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.MEMBER))
    assert status_and_code(await member.ask("DELETE", f"/sources/{source_id}")) == (403, "FORBIDDEN")
    answer = await rest.ask("DELETE", f"/sources/{source_id}?reason=Asked+for")
    assert answer.status_code == 200
    assert (answer.json()["versions"], answer.json()["source"]["content"]) == (1, "")
    assert answer.json()["source"]["forgotten_at"]
    await compile_all(wiki)
    assert not await found_in(wiki, "Zyxglorb")
    assert (await rest.get("/pages")).json()["items"] == []
    gone = await rest.get(f"/sources/{source_id}")
    assert status_and_code(gone) == (410, "SOURCE_FORGOTTEN")
    assert gone.json()["forgotten_at"] == answer.json()["source"]["forgotten_at"]
    again = await rest.ask("DELETE", f"/sources/{source_id}")
    assert (again.json()["versions"], again.json()["job_id"]) == (0, None)
    assert status_and_code(await rest.post("/sources", NOTE, headers=headers)) == (422, "SOURCE_FORGOTTEN")
    assert status_and_code(await rest.ask("DELETE", "/sources/01900000-0000-7000-8000-000000000000")) == (
        404,
        "NOT_FOUND",
    )


async def test_rebuilding_a_page_queues_a_job(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Austin")
    answer = await rest.post("/pages/austin/rebuild")
    assert answer.status_code == 202
    job = await wiki.row("compile_jobs")
    assert (answer.json()["job_id"], job["trigger"]) == (str(job["id"]), "rebuild")
    assert status_and_code(await rest.post("/pages/nowhere/rebuild")) == (404, "NOT_FOUND")


async def test_the_message_for_an_invalid_date_shows_the_expected_format(rest: RestClient) -> None:
    answer = await rest.post("/sources", NOTE | {"captured_at": "tomorrow"})
    assert status_and_code(answer) == (422, "BAD_USER_INPUT")
    assert answer.json()["detail"] == "captured_at: must be a text like 2026-11-20T10:00:00Z."


async def test_a_found_passage_names_the_newer_passage_that_supersedes_it(rest: RestClient) -> None:
    for ref, text in (("old", "Falcon Mill has moved to Graz."), ("new", "Falcon Mill has moved from Graz to Linz.")):
        assert (await rest.post("/sources", NOTE | {"ref": ref, "content": text})).status_code == 201
    newer, older = (await rest.get("/search/sources?q=where+has+Falcon+Mill+moved")).json()["items"]
    assert newer["superseded_by"] is None
    found = older["superseded_by"]
    assert (found["source"]["ref"], found["source"]["kind"], found["line_start"]) == ("new", "daily_note", 1)
