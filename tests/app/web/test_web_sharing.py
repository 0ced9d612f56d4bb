"""Share links let one page be read without a credential, and nothing else, until they expire."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.prose import standalone_html
from content.markdown.html import html
from db.scope import Role
from resolvers.errors import BadInput, Forbidden
from resolvers.pages.lifecycle import archive_page
from resolvers.pages.sharing import share_page, withdraw_share_link
from tests.app.clients.web_client import SAME_ORIGIN, add_page, signed_in
from tests.app.service import Service
from tests.app.web.test_web_hostile import PAYLOADS
from tests.wiki import Wiki

BODY = "Hot. See [[Barton Springs]], [[Nowhere]] and [x](https://elsewhere.example/).\n\n## Water\n\nCold."
NEW_LINK = re.compile(r'id="made" readonly value="https?://[^/]+(/shared/[\w=-]+)"')


@pytest.fixture
async def page_id(wiki: Wiki) -> UUID:
    await add_page(wiki, "Barton Springs", "A secret pool.")
    await add_page(wiki, "Austin", BODY, summary="A city.")
    return UUID(str((await wiki.row("pages", slug="austin"))["id"]))


async def test_a_share_link_is_created_read_and_withdrawn(
    service: Service, browser: httpx.AsyncClient, wiki: Wiki, page_id: UUID, owner: str
) -> None:
    path = f"/share/{owner}/topic/austin"
    assert "There are no links yet" in (await browser.get(path)).text
    created = await browser.post(path, data={"id": str(page_id), "days": "7"}, headers=SAME_ORIGIN)
    [link] = NEW_LINK.findall(created.text)
    assert link not in (await browser.get(path)).text
    shown = await service.http.get(link)
    assert shown.status_code == 200
    assert "Cold." in shown.text
    [id] = re.findall(r'name="link" value="([^"]+)"', (await browser.get(path)).text)
    withdrawn = await browser.post(f"/withdraw-share/{owner}/topic/austin", data={"link": id}, headers=SAME_ORIGIN)
    assert withdrawn.status_code == 303
    assert "Withdrawn" in (await browser.get(path)).text
    assert (await service.http.get(link)).status_code == 404
    lines = [row["action"] for row in await wiki.rows("activity")]
    assert lines[-2:] == ["page.shared", "page.share_withdrawn"]


async def test_a_shared_page_has_no_links_into_the_wiki(
    service: Service, wiki: Wiki, page_id: UUID, owner: str
) -> None:
    token = (await share_page(wiki.database, wiki.scope, page_id)).token
    shown = await service.http.get(f"/shared/{token}")
    links = re.findall(r'<a[^>]* href="([^"]*)"', shown.text)
    assert set(links) == {"#main-text", "https://elsewhere.example/"}
    assert "<form" not in shown.text
    assert "secret" not in shown.text
    assert "Barton Springs" in shown.text
    assert (shown.headers["cache-control"], shown.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert shown.headers["x-robots-tag"] == "noindex"
    assert "set-cookie" not in shown.headers


async def test_the_token_of_a_share_link_is_no_credential(
    service: Service, wiki: Wiki, page_id: UUID, owner: str
) -> None:
    token = (await share_page(wiki.database, wiki.scope, page_id)).token
    for path in (f"/wiki/{owner}/topic/austin", f"/search/{owner}?q=pool", "/", f"/follow/{page_id}", "/graphql"):
        answer = await service.http.get(path, headers={"authorization": f"Bearer {token}", "accept": "text/html"})
        assert answer.status_code in (303, 400, 401, 403, 405, 406)
        assert "secret" not in answer.text
    signing = await service.http.post("/sign-in", data={"token": token}, headers=SAME_ORIGIN)
    assert signing.status_code == 401


async def test_expired_and_unknown_share_links_get_the_same_404(service: Service, wiki: Wiki, page_id: UUID) -> None:
    issued = await share_page(wiki.database, wiki.scope, page_id)
    token_bytes = urlsafe_b64decode(issued.token)
    elsewhere = urlsafe_b64encode(uuid4().bytes + token_bytes[16:]).decode()
    wrong = urlsafe_b64encode(token_bytes[:-1] + bytes([token_bytes[-1] ^ 1])).decode()
    await wiki.connection.execute(
        "UPDATE share_links SET expires_at = now() WHERE tenant_id = $1", wiki.scope.tenant_id
    )
    answers = [
        await service.http.get(f"/shared/{token}")
        for token in (elsewhere, wrong, issued.token, "x", "é", "=" * 64, "%00")
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1


async def test_share_links_of_archived_pages_are_not_found(service: Service, wiki: Wiki, page_id: UUID) -> None:
    token = (await share_page(wiki.database, wiki.scope, page_id)).token
    await archive_page(wiki.database, wiki.scope, page_id)
    assert (await service.http.get(f"/shared/{token}")).status_code == 404
    with pytest.raises(BadInput):
        await share_page(wiki.database, wiki.scope, page_id)


async def test_the_token_of_a_share_link_is_not_stored(wiki: Wiki, page_id: UUID) -> None:
    token = (await share_page(wiki.database, wiki.scope, page_id)).token
    [row] = await wiki.rows("share_links")
    assert token not in str(row)
    assert urlsafe_b64decode(token) not in row.values()


async def test_only_admins_create_and_withdraw_share_links(
    service: Service, wiki: Wiki, page_id: UUID, owner: str
) -> None:
    link = (await share_page(wiki.database, wiki.scope, page_id)).id
    for role in (Role.READER, Role.MEMBER):
        scope = wiki.with_role(role).scope
        with pytest.raises(Forbidden):
            await share_page(wiki.database, scope, page_id)
        with pytest.raises(Forbidden):
            await withdraw_share_link(wiki.database, scope, link)
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.MEMBER)
    async with signed_in(service, token) as member:
        assert "/withdraw-share/" not in (await member.get(f"/share/{owner}/topic/austin")).text
    for wrong in (timedelta(seconds=-1), timedelta(days=400)):
        with pytest.raises(BadInput):
            await share_page(wiki.database, wiki.scope, page_id, expires_at=datetime.now(UTC) + wrong)


@given(st.lists(st.sampled_from([*PAYLOADS, "[[a]]", "[x](wiki:a)", "[x](/wiki/topic/a)", "[^a]", "*b*"]), max_size=5))
def test_the_html_of_shared_pages_has_no_internal_link_and_no_script(parts: list[str]) -> None:
    shown = str(standalone_html(html("\n\n".join(parts), {})))
    assert not re.search(r'href="(?:#|/(?!/)|wiki:)', shown)
    assert "<script" not in shown
