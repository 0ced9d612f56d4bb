"""Archived pages in the reader: their list, and the links of a page."""

import re

import httpx

from resolvers.pages.lifecycle import archive_page
from resolvers.pages.merging import merge_pages
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


async def test_the_links_of_an_archived_page_lead_to_its_other_formats(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    slugs = [await add_page(wiki, title, "Cold.") for title in ("Austin", "Austin City", "Texas")]
    archived, merged, into = [(await wiki.row("pages", slug=slug))["id"] for slug in slugs]
    await archive_page(wiki.database, wiki.scope, archived)
    await merge_pages(wiki.database, wiki.scope, merged, into)
    shown = (await browser.get(f"/wiki/{owner}/topic/austin")).text
    for suffix in ("md", "json"):
        path = f"/wiki/{owner}/topic/austin.{suffix}"
        assert f'href="{path}"' in shown
        answer = await browser.get(path)
        assert (answer.status_code, "Cold." in answer.text) == (200, True)
        assert "mergedInto" not in answer.text
        former = await browser.get(f"/wiki/{owner}/topic/austin-city-merged.{suffix}")
        assert (former.status_code, former.headers["location"]) == (301, f"/wiki/{owner}/topic/texas.{suffix}")
