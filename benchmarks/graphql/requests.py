"""Builds the same requests for each server: complete HTTP requests, built before the load begins."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from db.scope import Role
from resolvers.auth.credentials import mint

from ..wikis import Wiki
from .operations import Drawn
from .recording import ACTOR
from .servers import SECRET

HERE = Path(__file__).parent
HOUR = 3600.0
REPLAYED = ("search", "link")
"""Operations for which the baseline replays the statements that Cairn sent."""


class HttpRequest(NamedTuple):
    """One HTTP request to one server."""

    path: str
    headers: dict[str, str]
    body: bytes

    def wire(self) -> bytes:
        headers = {"host": "b", "content-type": "application/json", **self.headers, "content-length": len(self.body)}
        head = "\r\n".join([f"POST {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())])
        return f"{head}\r\n\r\n".encode() + self.body


def documents(folder: Path) -> dict[str, str]:
    return {file.stem: file.read_text() for file in folder.glob("*.graphql")}


OURS, THEIRS = documents(HERE / "documents"), documents(HERE / "postgraphile" / "documents")


def to_cairn(operation: str, number: int, drawn: Drawn) -> HttpRequest:
    return graphql_request(OURS[drawn.document], drawn.variables, {"authorization": f"Bearer {token(drawn.wiki)}"})


def to_strawberry(operation: str, number: int, drawn: Drawn) -> HttpRequest:
    scope = {"x-tenant": str(drawn.wiki.tenant_id), "x-owner": str(drawn.wiki.owner_id)}
    return graphql_request(OURS[drawn.document], drawn.variables, scope)


def to_postgraphile(operation: str, number: int, drawn: Drawn) -> HttpRequest:
    return graphql_request(THEIRS[drawn.document], flat_variables(drawn), {})


def to_baseline(operation: str, number: int, drawn: Drawn) -> HttpRequest:
    if operation in REPLAYED:
        return HttpRequest(f"/replay/{operation}/{number}", {}, b"")
    return HttpRequest(f"/read/{operation}", {}, orjson.dumps(flat_variables(drawn)))


BUILDERS: Mapping[str, Callable[[str, int, Drawn], HttpRequest]] = {
    "baseline": to_baseline, "cairn": to_cairn, "strawberry": to_strawberry, "postgraphile": to_postgraphile,
}  # fmt: skip


def build_requests(server: str, operation: str, drawn: Iterable[Drawn]) -> list[HttpRequest]:
    """Return all requests of an operation in the form that the server takes."""
    return [BUILDERS[server](operation, number, request) for number, request in enumerate(drawn)]


def graphql_request(document: str, variables: Mapping[str, Any], headers: dict[str, str]) -> HttpRequest:
    return HttpRequest("/graphql", headers, orjson.dumps({"query": document, "variables": variables}))


def flat_variables(drawn: Drawn) -> dict[str, Any]:
    """Return the variables as stored values together with the scope: no enums, no nesting."""
    variables = dict(drawn.variables)
    pair = variables.pop("input", {})
    found = {**variables, "tenant": str(drawn.wiki.tenant_id), "owner": str(drawn.wiki.owner_id)}
    if pair:
        found |= {"from": pair["fromPageId"], "to": pair["toPageId"]}
    if "type" in found:
        found["type"] = found["type"].lower()
    if "types" in found:
        found["types"] = [type_.lower() for type_ in found["types"]]
    return found


@cache
def token(wiki: Wiki) -> str:
    """Return the token of a member of the wiki."""
    return mint(SECRET, tenant_id=wiki.tenant_id, owner_id=wiki.owner_id, role=Role.MEMBER, ttl=HOUR, actor=ACTOR)
