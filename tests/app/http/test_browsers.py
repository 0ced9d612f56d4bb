"""The service in a real browser: GraphiQL works, and pages of other origins are restricted."""

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from app.graphiql.assets import missing_assets
from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.app.service import Service, serving
from tests.wiki import Wiki

pytestmark = pytest.mark.skipif(
    EXECUTABLE is None or bool(missing_assets()), reason="needs Chromium and `make graphiql`"
)

SUBSCRIPTION = "subscription { wikiScopeChanged(initial: true) { kind version page { title } } }"
WRITE = 'mutation { upsertWikiPage(input: {type: TOPIC, title: "Austin", bodyMd: "Hot."}) { page { version } } }'
EDITORS = "[...document.querySelectorAll('.CodeMirror')].map(editor => editor.CodeMirror.getValue())"
EXECUTE = "document.querySelector('.graphiql-execute-button').click()"


def write_page(url: str, token: str) -> Any:
    answer = httpx.post(f"{url}/graphql", json={"query": WRITE}, headers={"authorization": f"Bearer {token}"}).json()
    return answer["data"]["upsertWikiPage"]["page"]["version"]


async def test_graphiql_runs_a_subscription_until_it_is_stopped(service: Service, token: str, tmp_path: Path) -> None:
    def browse() -> None:
        with tab() as browser:
            browser.open(f"{service.url}/graphiql#token={quote(token)}&query={quote(SUBSCRIPTION)}")
            browser.wait_for(f"({EDITORS}).length === 4")
            browser.run(EXECUTE)
            browser.wait_for(f"({EDITORS})[3].includes('RESYNC')")
            version = write_page(service.url, token)
            browser.wait_for(f"({EDITORS})[3].includes('CREATED')")
            event = json.loads(browser.run(f"({EDITORS})[3]"))["data"]["wikiScopeChanged"]
            assert event == {"kind": "CREATED", "version": version, "page": {"title": "Austin"}}
            browser.run(EXECUTE)
            browser.wait_for("document.querySelector('.graphiql-execute-button').ariaLabel.startsWith('Execute')")
            browser.run("document.querySelector('[aria-label=\"Show Documentation Explorer\"]').click()")
            browser.wait_for("document.querySelector('.graphiql-plugin').innerText.includes('WikiPage')")
            assert browser.errors() == []

    await asyncio.to_thread(browse)


FETCH = """fetch("{url}/graphql", {{
    method: "POST", body: JSON.stringify({{query: "{{ viewer {{ role }} }}"}}),
    headers: {{"Authorization": "Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": "one"}},
}}).then(async answer => [answer.status, (await answer.json()).data.viewer.role, !!answer.headers.get("x-request-id")],
         error => [error.name])"""
OPEN_WEBSOCKET = """new Promise(resolve => {{
    const socket = new WebSocket("{url}/graphql".replace("http", "ws"), "graphql-transport-ws");
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
}})"""
POST_NO_CORS = """fetch("{url}/graphql", {{
    method: "POST", mode: "no-cors", body: JSON.stringify({{query: "{{ viewer {{ role }} }}"}}),
}}).then(answer => answer.type, error => error.name)"""


def evaluate(browser: Tab, script: str, **given: str) -> Any:
    answer = browser.call("Runtime.evaluate", expression=script.format(**given), awaitPromise=True, returnByValue=True)
    return answer["result"]["value"]


async def test_browsers_call_the_api_only_from_configured_origins(dsn: str, wiki: Wiki, tmp_path: Path) -> None:
    async with (
        serving(dsn, tmp_path) as home,
        serving(dsn, tmp_path, cors_origins=home.url) as friend,
        serving(dsn, tmp_path) as stranger,
    ):
        token = friend.token(wiki.scope.tenant_id, wiki.scope.owner_id)

        def browse() -> None:
            with tab() as browser:
                browser.call("Page.setBypassCSP", enabled=True)  # what our own pages may load is not what is asked here
                browser.open(f"{home.url}/healthz")
                browser.wait_for(f"location.href === '{home.url}/healthz'")
                assert evaluate(browser, FETCH, url=friend.url, token=token) == [200, "MEMBER", True]
                assert evaluate(browser, OPEN_WEBSOCKET, url=friend.url) == "open"
                assert evaluate(browser, FETCH, url=stranger.url, token=token) == ["TypeError"]
                assert evaluate(browser, OPEN_WEBSOCKET, url=stranger.url) == "refused"
                assert (
                    evaluate(browser, POST_NO_CORS, url=stranger.url) == "TypeError"
                )  # nor may it look at what came back

        await asyncio.to_thread(browse)
