"""The same reads as each of the two servers is asked for them: whole HTTP requests, made beforehand."""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from db.scope import Role
from resolvers.tokens import mint

from .operations import OPERATIONS
from .wikis import Wiki

SECRET = "only for benchmarks on the loopback of one machine"
HOUR = 3600.0


class Asked(NamedTuple):
    """One read as bytes for the wire: what Cairn gets, what the floor gets."""

    cairn: bytes
    floor: bytes


def requests(name: str, wikis: Sequence[Wiki], count: int, seed: int = 1) -> list[Asked]:
    """Reads of one operation, spread over the wikis."""
    rng = random.Random(seed)
    tokens = {wiki: token(wiki) for wiki in wikis}
    return [asked(name, rng, wiki, tokens[wiki]) for wiki in rng.choices(list(wikis), k=count)]


def asked(name: str, rng: random.Random, wiki: Wiki, token: str) -> Asked:
    operation = OPERATIONS[name]
    variables = operation.variables(rng, wiki)
    scope = {"tenant": str(wiki.tenant_id), "owner": str(wiki.owner_id)}
    return Asked(
        post("/graphql", {"query": operation.document, "variables": variables}, f"authorization: Bearer {token}\r\n"),
        post(f"/{name}", scope | by_hand(variables)),
    )


def by_hand(variables: dict[str, Any]) -> dict[str, Any]:
    """As they stand in the tables: small letters, and a word as the query of its beginnings."""
    changed = {"type": str(variables.get("type", "")).lower(), "prefixes": f"{variables.get('query', '')}:*"}
    return variables | changed


def token(wiki: Wiki) -> str:
    return mint(SECRET, tenant_id=wiki.tenant_id, owner_id=wiki.owner_id, role=Role.MEMBER, ttl=HOUR)


def post(path: str, body: dict[str, Any], more: str = "") -> bytes:
    data = orjson.dumps(body)
    about = f"host: b\r\ncontent-type: application/json\r\n{more}content-length: {len(data)}"
    return f"POST {path} HTTP/1.1\r\n{about}\r\n\r\n".encode() + data
