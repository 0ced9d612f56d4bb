"""axe finds no violation on pages that need an event: an authorised program, a conflict, a new key."""

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from db.scope import Role
from resolvers.auth.credentials import Signing
from resolvers.auth.oauth import AuthorizationRequest, Client, authorize, find_by_code, redeem_code
from resolvers.jobs.queue import ask_for_compile, claim, fail
from resolvers.pages.sections import patch_section
from resolvers.sources.mentions import record_mention
from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.app.service import PLAIN, SECRET, serving
from tests.app.web.conftest import Reader
from tests.app.web.test_web_axe_pages import AXE, violations
from tests.app.web.test_web_in_browser import opened
from tests.wiki import Wiki

pytestmark = [
    pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium"),
    pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: `make conformance` installs it"),
]

CALLBACK = "http://127.0.0.1:3030/callback"
LOADED = "document.readyState === 'complete' && !!window.cairn"


@pytest.fixture
async def service_url(reader: Reader, dsn: str, tmp_path: Path, wiki: Wiki) -> AsyncIterator[str]:
    """The address of a service whose wiki has an authorised program, a failed job and a promoted name."""
    admin = wiki.with_role(Role.ADMIN).scope
    request = AuthorizationRequest(
        Client("a program", "Kettle watcher"), ("wiki:read",), "http://127.0.0.1/mcp", CALLBACK, True, "challenge"
    )
    found = await find_by_code(wiki.database, await authorize(wiki.database, admin, request, "Mara"))
    assert found is not None
    assert await redeem_code(wiki.database, Signing(SECRET, None, None), found)
    await ask_for_compile(wiki.database, admin)
    job = await claim(wiki.database, "worker")
    assert job is not None
    await fail(wiki.database, job, "The model `m` did not answer within 120 seconds.", {}, is_hopeless=True)
    await record_mention(wiki.database, wiki.scope, name="Old Mill", source_id=UUID(reader.source), quote="Cold.")
    promoted = "UPDATE mentions SET status = 'promoted', promoted_page_id = $1"
    await wiki.connection.execute(promoted, UUID(reader.page))
    async with serving(dsn, tmp_path, oauth="own", local_token=reader.token) as service:
        yield service.url


async def connect_address(url: str) -> str:
    """Register a program, and return the address at which a person is asked about it."""
    challenge = urlsafe_b64encode(sha256(b"v" * 43).digest()).decode().rstrip("=")
    async with httpx.AsyncClient(base_url=url, verify=PLAIN) as program:
        given = {"client_name": "Test program", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
        client = (await program.post("/register", json=given)).json()["client_id"]
        parameters = {
            "response_type": "code", "client_id": client, "redirect_uri": CALLBACK, "code_challenge": challenge,
            "code_challenge_method": "S256", "resource": f"{url}/mcp", "scope": "wiki:read wiki:write", "state": "s",
        }  # fmt: skip
        answer = await program.get("/authorize", params=parameters)
        return str(httpx.URL(url).join(answer.headers["location"]))


def submit(browser: Tab, script: str, shown: str) -> None:
    """Send a form, and wait until the response shows an element."""
    browser.run(script)
    browser.wait_for(f"{LOADED} && !!document.querySelector({json.dumps(shown)})")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_violation_on_pages_of_programs_jobs_and_conflicts(
    reader: Reader, service_url: str, wiki: Wiki, tmp_path: Path, scheme: str
) -> None:
    connect = await connect_address(service_url)
    assert "/connect?request=" in connect
    loop = asyncio.get_running_loop()
    edit = f"{service_url}/edit/{reader.owner}/topic/austin?section=water"

    def save_first(text: str) -> None:
        writing = patch_section(wiki.database, wiki.scope, UUID(reader.page), section_slug="water", body=text)
        asyncio.run_coroutine_threadsafe(writing, loop).result(30)

    def conflict(browser: Tab) -> None:
        opened(browser, edit)
        save_first(f"Theirs at {browser.run('innerWidth')}.")
        script = "document.querySelector('#body').value = 'Mine.';"
        script += "document.querySelector('form[data-draft-key] button:not([type])').click()"
        submit(browser, script, ".three")

    def new_key(browser: Tab) -> None:
        opened(browser, f"{service_url}/keys/{reader.owner}")
        script = "document.querySelector('main form [name=name]').value = 'sync';"
        script += "document.querySelector('main form [name=name]').form.requestSubmit()"
        submit(browser, script, "#made")

    def at(path: str, *shown: str) -> Callable[[Tab], None]:
        def open_it(browser: Tab) -> None:
            opened(browser, path)
            text = browser.run("document.body.innerText")
            assert [text_shown for text_shown in shown if text_shown not in text] == []

        return open_it

    pages = {
        "programs": at(f"{service_url}/programs/{reader.owner}", "Kettle watcher"),
        "connect": at(connect, "Test program"),
        "work": at(f"{service_url}/work/{reader.owner}", "Promoted to pages", "Failed", "did not answer"),
        "conflict": conflict,
        "key": new_key,
    }

    def browse() -> list[str]:
        found = []
        with tab() as browser:
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for width in (320, 1280):
                size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
                browser.call("Emulation.setDeviceMetricsOverride", **size)
                for name, show in pages.items():
                    show(browser)
                    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
                    found += [f"{width} {name}: {violation}" for violation in violations(browser)]
                    if browser.run("document.documentElement.scrollWidth > innerWidth"):
                        found.append(f"{width} {name}: wider than the screen")
        return found

    assert await asyncio.to_thread(browse) == []
