"""Draws the requests of four reads and a write, so that no two requests of a round have the same variables."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any
from uuid import UUID

from ..wikis import TYPES, VOCABULARY, Author, Wiki

WORDS = VOCABULARY[20:400]  # words that are on some pages, but not on nearly all
LINK_DISTANCE = 64  # requests between a link and its removal: more than are in flight at once
Variables = dict[str, Any]


@dataclass(frozen=True)
class Drawn:
    """One request: the name of a document, a wiki, and the variables as Cairn takes them."""

    document: str
    wiki: Wiki
    variables: Variables


@dataclass(frozen=True)
class Pair:
    """Two pages of a wiki that are not linked."""

    wiki: Wiki
    start: UUID
    end: UUID


@cache
def author(wiki: Wiki) -> Author:
    return Author(wiki)


def random_active_page(rng: random.Random, wiki: Wiki) -> int:
    """Return the number of a random page that is not archived."""
    while is_archived(number := rng.randrange(wiki.pages)):
        pass
    return number


def is_archived(number: int) -> bool:
    return number % 20 == 19


def page_variables(wiki: Wiki) -> list[Variables]:
    titles, tenant = author(wiki), str(wiki.tenant_id)
    return [
        {"tenant": tenant, "type": TYPES[number % len(TYPES)].upper(), "slug": titles.slug(number)}
        for number in range(wiki.pages)
        if not is_archived(number)
    ]


def search_variables(wiki: Wiki) -> list[Variables]:
    return [{"tenant": str(wiki.tenant_id), "query": word} for word in WORDS]


def list_variables(wiki: Wiki) -> list[Variables]:
    return [{"types": [type_.upper() for type_ in pair]} for pair in permutations(TYPES, 2)]


def graph_variables(wiki: Wiki) -> list[Variables]:
    return [{"page": str(wiki.page(number))} for number in range(wiki.pages) if not is_archived(number)]


READS: dict[str, Callable[[Wiki], list[Variables]]] = {
    "page": page_variables, "search": search_variables, "list": list_variables, "graph": graph_variables,
}  # fmt: skip
"""All variables that each read may have in one wiki: every page, every word, every pair of types."""
MAX_REQUESTS = {"search": 12_000}  # requests: each question is prepared for the peers; other reads have no maximum
WRITE = "link"
PAIRS = 4_096
OPERATIONS = (*READS, WRITE)


def draw_reads(name: str, wikis: Sequence[Wiki], seed: int = 1) -> list[Drawn]:
    """Return different requests of a read in random order, spread over all wikis."""
    found = [Drawn(name, wiki, variables) for wiki in wikis for variables in READS[name](wiki)]
    random.Random(seed).shuffle(found)
    return found[: MAX_REQUESTS.get(name)]


def draw_writes(pairs: Sequence[Pair]) -> list[Drawn]:
    """Return requests that link each pair and unlink it 64 requests later, so that only the activity log grows."""
    return [
        drawn
        for start in range(0, len(pairs), LINK_DISTANCE)
        for drawn in link_then_unlink(pairs[start : start + LINK_DISTANCE])
    ]


def link_then_unlink(pairs: Sequence[Pair]) -> Iterator[Drawn]:
    for document in ("link", "unlink"):
        for pair in pairs:
            ends = {"fromPageId": str(pair.start), "toPageId": str(pair.end)}
            yield Drawn(document, pair.wiki, {"input": ends})


def candidates(wikis: Sequence[Wiki], count: int, seed: int = 2) -> list[Pair]:
    """Return pairs of pages from all wikis in turn, so that concurrent writes are rarely in the same wiki."""
    rng = random.Random(seed)
    found: dict[Pair, None] = {}
    while len(found) < count:
        wiki = wikis[len(found) % len(wikis)]
        start, end = random_active_page(rng, wiki), random_active_page(rng, wiki)
        if start != end:
            found[Pair(wiki, wiki.page(start), wiki.page(end))] = None
    return list(found)
