"""The lists of the reader: their filters hold together."""

import re

import httpx

from resolvers.pages.lifecycle import archive_page
from tests.app.clients.web_client import add_page
from tests.wiki import Wiki

FILTERS = re.compile(r'<form class="filters".*?</form>', re.DOTALL)
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


async def test_archived_pages_can_be_filtered_by_their_type(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    for title, type in (("Austin", "topic"), ("Mara", "entity")):
        slug = await add_page(wiki, title, "Cold.", type=type)
        await archive_page(wiki.database, wiki.scope, (await wiki.row("pages", slug=slug))["id"])
    await add_page(wiki, "Harbour", "Hot.")
    [form] = FILTERS.findall((await browser.get(f"/pages/{owner}?status=archived")).text)
    chosen = dict(HIDDEN.findall(form)) | {"type": "topic", "order": "title"}
    shown = (await browser.get(f"/pages/{owner}", params=chosen)).text
    assert re.findall(r'<p class="entry-title"><a [^>]*>(.*?)</a>', shown) == ["Austin"]
