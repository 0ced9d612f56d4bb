"""axe finds no violation on any page of the reader, in both themes and widths."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from db.scope import Role
from resolvers.jobs.queue import ask_for_compile
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.contradictions import Claimed, record_contradiction
from resolvers.pages.sharing import share_page
from resolvers.sources.mentions import record_mention
from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.app.clients.web_client import SAME_ORIGIN, signed_in
from tests.app.service import serving
from tests.app.web.conftest import Reader
from tests.wiki import Wiki

AXE = Path(__file__).parents[2] / "conformance" / "node_modules" / "axe-core" / "axe.min.js"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
PAGE_FORMS = ("wiki", "edit", "rename", "archive", "history", "merge", "move", "share")

pytestmark = [
    pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium"),
    pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: `make conformance` installs it"),
]


@dataclass
class Filled:
    """Addresses of work, key and sharing pages with content, to open signed in or signed out."""

    signed_in: list[str]
    signed_out: list[str]


@pytest.fixture
async def filled(reader: Reader, dsn: str, tmp_path: Path, wiki: Wiki) -> AsyncIterator[Filled]:
    page, source = UUID(reader.page), UUID(reader.source)
    await record_mention(wiki.database, wiki.scope, name="Old Mill", source_id=source, quote="The pool is cold.")
    claims = Claimed("The pool is cold.", "water"), Claimed("The pool is warm.", "water")
    await record_contradiction(wiki.database, wiki.scope, PageAddress(page), *claims)
    await ask_for_compile(wiki.database, wiki.with_role(Role.ADMIN).scope)
    link = await share_page(wiki.database, wiki.with_role(Role.ADMIN).scope, page)
    key = {"name": "sync", "role": "READER", "days": ""}
    async with serving(dsn, tmp_path) as service:
        async with signed_in(service, reader.token) as admin:
            created = await admin.post(f"/keys/{reader.owner}", data=key, headers=SAME_ORIGIN)
            assert created.status_code == 200
        signed_out = [service.url + path for path in ("/", f"/wiki/{reader.owner}/topic/austin", "/nothing")]
        shared = [f"{service.url}{path}" for path in (f"/shared/{link.token}", "/shared/nothing")]
        kinds = ("work", "keys", "programs")
        inside = [f"{reader.url}/{kind}/{reader.owner}" for kind in kinds]
        yield Filled(
            [*inside, reader.path("share"), reader.path(slug="missing"), f"{reader.url}/wiki/nobody"],
            signed_out + shared,
        )


def pages_of(reader: Reader) -> list[str]:
    """Return one address of each kind of page."""
    of_page = [reader.path(kind) for kind in PAGE_FORMS]
    of_wiki = [
        f"{reader.url}/{kind}/{reader.owner}"
        for kind in ("wiki", "pages", "sources", "work", "proposals", "new", "add-source")
    ]
    return [
        *of_page,
        *of_wiki,
        f"{reader.url}/search/{reader.owner}?q=pool",
        f"{reader.url}/search/{reader.owner}",
        f"{reader.url}/sources/{reader.owner}?q=pool",
        f"{reader.url}/source/{reader.owner}/{reader.source}",
        f"{reader.url}/forget/{reader.owner}/{reader.source}",
        f"{reader.url}/graph/{reader.owner}/{reader.page}",
        f"{reader.url}/diff/{reader.owner}/{reader.page}?from=1&to=1",
        reader.path("edit") + "?section=water",
        reader.path("merge") + "?name=barton-springs",
        f"{reader.url}/keys/{reader.owner}",
        f"{reader.url}/proposal/{reader.owner}/{reader.proposal}?made=1",
        f"{reader.url}/sign-in",
        f"{reader.url}/nothing",
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_violation_on_any_page_in_both_themes_and_widths(
    reader: Reader, filled: Filled, tmp_path: Path, scheme: str
) -> None:
    def browse() -> list[str]:
        found = []
        with tab() as browser:
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for width in (320, 1280):
                size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
                browser.call("Emulation.setDeviceMetricsOverride", **size)
                for url in [*pages_of(reader), *filled.signed_in, *filled.signed_out]:
                    browser.open("about:blank")
                    browser.wait_for("location.href === 'about:blank'")
                    browser.open(url)
                    browser.wait_for("location.protocol === 'http:' && document.readyState === 'complete'")
                    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
                    found += [f"{width} {url}: {violation}" for violation in violations(browser)]
                    if browser.run("document.documentElement.scrollWidth > innerWidth"):
                        found.append(f"{width} {url}: wider than the screen")
        return found

    assert await asyncio.to_thread(browse) == []


def violations(browser: Tab) -> list[str]:
    browser.run(AXE.read_text(encoding="utf-8"))
    script = f"axe.run(document, {json.dumps(RULES)}).then(said => said.violations.map(one => one.id + ' ' + "
    script += "one.nodes.map(node => node.html.slice(0, 200) + ' ' + node.failureSummary).join(' | ')))"
    result: dict[str, Any] = browser.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
    return list(result["result"]["value"])
