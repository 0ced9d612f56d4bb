"""Tests the HTML page that documents the REST contract."""

import asyncio
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.rest.application import make_application
from app.rest.endpoint import PATH
from app.rest.reference import reference
from tests.app.chromium import EXECUTABLE, tab
from tests.app.clients.rest_client import contract
from tests.app.service import Service


class PageParser(HTMLParser):
    """Collects the ids, links and text of a page, and its elements that load or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if tag == "a" else []
        if tag in ("script", "link", "img", "iframe", "form", "object") or "style" in given or "src" in given:
            self.loaded.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def parse(html: str) -> PageParser:
    parser = PageParser()
    parser.feed(html)
    return parser


def operation_ids() -> list[str]:
    return [operation["operationId"] for methods in contract()["paths"].values() for operation in methods.values()]


def test_operation_ids_are_set_explicitly_and_unique() -> None:
    ids = operation_ids()
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-z]+([A-Z][a-z]+)*", operation_id) for operation_id in ids)
    given = [route.operation_id for route in make_application().routes if getattr(route, "include_in_schema", False)]
    assert all(given), "an id made by the framework would change with the function's name"


async def test_the_reference_shows_all_operations_and_schemas_without_a_credential(service: Service) -> None:
    answer = await service.http.get(f"{PATH}/docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = parse(answer.text)
    assert len(page.ids) == len(set(page.ids))
    assert {*operation_ids()} <= {*page.ids}
    assert {f"schema-{name}" for name in contract()["components"]["schemas"]} <= {*page.ids}
    for methods in contract()["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                assert parameter["name"] in page.text
    assert {link.removeprefix("#") for link in page.links if link.startswith("#")} <= {*page.ids}
    assert [link for link in page.links if not link.startswith("#")] == [f"{PATH}/openapi.json"]


async def test_the_reference_loads_no_resource_and_runs_no_script(service: Service) -> None:
    answer = await service.http.get(f"{PATH}/docs")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert parse(answer.text).loaded == []


def test_markup_in_texts_of_the_contract_is_escaped() -> None:
    hostile = "<script>alert(1)</script> `<b>`"
    html = reference({
        "info": {"title": hostile, "description": hostile},
        "servers": [{"url": "/api/wiki"}],
        "components": {"schemas": {"A": {"description": hostile, "type": "string", "default": hostile}}},
        "paths": {"/<i>": {"get": {
            "tags": ["<u>"], "summary": hostile, "operationId": "a\"b", "description": hostile,
            "parameters": [{"name": "<p>", "in": "query", "schema": {"enum": [hostile]}, "description": hostile}],
            "responses": {"200": {"description": hostile}},
        }}},
    })  # fmt: skip
    assert parse(html).loaded == []
    assert not re.search("<(script|b|i|u)>", html)


@pytest.mark.skipif(EXECUTABLE is None, reason="needs a Chromium")
async def test_a_browser_shows_the_reference_in_its_own_style(service: Service, tmp_path: Path) -> None:
    def check_page() -> None:
        with tab() as browser:
            browser.open(f"{service.url}{PATH}/docs#createPage")
            browser.wait_for("document.querySelector('#createPage') !== null")
            assert browser.run("getComputedStyle(document.body).maxWidth") == "960px"
            assert [url for url in browser.requested_urls() if not url.startswith(service.url)] == []
            assert browser.errors() == []

    await asyncio.to_thread(check_page)
