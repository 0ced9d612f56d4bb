"""Tests merges, transfers, earlier names and removed aliases of pages over REST."""

import pytest

from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.service import Service
from tests.wiki import Wiki, check_derived_rows


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


async def test_a_merged_page_redirects_to_its_target(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Austin", content="Hot.")
    await rest.create_page("ATX", content="Bats.")
    answer = await rest.post("/pages/atx/merge", {"into": "austin"})
    assert (answer.status_code, answer.json()["slug"], answer.json()["content"]) == (200, "austin", "Hot.\n\nBats.")
    assert (await rest.get("/pages/atx")).json()["redirected_from"] == "atx"
    moved = await rest.get("/pages/atx-merged")
    assert (moved.status_code, moved.headers["location"]) == (301, "/api/wiki/pages/austin?type=topic")
    left = (await rest.get("/pages/atx-merged?include_archived=true")).json()
    assert left["merged_into"] == {"slug": "austin", "title": "Austin", "type": "topic"}
    await rest.post("/pages/atx-merged/unarchive")
    assert (await rest.get("/pages/atx-merged")).json()["merged_into"] is None
    await check_derived_rows(wiki)


async def test_merging_a_page_into_itself_is_an_error_of_the_field_into(rest: RestClient) -> None:
    await rest.create_page("Austin")
    answer = await rest.post("/pages/austin/merge", {"into": "austin"})
    assert (answer.status_code, answer.json()["field"]) == (422, "into")


async def test_a_merge_skips_only_paragraphs_that_the_target_has(rest: RestClient) -> None:
    await rest.create_page("Austin", content="In Texas.\n\nHot.")
    for title, content, merged in (
        ("A", "Hot.", "In Texas.\n\nHot."),
        ("B", "x", "In Texas.\n\nHot.\n\nx"),
        ("C", "Texas.", "In Texas.\n\nHot.\n\nx\n\nTexas."),
    ):
        await rest.create_page(title, content=content)
        assert (await rest.post(f"/pages/{title.lower()}/merge", {"into": "austin"})).json()["content"] == merged


async def test_invalid_merges_are_refused_with_a_status_and_code(rest: RestClient) -> None:
    await rest.create_page("Austin")
    await rest.create_page("ATX")
    await rest.create_page("Person", "entity")
    for slug, given, expected in (
        ("atx", {"into": "nobody"}, (404, "NOT_FOUND")),
        ("nobody", {"into": "austin"}, (404, "NOT_FOUND")),
        ("atx", {"into": "person"}, (404, "NOT_FOUND")),
        ("atx", {"into": "atx"}, (422, "BAD_USER_INPUT")),
        ("atx", {"into": "austin", "expected_version": 7}, (409, "CONFLICT")),
    ):
        assert status_and_code(await rest.post(f"/pages/{slug}/merge", given)) == expected
    stale = await rest.post("/pages/atx/merge", {"into": "austin"}, headers={"if-match": '"7"'})
    assert status_and_code(stale) == (412, "PRECONDITION_FAILED")


async def test_a_page_is_merged_into_a_page_of_another_type(rest: RestClient) -> None:
    await rest.create_page("ATX", content="Hot.")
    await rest.create_page("Austin", "entity", content="A city.")
    merged = await rest.post("/pages/atx/merge", {"into": "austin", "into_type": "entity"})
    assert (merged.status_code, merged.json().get("type"), merged.json().get("content")) == (
        200,
        "entity",
        "A city.\n\nHot.",
    )
    assert (await rest.get("/pages/atx")).json()["slug"] == "austin"


async def test_a_page_is_transferred_to_another_wiki_once(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Austin", content="Hot.")
    await rest.create_page("Trip", content="To [[Austin]].")
    other = await wiki.neighbour()
    assert status_and_code(await rest.post("/pages/austin/transfer", {"to_owner": "nobody"})) == (404, "NOT_FOUND")
    given = {"to_owner": str(other.scope.owner_id)}
    stale = await rest.post("/pages/austin/transfer", given, headers={"if-match": '"7"'})
    assert status_and_code(stale) == (412, "PRECONDITION_FAILED")
    answer = await rest.post("/pages/austin/transfer", given, headers={"idempotency-key": "once"})
    assert (answer.status_code, answer.json()["slug"], answer.json()["version"]) == (200, "austin", 2)
    again = await rest.post("/pages/austin/transfer", given, headers={"idempotency-key": "once"})
    assert again.json() == answer.json()
    assert status_and_code(await rest.get("/pages/austin")) == (404, "NOT_FOUND")
    assert (await rest.get("/pages/trip")).json()["content"].startswith("To [[o-")
    await rest.create_page("Austin")
    assert status_and_code(await rest.post("/pages/austin/transfer", given)) == (409, "SLUG_TAKEN")
    await check_derived_rows(wiki)
    await check_derived_rows(other)


async def test_an_earlier_version_has_the_title_and_slug_of_that_time(rest: RestClient) -> None:
    await rest.create_page("Austin", content="Hot.", tags=["us"])
    await rest.post("/pages/austin/rename", {"title": "Austin, Texas", "slug": "austin-texas"})
    then = (await rest.get("/pages/austin?version=1")).json()
    assert [then[name] for name in ("title", "slug", "aliases", "tags", "version")] == [
        "Austin", "austin", ["austin"], ["us"], 1,
    ]  # fmt: skip
    now = (await rest.get("/pages/austin?version=2")).json()
    assert (now["slug"], now["aliases"]) == ("austin-texas", ["austin", "austin texas"])


async def test_removing_an_alias_breaks_the_links_that_use_it(rest: RestClient) -> None:
    await rest.create_page("Austin")
    await rest.ask("PATCH", "/pages/austin", json={"aliases": ["ATX"]})
    linking = await rest.create_page("Trip", content="To [[ATX]].")
    assert linking["links"][0]["slug"] == "austin"
    await rest.ask("PATCH", "/pages/austin", json={"aliases": []})
    assert (await rest.get("/pages/trip")).json()["links"][0]["broken"]
