"""The reader of a person who can read more than a hundred wikis."""

import httpx
import pytest

from db.scope import Role
from resolvers.auth.owners import OwnerKind, ensure_owner
from tests.app.clients.web_client import SAME_ORIGIN, add_page, signed_in
from tests.app.service import Service
from tests.app.web.test_web_writing import form_of
from tests.wiki import Wiki


@pytest.fixture
async def hundred_wikis(wiki: Wiki) -> None:
    """A hundred wikis whose slugs come before that of the wiki."""
    for number in range(100):
        await ensure_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.SHARED, f"a-{number}", f"Team {number}")


@pytest.mark.usefixtures("hundred_wikis")
async def test_a_wiki_behind_the_first_hundred_can_be_written(service: Service, wiki: Wiki, owner: str) -> None:
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', 'Cold.')}"
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    async with signed_in(service, token) as browser:
        shown = (await browser.get(f"/wiki/{path}")).text
        assert f'href="/edit/{path}"' in shown
        for page in (shown, (await browser.get("/")).text):
            assert f'<a class="new" href="/new/{owner}">' in page
        change = form_of(await browser.get(f"/edit/{path}")) | {"body": "Warm.", "summary": "", "tags": ""}
        saved: httpx.Response = await browser.post(f"/edit/{path}", data=change, headers=SAME_ORIGIN)
        assert saved.status_code == 303
        assert "Create link" in (await browser.get(f"/share/{path}")).text
        assert 'class="brand"' in (await browser.get(f"/wiki/{owner}/topic/nothing")).text
        assert (await browser.get("/wiki/nobody")).status_code == 404
