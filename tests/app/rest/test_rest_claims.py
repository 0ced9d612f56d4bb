"""Tests superseded claims, contradictions, the map, the activity and the diary over REST."""

from datetime import UTC, datetime

import pytest

from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.contradictions import Claimed, record_contradiction
from tests.app.clients.rest_client import RestClient
from tests.app.service import Service
from tests.wiki import Wiki


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


async def test_a_superseded_claim_is_read_with_its_page(rest: RestClient, service: Service, wiki: Wiki) -> None:
    await rest.create_page("Ledger", content="It runs on Postgres.")
    given = {"fact": "on Postgres", "replacement": "on MySQL", "superseded_on": "2026-03-02T00:00:00Z"}
    superseded = await rest.post("/pages/ledger/supersede", given | {"expected_version": 1})
    assert (superseded.status_code, superseded.json()["content"], superseded.json()["version"]) == (
        200,
        "It runs on MySQL.",
        2,
    )
    (claim,) = (await rest.get("/pages/ledger")).json()["superseded"]
    assert claim["text"] == 'Used to say "on Postgres" until 2026-03-02; now says "on MySQL".'
    assert (claim["fact"], claim["section"]) == ("on Postgres", "overview")
    again = await rest.post("/pages/ledger/supersede", given)
    assert (again.status_code, again.json()["version"]) == (200, 2)
    missing = await rest.post("/pages/ledger/supersede", given | {"fact": "on Oracle"})
    assert missing.status_code == 409
    assert missing.json()["code"] == "EDIT_FAILED"
    unknown = given | {"fact": "on MySQL", "overridden_by": {"kind": "document", "ref": "none"}, "replacement": "x"}
    assert (await rest.post("/pages/ledger/supersede", unknown)).json()["field"] == "overridden_by.ref"
    assert (await rest.post("/pages/nowhere/supersede", given)).status_code == 404


async def test_contradictions_are_listed_and_resolved(rest: RestClient, service: Service, wiki: Wiki) -> None:
    await rest.create_page("Ledger", content="On Postgres.\n\n## Later\n\nOn MySQL.")
    (page,) = await wiki.rows("pages")
    older, newer = (Claimed(text, on=datetime(2026, month, 2, tzinfo=UTC)) for text, month in MONTHS.items())
    contradiction = await record_contradiction(wiki.database, wiki.scope, PageAddress(page["id"]), older, newer)
    (listed,) = (await rest.get("/contradictions?status=open")).json()["items"]
    assert (listed["id"], listed["older_claim"], listed["suggestion"]) == (
        str(contradiction.id),
        "On Postgres.",
        "keep_newer",
    )
    assert listed["page"]["slug"] == "ledger"
    path = f"/contradictions/{contradiction.id}/resolve"
    assert (await rest.post(path, {"resolution": "coin", "reason": "So."})).status_code == 422
    assert (await rest.post(path, {"resolution": "keep_older", "reason": " "})).json()["field"] == "reason"
    resolved = await rest.post(path, {"resolution": "keep_older", "reason": "I looked."})
    assert (resolved.status_code, resolved.json()["status"], resolved.json()["resolution"]) == (
        200,
        "resolved",
        "keep_older",
    )
    assert "MySQL" not in (await rest.get("/pages/ledger")).json()["content"]
    assert (await rest.get("/contradictions?status=open")).json()["items"] == []
    missing = await rest.post(f"/contradictions/{page['id']}/resolve", {"resolution": "keep_older", "reason": "So."})
    assert missing.status_code == 404


MONTHS = {"On Postgres.": 1, "On MySQL.": 3}


async def test_the_map_and_the_activity_are_paged_markdown(rest: RestClient) -> None:
    for n in range(3):
        await rest.create_page(f"Park {n}", type="entity")
    text, path = "", "/map?type=entity&limit=2"
    while path:
        part = await rest.get(path)
        assert (part.status_code, part.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
        text, path = text + part.text, part.links.get("next", {}).get("url", "").removeprefix("/api/wiki")
    assert text.startswith("# Knowledge map\n\nPages: 3 (3 entity).\n\n## Entity (3)\n\n")
    assert text.count("/wiki/entity/park-") == 3
    assert "page.created" in (await rest.get("/activity?limit=1")).text
    for wrong in ("/map?cursor=x", "/activity?cursor=x", "/map?limit=0", "/map?type=thing"):
        assert (await rest.get(wrong)).status_code == 422


async def test_the_diary_describes_the_changes_of_each_day(rest: RestClient) -> None:
    await rest.create_page("Park", type="entity")
    found = (await rest.get("/diary")).json()
    (day,) = found["days"]
    assert day["date"] == found["until"]
    assert day["counts"] == {"written": 1}
    assert day["entries"][0]["text"].startswith("Created [**Park**](/wiki/entity/park) — ")
    assert day["entries"][0]["page"]["type"] == "entity"
    assert day["entries"][0]["text"] in found["body_md"]
    assert (await rest.get("/diary?until=2020-01-31")).json()["days"] == []
    for wrong in ("since=x", "since=2026-02-01&until=2026-01-01", "lines=0", "time_zone=Mars"):
        assert (await rest.get(f"/diary?{wrong}")).status_code == 422
