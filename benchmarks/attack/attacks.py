"""Defines the attacks: each is work that clients with one credential, or without any, repeat until the time is over."""

import asyncio
import io
import os
import zipfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson
import uvloop

from .wire import Target, connected, frame, post, read_response, upgraded

FAILURES = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError)
MARKS = "a" + "\u0301\u0316" * 100_000
CREATE = "mutation ($i: CreateWikiPageInput!) { createWikiPage(input: $i) { page { id } } }"
QUERY_BY_TAG = "query ($v: String!) { wikiPages(filter: {tags: [$v]}) { nodes { id } } }"
QUERY_BY_PREFIX = "query ($v: String!) { wikiPages(filter: {titlePrefix: $v}) { nodes { id } } }"
SEARCH = "query ($v: String!) { wikiSearchResults(query: $v) { totalCount edges { snippet { text } } } }"
BODIES = '{ wikiPages(first: 40, filter: {titlePrefix: "Large"}) { nodes { bodyMd } } }'
READ = "{ wikiPages(first: 20) { nodes { title summary tags } } }"
WORDS = ("water", "river", "stone", "light", "north", "bread", "house", "garden")

Work = Callable[[Target, int], Awaitable[object]]
"""The work of one client: it gets the service and a number that no other call has."""


@dataclass(frozen=True)
class Attack:
    """A number of concurrent clients and their work. `prepare` runs once before and is not measured."""

    about: str
    work: Work
    clients: int = 1
    prepare: Work | None = None
    is_slow: bool = False
    """True if each client holds its connection open until the time is over."""


def graphql(query: str, variables: Callable[[int], dict[str, Any]] = lambda n: {}) -> Work:
    async def work(target: Target, n: int) -> object:
        return await post(target, "/graphql", orjson.dumps({"query": query, "variables": variables(n)}))

    return work


def raw(make: Callable[[int], bytes]) -> Work:
    async def work(target: Target, n: int) -> object:
        return await post(target, "/graphql", make(n))

    return work


def page(n: int, title: str, **more: Any) -> dict[str, Any]:
    return {"i": {"type": "TOPIC", "title": f"{title} {n} {os.getpid()} {id(object())}", **more}}


def zipped(notes: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in notes.items():
            archive.writestr(name, text)
    return file.getvalue()


@cache
def marked_zip() -> bytes:
    return zipped({f"{n}.md": f"# Note {n}\n\n[[{MARKS[:400]}]] [a](wiki:{MARKS})" for n in range(5)} | {"m.md": MARKS})


async def upload_marks(target: Target, n: int) -> object:
    return await post(target, "/api/wiki/import", marked_zip(), kind="application/zip")


async def trickle(target: Target, n: int) -> object:
    """Start an upload that never ends."""
    async with connected(target) as (reader, writer):
        head = target.head("/api/wiki/import", 50_000_000, "application/jsonl")
        writer.write(head)
        while not reader.at_eof():
            writer.write(b"{")
            await writer.drain()
            await asyncio.sleep(0.5)
    return None


async def read_slowly(target: Target, n: int) -> object:
    """Request about 40 MB and read 4 kB of it every quarter of a second."""
    async with connected(target) as (reader, writer):
        body = orjson.dumps({"query": BODIES})
        writer.write(target.head("/graphql", len(body)) + body)
        while await reader.read(4096):
            await asyncio.sleep(0.25)
    return None


async def ping_lists(target: Target, n: int) -> object:
    """Send a WebSocket ping with 1.5 MB of empty lists, without a credential."""
    async with upgraded(target) as (reader, writer):
        writer.write(frame(1, b'{"type":"ping","payload":{"a":[' + b"[]," * 500_000 + b"[]]}}"))
        await writer.drain()
        await reader.read(65_536)
    return None


async def ping_often(target: Target, n: int) -> object:
    """Send ten thousand WebSocket pings at once, without a credential."""
    async with upgraded(target) as (reader, writer):
        writer.write(frame(9, b"") * 10_000)
        await writer.drain()
        await reader.read(65_536)
    return None


async def hammer(target: Target, n: int) -> object:
    """Send five requests on one connection, each as soon as the last is answered. One request in twenty creates a
    page."""
    async with connected(target) as (reader, writer):
        for number in range(5):
            request: dict[str, Any] = {"query": READ}
            if (number, n % 4) == (4, 0):  # one request in twenty
                request = {"query": CREATE, "variables": page(n, "H")}
            body = orjson.dumps(request)
            writer.write(target.head("/graphql", len(body)) + body)
            await read_response(reader)
    return None


async def make_large_pages(target: Target, n: int) -> object:
    for number in range(40):
        text = "\n\n".join(f"{word} " * 160 for word in WORDS * 125)
        variables = {"i": {"type": "TOPIC", "title": f"Large {number}", "bodyMd": text}}
        await post(target, "/graphql", orjson.dumps({"query": CREATE, "variables": variables}))
    return None


async def make_pages(target: Target, n: int) -> object:
    """Create pages that all contain the same common words, so that each phrase has to be searched in all of them."""
    for number in range(300):
        text = " ".join(WORDS[(number + k * k) % len(WORDS)] for k in range(600))
        variables = {"i": {"type": "TOPIC", "title": f"Common {number}", "bodyMd": text}}
        await post(target, "/graphql", orjson.dumps({"query": CREATE, "variables": variables}))
    return None


def phrase(n: int) -> dict[str, Any]:
    phrases = " ".join(f'"{WORDS[(n + k) % 8]} {WORDS[(n * 3 + k * 5) % 8]}"' for k in range(700))
    return {"v": f"{n} {phrases}"[:10_000]}


ATTACKS: dict[str, Attack] = {
    "marks-filter": Attack("200,000 combining marks as a tag", graphql(QUERY_BY_TAG, lambda n: {"v": MARKS}), 2),
    "marks-prefix": Attack("200,000 combining marks as a prefix", graphql(QUERY_BY_PREFIX, lambda n: {"v": MARKS}), 2),
    "marks-search": Attack("10,000 combining marks as a query", graphql(SEARCH, lambda n: {"v": MARKS[:9_999]}), 4),
    "marks-body": Attack("a page full of links made of marks", graphql(
        CREATE, lambda n: page(n, "M", bodyMd=f"[[{MARKS[:480]}]] " * 400)), 2),
    "marks-import": Attack("a zip of notes made of marks", upload_marks),
    "ping-lists": Attack("WebSocket pings of 1.5 MB of empty lists, no credential", ping_lists, 5),
    "ping-often": Attack("10,000 WebSocket pings in one go, no credential", ping_often, 5),
    "phrases": Attack("searches for 700 phrases", graphql(SEARCH, phrase), 20, make_pages),
    "code-marks": Attack("pages of 1 MB of lists of code", graphql(
        CREATE, lambda n: page(n, "C", bodyMd="- `a`\n" * 150_000)), 4),
    "nested-quotes": Attack("pages of 1 MB of nested quotes and lists", graphql(
        CREATE, lambda n: page(n, "Q", bodyMd="> - 1. `a`\n" * 80_000)), 4),
    "brackets": Attack("pages of 1 MB of brackets", graphql(
        CREATE, lambda n: page(n, "B", bodyMd="[[" * 200_000 + "](" * 200_000)), 4),
    "keys": Attack("64,000 keys in a request", raw(
        lambda n: orjson.dumps({"query": "{ viewer { role } }", **{f"k{k}": k for k in range(64_000)}})), 4),
    "values": Attack("10,000 variables", raw(lambda n: orjson.dumps(
        {"query": "{ viewer { role } }", "variables": {f"v{k}": [k] for k in range(4_900)}})), 8),
    "declared": Attack("900 declared variables that are not used", graphql(
        "query(" + " ".join(f"$v{n}: String" for n in range(900)) + ") { viewer { role } }",
        lambda n: {f"v{k}": "x" * 20 for k in range(900)}), 8),
    "documents": Attack("documents of 19 root fields, each document different", raw(lambda n: orjson.dumps(
        {"query": "{" + " ".join(f"a{n}_{k}: viewer {{ role }}" for k in range(19)) + "}"})), 8),
    "crowd": Attack("1,000 connections without a pause between requests", hammer, 1000),
    "slow-readers": Attack("answers of 40 MB that are read slowly", read_slowly, 10, make_large_pages, True),
    "slow-uploads": Attack("imports that trickle in", trickle, 8, None, True),
}  # fmt: skip


def run(name: str, target: Target, seconds: float) -> int:
    """Run an attack in its own process."""
    return uvloop.run(attack(name, target, seconds))


async def attack(name: str, target: Target, seconds: float) -> int:
    """Run all clients of one attack until the time is over. Return how many requests ended."""
    chosen = ATTACKS[name]
    counts = [0] * chosen.clients

    async def client(number: int) -> None:
        times = 0
        while True:
            with suppress(*FAILURES):
                await chosen.work(target, times * chosen.clients + number)
                counts[number] += 1
            times += 1
            await asyncio.sleep(0.01)

    clients = [asyncio.create_task(client(number)) for number in range(chosen.clients)]
    await asyncio.wait(clients, timeout=seconds)
    for task in clients:
        task.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    return sum(counts)
