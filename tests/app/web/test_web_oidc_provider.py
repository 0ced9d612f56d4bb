"""Signing in at a real OpenID Connect provider, in a real browser: into the reader, and into GraphiQL."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.graphiql.assets import missing_assets
from app.server.serve import bind
from resolvers.auth.owners import OwnerKind, create_owner
from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.app.service import Service, serving
from tests.app.web.test_web_in_browser import opened, pressed, typed
from tests.wiki import Wiki

CLIENT, CLIENT_SECRET = "cairn", "a secret of the client: 1%"
CONFORMANCE = Path(__file__).parents[2] / "conformance"

pytestmark = pytest.mark.skipif(
    EXECUTABLE is None or not (shutil.which("node") and (CONFORMANCE / "node_modules" / "oidc-provider").exists()),
    reason="needs Chromium, and oidc-provider, which `make conformance` installs",
)


@pytest.fixture
async def owner_mara(wiki: Wiki) -> None:
    await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, "mara", "Mara")


@asynccontextmanager
async def at_a_real_provider(
    dsn: str, tmp_path: Path, wiki: Wiki, secret: str | None = None
) -> AsyncIterator[tuple[Service, int]]:
    """Run a service whose people sign in at a real provider; yield it and the provider's port."""
    with bind("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    more = {"oidc_client_secret": secret} if secret else {}
    given = {"oidc_client_id": CLIENT, "oidc_tenant": str(wiki.scope.tenant_id), **more}
    async with serving(dsn, tmp_path, oidc_issuer=f"http://127.0.0.1:{port}", **given) as service:
        command = ["node", "oidc.mjs", str(port), f"{service.url}/sign-in/callback", *([secret] if secret else [])]
        process = await asyncio.create_subprocess_exec(*command, cwd=CONFORMANCE, stdout=-1, stderr=-3)
        assert process.stdout is not None
        try:
            assert await asyncio.wait_for(process.stdout.readline(), 60)
            yield service, port
        finally:
            process.terminate()
            await process.wait()


def sign_in_there(browser: Tab, page: str) -> None:
    """Sign in as Mara at the provider, from the page that has its button."""
    opened(browser, page)
    browser.run("document.querySelector('main a.button').click()")
    browser.wait_for("!!document.querySelector('input[name=login]')")
    typed(browser, "input[name=login]", "mara")
    typed(browser, "input[name=password]", "any")
    pressed(browser, "Enter")
    browser.wait_for("!document.querySelector('input[name=login]') && !!document.querySelector('form button')")
    browser.run("document.querySelector('form button').click()")


@pytest.mark.parametrize("secret", [None, CLIENT_SECRET], ids=["public", "secret"])
async def test_a_person_signs_in_at_a_real_provider(
    dsn: str, tmp_path: Path, wiki: Wiki, owner_mara: None, secret: str | None
) -> None:
    async with at_a_real_provider(dsn, tmp_path, wiki, secret) as (service, port):

        def browse() -> None:
            with tab() as browser:
                sign_in_there(browser, f"{service.url}/sign-in?next=%2Fpages%2Fmara")
                browser.wait_for("location.pathname === '/pages/mara' && document.readyState === 'complete'")
                assert browser.run("document.cookie") == ""
                browser.run("document.querySelector('form[action=\"/sign-out\"]').requestSubmit()")
                browser.wait_for("location.pathname === '/session/end' && !!document.querySelector('button')")
                assert f"127.0.0.1:{port}" in browser.run("location.host")
                browser.run("document.querySelector('button[value=yes]').click()")
                browser.wait_for("location.pathname === '/sign-in' && document.readyState === 'complete'")
                assert browser.run("location.origin") == service.url
                browser.run("document.querySelector('main a.button').click()")
                browser.wait_for("!!document.querySelector('input[name=login]')")

        await asyncio.to_thread(browse)


@pytest.mark.skipif(bool(missing_assets()), reason="needs `make graphiql`")
async def test_a_person_signed_in_at_a_real_provider_uses_graphiql_as_themselves(
    dsn: str, tmp_path: Path, wiki: Wiki, owner_mara: None
) -> None:
    async with at_a_real_provider(dsn, tmp_path, wiki) as (service, _):

        def browse() -> None:
            with tab() as browser:
                sign_in_there(browser, f"{service.url}/sign-in?next=%2Fgraphiql")
                editors = "document.querySelectorAll('.CodeMirror')"
                browser.wait_for(f"location.pathname === '/graphiql' && {editors}.length === 4")
                query = json.dumps("{ viewer { owner { slug name } } }")
                browser.run(f"{editors}[0].CodeMirror.setValue({query})")
                browser.run("document.querySelector('.graphiql-execute-button').click()")
                answer = json.loads(browser.wait_for(f"{editors}[3].CodeMirror.getValue()"))["data"]
                assert answer == {"viewer": {"owner": {"slug": "mara", "name": "Mara"}}}
                assert browser.run("document.cookie") == ""
                assert f"{service.url}/graphiql/graphql" in browser.requested_urls(), "the path that takes the session"

        await asyncio.to_thread(browse)
