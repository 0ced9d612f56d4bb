"""Signing in to the reader: the cookie with the credential, and protection from other sites."""

from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from app.web.paths import local_path
from tests.app.clients.web_client import SAME_ORIGIN
from tests.app.service import Service, serving
from tests.wiki import Wiki


async def test_sign_in_returns_to_the_requested_page(service: Service, token: str) -> None:
    async with httpx.AsyncClient(base_url=service.url) as browser:
        redirect = await browser.get("/pages/mara?tag=x")
        assert (redirect.status_code, redirect.headers["location"]) == (303, "/sign-in?next=%2Fpages%2Fmara%3Ftag%3Dx")
        form = await browser.get(redirect.headers["location"])
        assert 'name="next" value="/pages/mara?tag=x"' in form.text
        fields = {"token": f" Bearer {token} ", "next": "/pages/mara?tag=x"}
        answer = await browser.post("/sign-in", data=fields, headers=SAME_ORIGIN)
        assert answer.headers["location"] == "/pages/mara?tag=x"


async def test_the_session_cookie_is_http_only_and_same_site(service: Service, token: str) -> None:
    async with httpx.AsyncClient(base_url=service.url) as browser:
        answer = await browser.post("/sign-in", data={"token": token}, headers=SAME_ORIGIN)
    [cookie] = answer.headers.get_list("set-cookie")
    assert cookie.startswith(f"cairn-{urlsplit(service.url).port}=")
    assert {"HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))


async def test_the_session_cookie_over_https_is_secure_and_bound_to_the_host(
    dsn: str, tmp_path: Path, wiki: Wiki
) -> None:
    async with serving(dsn, tmp_path, forwarded_allow_ips="127.0.0.1") as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        headers = SAME_ORIGIN | {"x-forwarded-proto": "https", "host": "wiki.example.org"}
        answer = await service.http.post("/sign-in", data={"token": token}, headers=headers)
    [cookie] = answer.headers.get_list("set-cookie")
    assert cookie.startswith("__Host-cairn=")
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert "domain" not in cookie.lower()


async def test_sign_in_over_plain_http_at_another_host_is_refused(service: Service, token: str) -> None:
    headers = SAME_ORIGIN | {"host": "wiki.example.org"}
    answer = await service.http.post("/sign-in", data={"token": token}, headers=headers)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert "Sign in over HTTPS" in answer.text


async def test_a_wrong_token_is_refused_with_the_reason(service: Service) -> None:
    answer = await service.http.post("/sign-in", data={"token": "abc"}, headers=SAME_ORIGIN)
    assert (answer.status_code, "The token is malformed." in answer.text) == (401, True)


async def test_an_expired_session_cookie_is_deleted(service: Service) -> None:
    port = urlsplit(service.url).port
    answer = await service.http.get("/", headers={"cookie": f"cairn-{port}=ended"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2F&ended=1")
    assert "Max-Age=0" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "next", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "", "//[", "https://["]
)
def test_sign_in_does_not_redirect_to_other_sites(next: str) -> None:
    assert local_path(next) == "/"


async def test_a_form_of_another_site_is_refused(browser: httpx.AsyncClient, service: Service) -> None:
    for headers in ({}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "null"},
                    {"origin": "https://evil.example"}, {"sec-fetch-site": "none", "origin": service.url}):  # fmt: skip
        assert (await browser.post("/sign-out", headers=headers)).status_code == 403
    assert (await browser.get("/")).status_code == 200
    assert (await browser.post("/sign-out", headers={"origin": service.url})).status_code == 303
    assert (await browser.get("/")).status_code == 303


async def test_the_apis_do_not_accept_the_session_cookie(browser: httpx.AsyncClient) -> None:
    for path in ("/graphql?query={viewer{role}}", "/api/wiki/pages", "/mcp"):
        answer = await browser.get(path)
        assert answer.status_code in (401, 405, 406)
        assert "html" not in answer.headers["content-type"]


async def test_a_local_token_signs_in_browsers_on_this_machine_alone(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path) as first:
        token = first.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    async with serving(dsn, tmp_path, local_token=token) as service:
        assert (await service.http.get("/")).status_code == 200
        for headers in (
            {"host": "rebound.example"},
            {"x-forwarded-for": "203.0.113.9"},
            {"forwarded": "for=203.0.113.9"},
        ):
            assert (await service.http.get("/", headers=headers)).status_code == 303
