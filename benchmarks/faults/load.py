"""Clients that write and read all the time, and the responses that they got."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import NamedTuple

import httpx

MAKE = """mutation ($title: String!) {
  createWikiPage(input: {type: TOPIC, title: $title, bodyMd: "x"}) { page { id version } userErrors { message } }
}"""
READ = "{ wikiPages(first: 20) { nodes { title } } }"
PAUSE = 0.05  # seconds between two requests of a client
LOST = "no answer"
TIMEOUT = 20.0  # seconds that a client waits for a response


class Answered(NamedTuple):
    """One request: its client, when it was sent and answered, and the status of the response."""

    client: int
    began: float
    ended: float
    status: str

    @property
    def is_well(self) -> bool:
        return self.status == "200"


class Load:
    """Clients that create pages and clients that read, each one request after the other.

    `acknowledged` are the titles of the pages that the service said it created, and `versions` their (id, version).
    """

    def __init__(self, url: str, token: str, *, writers: int = 4, readers: int = 4) -> None:
        self.url, self.token, self.writers, self.readers = url, token, writers, readers
        self.acknowledged: list[str] = []
        self.versions: set[tuple[str, int]] = set()
        self.answers: list[Answered] = []
        self.position = ""
        self.tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        clients = [self.write(number) for number in range(self.writers)]
        clients += [self.read(self.writers + number) for number in range(self.readers)]
        self.tasks = [asyncio.create_task(one) for one in clients]

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def ask(self, http: httpx.AsyncClient, client: int, body: object, headers: dict[str, str]) -> httpx.Response:
        began = time.monotonic()
        try:
            answer = await http.post("/graphql", json=body, headers=headers)
        except httpx.HTTPError:
            self.answers.append(Answered(client, began, time.monotonic(), LOST))
            raise
        self.answers.append(Answered(client, began, time.monotonic(), str(answer.status_code)))
        return answer

    def connected(self) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=TIMEOUT, trust_env=False)

    async def write(self, client: int) -> None:
        async with self.connected() as http:
            for number in count():
                title = f"Page {number} of {client}"
                with suppress(httpx.HTTPError, ValueError, TypeError, KeyError):
                    answer = await self.ask(http, client, {"query": MAKE, "variables": {"title": title}}, {})
                    page = answer.json()["data"]["createWikiPage"]["page"]
                    if page:
                        self.acknowledged.append(title)
                        self.versions.add((page["id"], page["version"]))
                        self.position = answer.headers.get("cairn-position", "")
                await asyncio.sleep(PAUSE)

    async def read(self, client: int) -> None:
        async with self.connected() as http:
            while True:
                with suppress(httpx.HTTPError):
                    brought = {"cairn-position": self.position} if self.position else {}
                    await self.ask(http, client, {"query": READ}, brought)
                await asyncio.sleep(PAUSE)

    # -- results

    def since(self, moment: float) -> list[Answered]:
        """Return the requests that were answered after a moment."""
        return [one for one in self.answers if one.ended >= moment]

    def refused(self, moment: float) -> Counter[str]:
        return Counter(one.status for one in self.since(moment) if not one.is_well)

    def waits(self, moment: float) -> list[float]:
        """Return the seconds that successful requests took, the longest last."""
        return sorted(one.ended - one.began for one in self.since(moment) if one.is_well)

    def healed(self, caused: float, ended: float) -> float:
        """Return the seconds from the end of a fault until every client was served again for good: 0 if no request
        failed after it."""
        return max((moment - ended for moment in self.recoveries(caused)), default=0.0)

    def recoveries(self, caused: float) -> Iterator[float]:
        for client in range(self.writers + self.readers):
            own = [one for one in self.since(caused) if one.client == client]
            failures = [number for number, one in enumerate(own) if not one.is_well]
            if failures:
                last = failures[-1]
                yield own[last + 1].ended if last + 1 < len(own) else float("inf")
