"""GraphiQL in a real browser: it runs queries, sends the token, and requests nothing from other servers."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote, urlsplit

import pytest
import strawberry
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from app.graphiql.assets import missing_assets
from app.graphiql.page import graphiql_routes
from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.waiting import SOON

pytestmark = pytest.mark.skipif(
    EXECUTABLE is None or bool(missing_assets()), reason="needs Chromium and `make graphiql`"
)

TOKEN = 'abc.def-_"</script>'
QUERY = "{ recentWikiPages(limit: 7) { title summary } }"
EDITORS = "[...document.querySelectorAll('.CodeMirror')].map(editor => editor.CodeMirror.getValue())"
RUN = "document.querySelector('.graphiql-execute-button').click()"


@strawberry.type
class Page:
    type: str
    slug: str
    title: str
    summary: str


@strawberry.type
class Query:
    @strawberry.field
    def recent_wiki_pages(self, limit: int) -> list[Page]:
        return [Page(type="TOPIC", slug="austin", title="Austin <b>&", summary=f"one of {limit}")]


class Api:
    """A server with one query that records the Authorization header of each request."""

    def __init__(self) -> None:
        self.schema = strawberry.Schema(Query)
        self.authorizations: list[str | None] = []
        self.follows = False
        routes = [Route("/graphql", self.answer, methods=["POST"]), *graphiql_routes()]
        self.app = Starlette(routes=routes)

    async def answer(self, request: Request) -> Response:
        self.authorizations.append(request.headers.get("authorization"))
        if request.headers["accept"] == "text/event-stream":
            return StreamingResponse(self.events(), media_type="text/event-stream")
        body = await request.json()
        result = await self.schema.execute(body["query"], operation_name=body.get("operationName"))
        return JSONResponse({"data": result.data, "errors": [error.formatted for error in result.errors or []] or None})

    async def events(self) -> AsyncIterator[str]:
        """Yield two events, the second in two lines and two pieces, and wait until the client leaves."""
        self.follows = True
        try:
            yield ':\n\nevent: next\ndata: {"data": {"changed": 1}}\n\n'
            yield 'event: next\ndata: {"data":\n'
            yield 'data: {"changed": 2}}\n\n'
            await asyncio.sleep(60)
        finally:
            self.follows = False


@contextmanager
def served(app: Starlette) -> Iterator[str]:
    """Serve the app on a free port of this machine, and yield its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="module")
def api() -> Api:
    return Api()


@pytest.fixture(scope="module")
def address(api: Api) -> Iterator[str]:
    with served(api.app) as address:
        yield address


@pytest.fixture
def browser() -> Iterator[Tab]:
    with tab() as opened:
        yield opened


def editors(browser: Tab) -> list[str]:
    """Return the texts of the four editors: query, variables, headers, result."""
    return list(browser.wait_for(f"(all => all.length === 4 && all)({EDITORS})"))


def run_query(browser: Tab) -> str:
    """Run the query of the open tab and return the text of the result window."""
    editors(browser)
    browser.run(RUN)
    return str(browser.wait_for(f"{EDITORS}[3]"))


def foreign_requests(browser: Tab, address: str) -> list[str]:
    """Return the addresses of other servers that were requested over the network."""
    return [url for url in browser.requested_urls() if urlsplit(url).scheme != "data" and not url.startswith(address)]


def test_the_page_without_a_token_explains_how_to_get_and_enter_a_token(browser: Tab, address: str, api: Api) -> None:
    browser.open(f"{address}/graphiql")
    text = browser.wait_for("document.querySelector('.unstarted main')?.innerText")
    assert "A knowledge base that compounds" in text
    assert "cairn token --tenant TENANT --owner OWNER" in text
    browser.run(f"document.querySelector('#token').value = {json.dumps(' Bearer ' + TOKEN)}")
    browser.run("document.querySelector('form button').click()")
    run_query(browser)
    assert api.authorizations[-1] == f"Bearer {TOKEN}"
    assert browser.errors() == []


def test_graphiql_opens_without_a_token(browser: Tab, address: str, api: Api) -> None:
    browser.open(f"{address}/graphiql")
    browser.wait_for("!!document.querySelector('form')")
    browser.run("document.querySelector('form button').click()")
    run_query(browser)
    assert api.authorizations[-1] is None


def test_the_default_query_runs_and_its_result_is_shown(browser: Tab, address: str) -> None:
    browser.open(f"{address}/graphiql#token=any")
    [page] = json.loads(run_query(browser))["data"]["recentWikiPages"]
    assert page == {"type": "TOPIC", "slug": "austin", "title": "Austin <b>&", "summary": "one of 10"}
    assert "Austin <b>&" in browser.run("document.querySelector('.result-window').innerText")


def test_no_other_server_is_requested_and_the_csp_is_not_violated(browser: Tab, address: str) -> None:
    browser.open(f"{address}/graphiql#token=any")
    run_query(browser)
    for panel in ("Documentation Explorer", "History", "GraphiQL Explorer"):
        browser.run(f"document.querySelector('[aria-label=\"Show {panel}\"]').click()")
        browser.wait_for(f"!!document.querySelector('[aria-label=\"Hide {panel}\"]')")
    browser.run("document.querySelector('[aria-label=\"Open settings dialog\"]').click()")
    browser.wait_for("!!document.querySelector('[role=dialog]')")
    assert f"{address}/graphql" in browser.requested_urls()
    assert foreign_requests(browser, address) == []
    assert browser.errors() == []


def test_a_token_in_the_url_fragment_is_moved_to_a_header(browser: Tab, address: str, api: Api) -> None:
    browser.open(f"{address}/graphiql#token={quote(TOKEN)}&query={quote(QUERY)}")
    assert json.loads(run_query(browser))["data"]["recentWikiPages"][0]["summary"] == "one of 7"
    query, _variables, headers, _result = editors(browser)
    assert query == QUERY
    assert json.loads(headers) == {"Authorization": f"Bearer {TOKEN}"}
    assert browser.run("location.href") == f"{address}/graphiql"
    assert api.authorizations[-1] == f"Bearer {TOKEN}"


def test_the_token_survives_a_reload_in_the_session_storage_of_the_tab(browser: Tab, address: str, api: Api) -> None:
    browser.open(f"{address}/graphiql#token={quote(TOKEN)}")
    run_query(browser)
    browser.open(f"{address}/graphiql")
    browser.run("document.querySelector('.graphiql-tab-add').click()")
    run_query(browser)
    assert api.authorizations[-1] == f"Bearer {TOKEN}"
    assert browser.run("JSON.stringify(localStorage)") == "{}"
    assert TOKEN in json.loads(browser.run("JSON.stringify(sessionStorage)"))["cairn:token"]


def test_a_new_token_on_the_open_page_replaces_the_old_one(browser: Tab, address: str, api: Api) -> None:
    browser.open(f"{address}/graphiql#token=first")
    run_query(browser)
    browser.open(f"{address}/graphiql#token=second")
    browser.wait_for(f"location.hash === '' && {EDITORS}[2]?.includes('second')")
    run_query(browser)
    assert api.authorizations[-1] == "Bearer second"


def test_the_page_names_make_graphiql_if_its_files_do_not_load(browser: Tab, address: str) -> None:
    browser.call("Network.setBlockedURLs", urls=["*graphiql-3*.js"])
    browser.open(f"{address}/graphiql")
    assert "make graphiql" in browser.wait_for("document.querySelector('.unstarted')?.textContent")


def test_a_subscription_is_followed_until_it_is_stopped(browser: Tab, address: str, api: Api) -> None:
    browser.open(f"{address}/graphiql#token={quote(TOKEN)}&query={quote('subscription { changed }')}")
    editors(browser)
    browser.run(RUN)
    browser.wait_for(f"{EDITORS}[3].includes('2')")
    assert json.loads(browser.run(f"{EDITORS}[3]")) == {"data": {"changed": 2}}
    assert (api.follows, api.authorizations[-1]) == (True, f"Bearer {TOKEN}")
    browser.run(RUN)
    until(lambda: not api.follows)
    assert browser.errors() == []
    assert browser.run(f"{EDITORS}[3].includes('Abort')") is False


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < end, "the condition did not become true in time"
        time.sleep(0.05)
