"""GraphiQL uses the session of the reader, and pages of other sites cannot."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.graphiql.assets import missing_assets
from tests.app.chromium import EXECUTABLE, tab
from tests.app.clients.web_client import SAME_ORIGIN, signed_in
from tests.app.service import Service, serving
from tests.wiki import Wiki, close_wiki, open_wiki

JSON_HEADERS = SAME_ORIGIN | {"accept": "application/json"}
VIEWER = {"query": "{ viewer { role } }"}
PATH = "/graphiql/graphql"


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    wiki = await open_wiki(dsn)
    yield wiki
    await close_wiki(wiki)


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path) as running:
        yield running


async def test_graphiql_requests_use_the_session(service: Service, wiki: Wiki) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    async with signed_in(service, token) as browser:
        shown = await browser.get("/graphiql")
        assert f'data-endpoint="{PATH}" data-signed-in="true"' in shown.text
        assert (token in shown.text, shown.headers["vary"]) == (False, "Cookie")
        answer = await browser.post(PATH, json=VIEWER, headers=JSON_HEADERS)
        assert answer.json()["data"] == {"viewer": {"role": "MEMBER"}}
        streaming = SAME_ORIGIN | {"accept": "text/event-stream"}
        subscription = {"query": "subscription { wikiScopeChanged { nothing } }"}
        assert "nothing" in (await browser.post(PATH, json=subscription, headers=streaming)).text
        with_token = JSON_HEADERS | {"authorization": "Bearer of.another.one"}
        assert (await browser.post(PATH, json=VIEWER, headers=with_token)).status_code == 401


@pytest.mark.parametrize(
    "sent", [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "https://evil.example"}, {}]
)
async def test_other_sites_cannot_send_requests_with_the_session(
    service: Service, wiki: Wiki, sent: dict[str, str]
) -> None:
    async with signed_in(service, service.token(wiki.scope.tenant_id, wiki.scope.owner_id)) as browser:
        answer = await browser.post(PATH, json=VIEWER, headers=sent)
        assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (403, "FORBIDDEN")
        assert (await browser.get(PATH, params=VIEWER, headers=JSON_HEADERS)).status_code == 405
        assert (await browser.post("/graphql", json=VIEWER, headers=JSON_HEADERS)).status_code == 401


async def test_graphiql_without_a_session_asks_for_a_token(service: Service) -> None:
    shown = await service.http.get("/graphiql", headers={"accept": "text/html"})
    assert 'data-endpoint="/graphql" data-signed-in="false"' in shown.text
    assert '<a href="/sign-in?next=/graphiql">' in shown.text
    answer = await service.http.post(PATH, json=VIEWER, headers=JSON_HEADERS)
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (401, "UNAUTHENTICATED")


@pytest.mark.skipif(EXECUTABLE is None or bool(missing_assets()), reason="needs Chromium and `make graphiql`")
async def test_a_signed_in_browser_runs_a_query_without_a_token(service: Service, wiki: Wiki, tmp_path: Path) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)

    def browse() -> None:
        with tab() as browser:
            browser.open(f"{service.url}/graphiql")
            browser.wait_for("!!document.querySelector('a[href^=\"/sign-in\"]')")
            browser.run("document.querySelector('a[href^=\"/sign-in\"]').click()")
            browser.wait_for("location.pathname === '/sign-in' && !!document.querySelector('input[name=token]')")
            browser.run(f"document.querySelector('input[name=token]').value = '{token}'")
            browser.run("document.querySelector('input[name=token]').form.requestSubmit()")
            browser.wait_for(
                "location.pathname === '/graphiql' && !!document.querySelector('.graphiql-execute-button')"
            )
            browser.run("document.querySelector('.graphiql-execute-button').click()")
            browser.wait_for(
                "[...document.querySelectorAll('.CodeMirror')].some(one => one.CodeMirror.getValue()"
                ".includes('\"recentWikiPages\": []'))"
            )

    await asyncio.to_thread(browse)
