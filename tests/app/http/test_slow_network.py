"""With a distant Postgres, 300 ms per packet in each direction, requests succeed within the default limits."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.app.service import Service, serving
from tests.postgres_proxy import Proxy
from tests.wiki import Wiki, check_derived_rows

LATENCY = 0.3  # seconds
CREATE = """mutation($input: CreateWikiPageInput!) {
  createWikiPage(input: $input) { page { id title sections { heading } aliases tags } userErrors { message } }
}"""
EDIT = """mutation($input: EditWikiPageInput!) {
  editWikiPage(input: $input) { page { version } userErrors { message } }
}"""
PAGE = {
    "title": "Pottery",
    "type": "TOPIC",
    "aliases": ["Pots"],
    "tags": ["craft", "clay"],
    "sections": [
        {"heading": "Firing", "bodyMd": "See [[Kilns]] and [[Nothing]]."},
        {"heading": "Clay", "bodyMd": "Of [[Old 1]]."},
    ],
}


@pytest.fixture
async def proxy(dsn: str) -> AsyncIterator[Proxy]:
    async with Proxy(dsn).open() as proxy:
        yield proxy


@pytest.fixture
async def service(proxy: Proxy, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(proxy.dsn, tmp_path) as service:
        yield service
        proxy.delay = 0


async def test_a_new_process_writes_pages_over_a_slow_network_without_a_timeout(
    service: Service, token: str, wiki: Wiki, proxy: Proxy
) -> None:
    """The first request of each kind also prepares its statements, because its connection has not run them before."""
    for title in ("Kilns", *(f"Old {n}" for n in range(20))):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title))
    proxy.delay = LATENCY
    created = await service.ask(CREATE, token, input=PAGE)
    assert created["data"]["createWikiPage"]["userErrors"] == []
    page = created["data"]["createWikiPage"]["page"]
    assert [section["heading"] for section in page["sections"]] == ["Firing", "Clay"]
    edit = {"pageId": page["id"], "oldText": "See [[Kilns]]", "newText": f"See [[{uuid4().hex}]]"}
    edited = await service.ask(EDIT, token, input=edit)
    assert edited["data"]["editWikiPage"] == {"page": {"version": 2}, "userErrors": []}
    proxy.delay = 0
    await check_derived_rows(wiki)
