"""Pages with many sections in the reader, and as shared pages."""

import html
import re

import httpx
import pytest

from db.scope import Role
from resolvers.pages.sharing import share_page
from tests.app.clients.web_client import add_page
from tests.app.service import Service
from tests.wiki import Wiki

CHILDREN = re.compile(r'id="page-children">(.*?)</section>', re.DOTALL)
HEADING = re.compile(r'<h2 id="day_(\d+)">')


def diary(days: int) -> str:
    return "\n\n".join(f"## Day {day}\n\nRain." for day in range(1, days + 1))


@pytest.mark.parametrize(("days", "shown"), [(60, 60), (230, 200)])
async def test_a_long_page_has_all_its_sections_or_says_how_many_are_left_out(
    browser: httpx.AsyncClient, service: Service, wiki: Wiki, owner: str, days: int, shown: int
) -> None:
    slug = await add_page(wiki, "Diary", diary(days))
    path = f"/wiki/{owner}/topic/{slug}"
    link = await share_page(wiki.database, wiki.with_role(Role.ADMIN).scope, (await wiki.row("pages", slug=slug))["id"])
    read, shared = await browser.get(path), await service.http.get(f"/shared/{link.token}")
    for page in (read, shared):
        assert [int(day) for day in HEADING.findall(page.text)] == list(range(1, shown + 1))
        left_out = f"first {shown} of {days} sections"
        assert (left_out in html.unescape(page.text)) is (shown < days)
    assert read.text.count(f'href="{path}.md"') == (3 if shown < days else 2)
    assert (await browser.get(f"{path}.json")).json()["sectionCount"] == days


async def test_all_child_pages_are_reachable(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    slug = await add_page(wiki, "Travel", "Far.")
    parent = (await wiki.row("pages", slug=slug))["id"]
    for number in range(53):
        await add_page(wiki, f"Trip {number:02}", "Rain.", parent_id=parent)
    first = await browser.get(f"/wiki/{owner}/topic/{slug}")
    rest = await browser.get(
        html.unescape(re.findall(r'<a [^>]*href="([^"]*#page-children)" rel="next"', first.text)[0])
    )
    listed = [re.findall(r">Trip (\d+)</a>", CHILDREN.findall(page.text)[0]) for page in (first, rest)]
    assert [number for part in listed for number in part] == [f"{number:02}" for number in range(53)]
    assert "#page-children" not in rest.text
