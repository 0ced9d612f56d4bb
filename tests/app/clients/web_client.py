"""A browser without scripts that is signed in to the reader, and pages for it to read."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.app.service import PLAIN, Service
from tests.wiki import Wiki

SAME_ORIGIN = {"sec-fetch-site": "same-origin"}


async def add_page(wiki: Wiki, title: str, body: str, type: str = "topic", **more: Any) -> str:
    """Create a page and return its slug."""
    saved = await create_page(wiki.database, wiki.scope, PageDraft(type=type, title=title, body=body, **more))
    return str((await wiki.page(saved.page_id))["slug"])


@asynccontextmanager
async def signed_in(service: Service, token: str) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a browser that has signed in with the token."""
    headers = {"accept": "text/html"}
    async with httpx.AsyncClient(base_url=service.url, headers=headers, timeout=30, verify=PLAIN) as browser:
        answer = await browser.post("/sign-in", data={"token": token, "next": "/"}, headers=SAME_ORIGIN)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        yield browser
