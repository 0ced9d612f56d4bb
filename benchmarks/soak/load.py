"""Sends reads, searches, lists, edits and evidence to compile, at random moments, to several wikis."""

import asyncio
import os
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from ..wikis import VOCABULARY

READ = """query ($tenantId: ID!, $type: WikiPageType!, $slug: String!) {
  wikiPage(tenantId: $tenantId, type: $type, slug: $slug) {
    title sections { heading bodyMd } backlinks(first: 10) { nodes { title } }
  }
}"""
SEARCH = """query ($tenantId: ID!, $query: String!) {
  wikiSearch(tenantId: $tenantId, query: $query, limit: 10) { score page { title slug summary } }
}"""
LIST = "{ wikiPages(first: 50, orderBy: HUBNESS) { nodes { title slug parent { title } } } }"
EDIT = """mutation ($input: UpdateWikiPageInput!) {
  updateWikiPage(input: $input) { page { version } userErrors { message } }
}"""
RETAIN = """mutation ($input: RetainWikiSourcesInput!) {
  retainWikiSources(input: $input) { compileJobId userErrors { message } }
}"""
REFS = 20
"""The number of refs of evidence in each wiki: evidence with an existing ref becomes its next version."""


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page of a wiki, and the token of the wiki's owner."""

    tenant_id: str
    id: str
    type: str
    slug: str
    token: str


@dataclass(slots=True)
class Load:
    """A load and its results: latencies in milliseconds by kind and minute, and the errors."""

    url: str
    pages: Sequence[KnownPage]
    rate: float
    rng: random.Random
    at_once: int = 0
    began: float = field(default_factory=time.monotonic)
    latencies: dict[str, dict[int, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    async def run(self, seconds: float) -> None:
        """Send requests at random moments, `rate` per second on average, or with `at_once` clients without a pause."""
        kinds: dict[str, tuple[int, Callable[[httpx.AsyncClient], Awaitable[None]]]] = {
            "read": (50, self.read), "search": (22, self.search), "list": (8, self.list), "edit": (18, self.edit),
            "retain": (2, self.retain),
        }  # fmt: skip
        weights = [weight for weight, _ in kinds.values()]
        async with (
            httpx.AsyncClient(base_url=self.url, timeout=30, trust_env=False) as client,
            asyncio.TaskGroup() as at_work,
        ):

            async def send_next() -> None:
                (name,) = self.rng.choices([*kinds], weights)
                await self.timed(name, kinds[name][1], client)

            async def send_on() -> None:
                while time.monotonic() - self.began < seconds:
                    await send_next()

            for _ in range(self.at_once):
                at_work.create_task(send_on())
            while not self.at_once and time.monotonic() - self.began < seconds:
                await asyncio.sleep(self.rng.expovariate(self.rate))
                at_work.create_task(send_next())

    async def timed(
        self, name: str, send: Callable[[httpx.AsyncClient], Awaitable[None]], client: httpx.AsyncClient
    ) -> None:
        began = time.monotonic()
        try:
            await send(client)
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            self.errors[f"{name}: {type(error).__name__} {error}"[:120]] += 1
        else:
            minute = int((began - self.began) / 60)
            self.latencies[name][minute].append((time.monotonic() - began) * 1_000)

    async def send(self, client: httpx.AsyncClient, page: KnownPage, document: str, /, **variables: Any) -> None:
        sent = {"query": document, "variables": variables}
        answer = await client.post("/graphql", json=sent, headers={"authorization": f"Bearer {page.token}"})
        answer_body = answer.json()
        problems = answer_body.get("errors") or [
            problem
            for root in (answer_body["data"] or {}).values()
            if isinstance(root, dict)
            for problem in root.get("userErrors", ())
        ]
        if problems:
            raise ValueError(problems[0]["message"])

    def words(self, count: int) -> str:
        return " ".join(self.rng.choices(VOCABULARY, k=count))

    async def read(self, client: httpx.AsyncClient) -> None:
        page = self.rng.choice(self.pages)
        await self.send(client, page, READ, tenantId=page.tenant_id, type=page.type.upper(), slug=page.slug)

    async def search(self, client: httpx.AsyncClient) -> None:
        page = self.rng.choice(self.pages)
        await self.send(client, page, SEARCH, tenantId=page.tenant_id, query=self.words(3))

    async def list(self, client: httpx.AsyncClient) -> None:
        await self.send(client, self.rng.choice(self.pages), LIST)

    async def edit(self, client: httpx.AsyncClient) -> None:
        page, other = self.rng.choice(self.pages), self.rng.choice(self.pages)
        body = f"## Overview\n\n{self.words(60)}. See [[{other.slug}]].\n\n## Notes\n\n{self.words(40)}."
        await self.send(client, page, EDIT, input={"pageId": page.id, "bodyMd": body})

    async def retain(self, client: httpx.AsyncClient) -> None:
        source = self.source(self.rng.randrange(REFS))
        await self.send(client, self.rng.choice(self.pages), RETAIN, input={"sources": [source]})

    async def retain_many(self, count: int) -> None:
        """Retain `count` pieces of evidence, REFS at a time."""
        async with httpx.AsyncClient(base_url=self.url, timeout=120, trust_env=False) as client:
            for _ in range(0, count, REFS):
                sources = [*map(self.source, range(REFS))]
                await self.send(client, self.rng.choice(self.pages), RETAIN, input={"sources": sources})

    def source(self, number: int) -> dict[str, str]:
        name = f"{VOCABULARY[number]} {VOCABULARY[number + 1]}".title()
        return {
            "kind": "DOCUMENT",
            "ref": f"soak-{number}",
            "title": name,
            "content": f"{name} has {self.rng.randrange(10**6)} parts. {name} is kept in {self.words(2)}.",
        }


async def edit_files(root: Path, rng: random.Random, every: float) -> None:
    """Edit a random note of a synced folder at intervals, as a person does."""
    while True:
        await asyncio.sleep(every)
        if notes := await asyncio.to_thread(notes_in, root):
            text = f"## Overview\n\n{' '.join(rng.choices(VOCABULARY, k=60))}.\n"
            await asyncio.to_thread(rng.choice(notes).write_text, text)


def notes_in(root: Path) -> list[Path]:
    """Return the notes of a folder, in which other processes create and remove folders meanwhile."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".cairn"]
        found += [Path(folder, name) for name in files if name.endswith(".md")]
    return sorted(found)
