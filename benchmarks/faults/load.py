"""Clients that write and read all the time, and the responses that they got."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import NamedTuple

import httpx

CREATE = """mutation ($title: String!) {
  createWikiPage(input: {type: TOPIC, title: $title, bodyMd: "x"}) { page { id version } userErrors { message } }
}"""
READ = "{ wikiPages(first: 20) { nodes { title } } }"
PAUSE = 0.05  # seconds between two requests of a client
NO_ANSWER = "no answer"
TIMEOUT = 20.0  # seconds that a client waits for a response


class RequestResult(NamedTuple):
    """One request: its client, when it was sent and answered, and the status of the response."""

    client: int
    began: float
    ended: float
    status: str

    @property
    def is_ok(self) -> bool:
        return self.status == "200"


class Load:
    """Clients that create pages and clients that read, each one request after the other.

    `acknowledged` are the titles of the pages that the service said it created, and `versions` their (id, version).
    """

    def __init__(self, url: str, token: str, *, writers: int = 4, readers: int = 4) -> None:
        self.url, self.token, self.writers, self.readers = url, token, writers, readers
        self.acknowledged: list[str] = []
        self.versions: set[tuple[str, int]] = set()
        self.results: list[RequestResult] = []
        self.position = ""
        self.tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        clients = [self.write(number) for number in range(self.writers)]
        clients += [self.read(self.writers + number) for number in range(self.readers)]
        self.tasks = [asyncio.create_task(result) for result in clients]

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def ask(self, http: httpx.AsyncClient, client: int, body: object, headers: dict[str, str]) -> httpx.Response:
        began = time.monotonic()
        try:
            response = await http.post("/graphql", json=body, headers=headers)
        except httpx.HTTPError:
            self.results.append(RequestResult(client, began, time.monotonic(), NO_ANSWER))
            raise
        self.results.append(RequestResult(client, began, time.monotonic(), str(response.status_code)))
        return response

    def connected(self) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=TIMEOUT, trust_env=False)

    async def write(self, client: int) -> None:
        async with self.connected() as http:
            for number in count():
                title = f"Page {number} of {client}"
                with suppress(httpx.HTTPError, ValueError, TypeError, KeyError):
                    response = await self.ask(http, client, {"query": CREATE, "variables": {"title": title}}, {})
                    page = response.json()["data"]["createWikiPage"]["page"]
                    if page:
                        self.acknowledged.append(title)
                        self.versions.add((page["id"], page["version"]))
                        self.position = response.headers.get("cairn-position", "")
                await asyncio.sleep(PAUSE)

    async def read(self, client: int) -> None:
        async with self.connected() as http:
            while True:
                with suppress(httpx.HTTPError):
                    headers = {"cairn-position": self.position} if self.position else {}
                    await self.ask(http, client, {"query": READ}, headers)
                await asyncio.sleep(PAUSE)

    # -- results

    def since(self, moment: float) -> list[RequestResult]:
        """Return the requests that were answered after a moment."""
        return [result for result in self.results if result.ended >= moment]

    def failed(self, moment: float) -> Counter[str]:
        return Counter(result.status for result in self.since(moment) if not result.is_ok)

    def waits(self, moment: float) -> list[float]:
        """Return the seconds that successful requests took, the longest last."""
        return sorted(result.ended - result.began for result in self.since(moment) if result.is_ok)

    def recovered(self, caused: float, ended: float) -> float:
        """Return the seconds from the end of a fault until every client was served again for good: 0 if no request
        failed after it."""
        return max((moment - ended for moment in self.recovery_moments(caused)), default=0.0)

    def recovery_moments(self, caused: float) -> Iterator[float]:
        for client in range(self.writers + self.readers):
            results = [result for result in self.since(caused) if result.client == client]
            failures = [number for number, result in enumerate(results) if not result.is_ok]
            if failures:
                last = failures[-1]
                yield results[last + 1].ended if last + 1 < len(results) else float("inf")
