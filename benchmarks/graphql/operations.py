"""What is asked: four reads and a write, each with the variables of as many requests as one likes."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any
from uuid import UUID

from ..wikis import TYPES, VOCABULARY, Author, Wiki

WORDS = VOCABULARY[20:400]  # neither on every page nor on hardly any
APART = 64  # requests between a link and its end: more than are under way at once
Variables = dict[str, Any]


@dataclass(frozen=True)
class Drawn:
    """One request: a document by its name, in one wiki. The variables are Cairn's but for the scope."""

    document: str
    wiki: Wiki
    variables: Variables


@dataclass(frozen=True)
class Pair:
    """Two pages of a wiki, neither of which refers to the other."""

    wiki: Wiki
    start: UUID
    end: UUID


@cache
def author(wiki: Wiki) -> Author:
    return Author(wiki)


def active(rng: random.Random, wiki: Wiki) -> int:
    """The number of a page that is not archived."""
    while (number := rng.randrange(wiki.pages)) % 20 == 19:
        pass
    return number


def of_page(rng: random.Random, wiki: Wiki) -> Variables:
    number = active(rng, wiki)
    type_ = TYPES[number % len(TYPES)].upper()
    return {"tenant": str(wiki.tenant_id), "type": type_, "slug": author(wiki).slug(number)}


def of_search(rng: random.Random, wiki: Wiki) -> Variables:
    return {"tenant": str(wiki.tenant_id), "query": rng.choice(WORDS)}


def of_list(rng: random.Random, wiki: Wiki) -> Variables:
    return {"types": [type_.upper() for type_ in rng.choice([*combinations(TYPES, 2)])]}


def of_graph(rng: random.Random, wiki: Wiki) -> Variables:
    return {"page": str(wiki.page(active(rng, wiki)))}


READS: dict[str, tuple[int, Callable[[random.Random, Wiki], Variables]]] = {
    "page": (4_000, of_page),
    "search": (2_000, of_search),
    "list": (2_000, of_list),
    "graph": (4_000, of_graph),
}
"""How many different requests, and what those of one are drawn from."""
WRITE = "link"
PAIRS = 1_024
OPERATIONS = (*READS, WRITE)


def reads(name: str, wikis: Sequence[Wiki], seed: int = 1) -> list[Drawn]:
    """The requests of a read, spread over the wikis."""
    rng, (count, variables) = random.Random(seed), READS[name]
    return [Drawn(name, wiki, variables(rng, wiki)) for wiki in rng.choices(wikis, k=count)]


def writes(pairs: Sequence[Pair]) -> list[Drawn]:
    """Each pair is linked, and a while later no longer: afterwards the wikis are as they were."""
    return [drawn for start in range(0, len(pairs), APART) for drawn in there_and_back(pairs[start : start + APART])]


def there_and_back(pairs: Sequence[Pair]) -> Iterator[Drawn]:
    for document in ("link", "unlink"):
        for pair in pairs:
            ends = {"fromPageId": str(pair.start), "toPageId": str(pair.end)}
            yield Drawn(document, pair.wiki, {"input": ends})


def candidates(wikis: Sequence[Wiki], count: int, seed: int = 2) -> list[Pair]:
    """Pages that may be linked; wiki after wiki, so that writers seldom meet in one."""
    rng = random.Random(seed)
    found: dict[Pair, None] = {}
    while len(found) < count:
        wiki = wikis[len(found) % len(wikis)]
        one, other = active(rng, wiki), active(rng, wiki)
        if one != other:
            found[Pair(wiki, wiki.page(one), wiki.page(other))] = None
    return list(found)
