"""The error pages of the reader state the error once and offer a next step."""

import re

import httpx

from app.web.rendering import texts, with_code
from db.scope import Role
from tests.app.clients.web_client import SAME_ORIGIN, add_page, signed_in
from tests.app.service import Service
from tests.wiki import Wiki


async def test_an_error_page_states_the_error_once(browser: httpx.AsyncClient, owner: str) -> None:
    for path in (f"/wiki/{owner}/topic/nothing", f"/source/{owner}/x", f"/attachment/{owner}/x.png", "/nothing"):
        shown = (await browser.get(path)).text
        heading, message = re.findall(r"<h1>(.*?)</h1>\s*<p class=\"summary\">(.*?)</p>", shown, re.DOTALL)[0]
        assert (heading, message.startswith(heading)) == ("Not found", False)
        assert f"<title>{heading} · Cairn</title>" in shown


async def test_an_error_page_has_the_navigation_of_the_wiki(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    for path in (f"/wiki/{owner}/topic/nothing", "/nothing", "/wiki/nobody"):
        answer = await browser.get(path)
        assert answer.status_code in (403, 404)
        assert f'<a class="brand" href="/wiki/{owner}">' in answer.text
        assert f'<a href="/sources/{owner}">Sources</a>' in answer.text
    slug = await add_page(wiki, "Austin", "Hot.")
    refused = await browser.post(f"/archive/{owner}/topic/{slug}", data={}, headers={"sec-fetch-site": "cross-site"})
    assert (refused.status_code, 'class="brand"' in refused.text) == (403, True)


async def test_an_error_page_has_no_navigation_without_a_sign_in(service: Service) -> None:
    answer = await service.http.get("/nothing", headers={"accept": "text/html"})
    assert (answer.status_code, 'class="brand"' in answer.text) == (404, False)


async def test_code_in_error_messages_is_shown_as_code(browser: httpx.AsyncClient, owner: str) -> None:
    assert with_code("Set `a<b` or `c`, not ` alone.") == "Set <code>a&lt;b</code> or <code>c</code>, not ` alone."
    refused = await browser.post(f"/add-source/{owner}", data={"kind": "`x`"}, headers=SAME_ORIGIN)
    assert (refused.status_code, "`" in refused.text) == (422, False)


async def test_the_sign_in_page_shows_the_token_command_as_code(service: Service) -> None:
    assert "`cairn token" in texts()["sign_in"]["help"]
    shown = (await service.http.get("/sign-in")).text
    assert "<code>cairn token --tenant TENANT --owner OWNER</code>" in shown
    assert "`" not in shown


async def test_an_empty_wiki_offers_its_first_page_to_people_who_may_write_it(
    service: Service, wiki: Wiki, browser: httpx.AsyncClient, owner: str
) -> None:
    offer = f'class="button" href="/new/{owner}"'
    assert offer in (await browser.get(f"/wiki/{owner}")).text
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    async with signed_in(service, token) as reader:
        for path in (f"/wiki/{owner}", "/"):
            assert offer not in (await reader.get(path)).text
