"""Tests the change feed that keeps a copy of a wiki up to date over REST."""

import pytest

from db.scope import Role
from resolvers.pages.lifecycle import delete_page
from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.service import Service
from tests.wiki import Wiki


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


async def test_a_client_that_resumes_gets_the_changes_since_its_cursor(rest: RestClient, wiki: Wiki) -> None:
    pages = [await rest.create_page(title) for title in "ABC"]
    first_page = (await rest.get("/changes?limit=2")).json()
    assert [item["page"]["slug"] for item in first_page["items"]] == ["a", "b"]
    second_page = (await rest.get("/changes", params={"cursor": first_page["next"]})).json()
    assert ([item["page"]["slug"] for item in second_page["items"]], second_page["next"]) == (["c"], None)
    resume = {"cursor": second_page["resume"]}
    assert (await rest.get("/changes", params=resume)).json() == {
        "items": [],
        "next": None,
        "resume": resume["cursor"],
    }
    await rest.ask("DELETE", "/pages/a")
    await delete_page(wiki.database, wiki.with_role(Role.ADMIN).scope, pages[1]["id"])
    since = (await rest.get("/changes", params=resume)).json()["items"]
    changes = [(item["page_id"], item["state"], item["page"] and item["page"]["status"]) for item in since]
    assert changes == [(pages[0]["id"], "archived", "archived"), (pages[1]["id"], "deleted", None)]
    assert status_and_code(await rest.get("/changes?cursor=x")) == (422, "BAD_USER_INPUT")
