"""Tests renames of pages with many links: clients read the progress of the rewriting, and the service finishes it."""

import asyncio

import pytest

from app import asgi
from app.asgi import rewriting_links
from resolvers.model.drafts import PageDraft
from resolvers.pages import renaming
from resolvers.pages import renaming as renamed_links
from resolvers.pages.lifecycle import create_page
from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.service import Service
from tests.waiting import within
from tests.wiki import Wiki, check_derived_rows

LEFT = "query($id: ID!) { node(id: $id) { ... on WikiPage { pagesToRewrite } } }"
RENAME = "mutation($input: RenameWikiPageInput!) { renameWikiPage(input: $input) { pagesRewritten pagesLeft } }"


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renamed_links, "TEXTS_PER_BATCH", 2)
    monkeypatch.setattr(renaming, "RENAME_TIMEOUT", 0.0)


async def hub(wiki: Wiki) -> str:
    for n in range(5):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Linking {n}", body="[[Austin]]"))
    return str((await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin", body=""))).page_id)


async def test_a_page_is_renamed_with_the_links_to_it(rest: RestClient, wiki: Wiki) -> None:
    await hub(wiki)
    tag = {"if-match": (await rest.get("/pages/austin")).headers["etag"]}
    answer = await rest.post("/pages/austin/rename", {"title": "Austin, Texas", "slug": "austin-texas"}, headers=tag)
    page = answer.json()
    assert (answer.status_code, page["slug"], page["version"], page["pages_to_rewrite"]) == (200, "austin-texas", 2, 0)
    assert (await rest.get("/pages/austin")).json()["redirected_from"] == "austin"
    assert (await rest.get("/pages/linking-3")).json()["content"] == "[[Austin, Texas]]"
    assert status_and_code(await rest.post("/pages/austin/rename", {"title": "X"}, headers=tag)) == (
        412,
        "PRECONDITION_FAILED",
    )
    assert status_and_code(await rest.post("/pages/austin/rename", {"slug": "linking-1"})) == (409, "SLUG_TAKEN")
    assert status_and_code(await rest.post("/pages/austin/rename", {})) == (422, "BAD_USER_INPUT")
    assert status_and_code(await rest.post("/pages/nobody/rename", {"slug": "x"})) == (404, "NOT_FOUND")
    await check_derived_rows(wiki)


@pytest.mark.usefixtures("impatient")
async def test_a_client_that_renames_a_hub_sees_the_progress(
    service: Service, token: str, rest: RestClient, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    page_id = await hub(wiki)
    rename = {"query": RENAME, "variables": {"input": {"pageId": page_id, "title": "Austin, Texas"}}}
    bearer = {"authorization": f"Bearer {token}"}
    done = (await service.http.post("/graphql", json=rename, headers=bearer)).json()["data"]["renameWikiPage"]
    assert done == {"pagesRewritten": 2, "pagesLeft": 3}
    monkeypatch.setattr(asgi, "REWRITE_INTERVAL", 0.05)
    async with rewriting_links(wiki.database), within("there were pages to rewrite"):
        while (await rest.get("/pages/austin")).json()["pages_to_rewrite"]:
            await asyncio.sleep(0.05)
    shown = await service.http.post("/graphql", json={"query": LEFT, "variables": {"id": page_id}}, headers=bearer)
    assert shown.json()["data"]["node"] == {"pagesToRewrite": 0}
    for n in range(5):
        assert (await rest.get(f"/pages/linking-{n}")).json()["content"] == "[[Austin, Texas]]"
    await check_derived_rows(wiki)


@pytest.mark.usefixtures("impatient")
async def test_a_repeated_rename_returns_its_first_answer_after_the_rewrite(rest: RestClient, wiki: Wiki) -> None:
    await hub(wiki)
    key = {"idempotency-key": "once"}
    first = await rest.post("/pages/austin/rename", {"title": "Austin, Texas"}, headers=key)
    assert first.json()["pages_to_rewrite"] == 3
    assert await renamed_links.rewrite_rest(wiki.database) == 3
    again = await rest.post("/pages/austin/rename", {"title": "Austin, Texas"}, headers=key)
    assert again.content == first.content
    assert (await rest.get("/pages/austin")).json()["pages_to_rewrite"] == 0
