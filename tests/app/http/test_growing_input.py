"""No string argument of any API takes more than linear time.

The APIs are GraphQL with its older contract and subscriptions, REST, the admin API, MCP, and the forms of the reader.
Commands are left out, because a slow one delays only the person who typed it. Arguments are found in the contracts, so
new ones are included. Each gets texts that are hard for naive parsers, short and eight times as long; CPU time of the
process is compared, several times. Here each argument gets a third of the kinds of texts, and all of them in `make
test-nightly`.
"""

import inspect
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any
from zlib import crc32

import httpx
import orjson
import pytest
from graphql import (
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    get_named_type,
    is_composite_type,
    is_enum_type,
    is_required_argument,
    is_required_input_field,
)

from app.mcp.catalogue import TOOLS
from app.rest.admin import application as admin
from app.rest.endpoint import PATH
from app.web.routes import READING, WRITING
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from schema import v0
from schema.root import make_engine
from tests.app.clients.agents import agent
from tests.app.clients.rest_client import contract
from tests.app.clients.web_client import SAME_ORIGIN
from tests.app.rest.test_admin_http import TOKEN as OPERATOR
from tests.app.rest.test_admin_http import contract as operators_contract
from tests.app.service import Service, serving
from tests.examples import is_nightly
from tests.growth import GROWTH_MAX, ROUNDS, STEP
from tests.wiki import Wiki, close_wiki, open_wiki

LARGEST = 64_000  # characters
NEGLIGIBLE = 0.02  # seconds
TEXTS: dict[str, Callable[[int], str]] = {
    "marks": lambda size: "a" + "\u0301\u0316" * (size // 2),
    "brackets": lambda size: "[[" * (size // 4) + "](" * (size // 4),
    "quotes": lambda size: '"a' * (size // 2),
    "digits": lambda size: "9" * size,
    "lines": lambda size: "> - \n" * (size // 5),
    "code": lambda size: "".join("`" * (1 + n % 9) + " " for n in range(size // 6)),
    "nesting": lambda size: "(" * (size // 2) + ")" * (size // 2),
    "spaces": lambda size: " " * (size - 1) + "x",
    "comments": lambda size: "<!--" * (size // 8) + "%%" * (size // 4),
}
SCOPE = ("tenantId", "owner", "ownerId", "userId", "agentId")
"""Arguments that nearly every field has and one function reads: each is tried in one query and in one mutation."""
SHARE = 3  # of all kinds of texts each place gets one in so many; every night it gets all
QUOTED = 7  # characters of a URL, about, for one of a text
UNKNOWN = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    """A wiki with a page, because a search of an empty wiki does not read the query."""
    wiki = await open_wiki(dsn)
    draft = PageDraft("topic", "Austin", body="Hot. a 9 x", tags=["texas"], aliases=["ATX"])
    await create_page(wiki.database, wiki.scope, draft)
    yield wiki
    await close_wiki(wiki)


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path, credential_rate=0, tenant_rate=0, admin_token=OPERATOR) as service:
        yield service


def is_due(place: str, kind: str) -> bool:
    """Return whether this run tries a place with this kind of text: a nightly run tries all, others a share."""
    turn = crc32(place.encode()) + [*TEXTS].index(kind)
    return turn % SHARE == 0 or is_nightly()


def wraps(schema: dict[str, Any]) -> list[Callable[[str], Any]]:
    """Return how a text is passed where JSON of that schema is expected: itself, in a list, or in an object."""
    kinds = {part.get("type") for part in (schema, *schema.get("anyOf", ()))}
    found: dict[str, Callable[[str], Any]] = {"array": lambda text: [text], "object": lambda text: {"a": text}}
    return [found[kind] for kind in sorted(kinds & found.keys())] or [lambda text: text]


async def growth_factor(ask: Callable[[str], Awaitable[object]], make: Callable[[int], str]) -> float:
    """Return how much longer STEP times the text takes, the minimum of several rounds, or 0 for a negligible time."""
    found = []
    for _ in range(ROUNDS):
        if (took := await cpu_time(ask, make(LARGEST))) <= 5 * NEGLIGIBLE:
            return 0.0
        found.append(took / max(await cpu_time(ask, make(LARGEST // STEP)), NEGLIGIBLE))
        if found[-1] < GROWTH_MAX:
            break
    return min(found)


async def cpu_time(ask: Callable[[str], Awaitable[object]], text: str) -> float:
    start = time.process_time()
    await ask(text)
    return time.process_time() - start


# -- GraphQL: arguments and input fields, wherever in an argument they are


def minimal(type_: GraphQLInputType) -> Any:
    """Return a small value of that type."""
    if isinstance(type_, GraphQLNonNull):
        return minimal(type_.of_type)
    if isinstance(type_, GraphQLList):
        return []
    if isinstance(type_, GraphQLInputObjectType):
        return required_of(type_)
    if is_enum_type(type_):
        return next(iter(type_.values))
    return {"Int": 1, "Float": 1.0, "Boolean": True, "DateTime": "2026-01-01T00:00:00Z", "JSON": {}}.get(
        getattr(type_, "name", ""), UNKNOWN
    )


def required_of(type_: GraphQLInputObjectType) -> dict[str, Any]:
    return {name: minimal(field.type) for name, field in type_.fields.items() if is_required_input_field(field)}


def with_text(
    type_: GraphQLInputType, seen: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Callable[[str], Any]]]:
    """Yield each place in a value of that type that takes a text, with a function that makes such a value."""
    if isinstance(type_, GraphQLNonNull):
        yield from with_text(type_.of_type, seen)
    elif isinstance(type_, GraphQLList):
        for path, make in with_text(type_.of_type, seen):
            yield path, lambda text, make=make: [make(text)]
    elif isinstance(type_, GraphQLInputObjectType):
        if type_.name not in seen:
            for name, field in type_.fields.items():
                for path, make in with_text(field.type, seen | {type_.name}):
                    base = required_of(type_)
                    yield f".{name}{path}", lambda text, name=name, make=make, base=base: base | {name: make(text)}
    elif isinstance(type_, GraphQLScalarType) and type_.name not in ("Int", "Float", "Boolean"):
        yield "", {"JSON": lambda text: {"a": text}}.get(type_.name, lambda text: text)


def graphql_places(schema: GraphQLSchema) -> dict[str, tuple[str, Callable[[str], dict[str, Any]]]]:
    """Return for each place, such as `query wikiPages.filter.tags`, its document and a function for its variables."""
    tried = set[tuple[str, str]]()
    found: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {}
    kinds = {"query": schema.query_type, "mutation": schema.mutation_type, "subscription": schema.subscription_type}
    for kind, root in kinds.items():
        for name, field in root.fields.items() if root else ():
            needed = {key: required for key, required in field.args.items() if is_required_argument(required)}
            for key, argument in field.args.items():
                given = needed | {key: argument}
                document = document_of(kind, name, given, get_named_type(field.type))
                others = {key: minimal(required.type) for key, required in needed.items()}
                for path, make in with_text(argument.type):
                    last = f"{key}{path}".rpartition(".")[2]
                    if last in SCOPE and (kind, last) in tried:
                        continue
                    tried.add((kind, last))
                    found[f"{kind} {name}.{key}{path}"] = (
                        document,
                        lambda text, key=key, make=make, others=others: others | {key: make(text)},
                    )
    return found


def document_of(kind: str, name: str, given: dict[str, GraphQLArgument | GraphQLInputField], result: Any) -> str:
    declared = ", ".join(f"${key}: {argument.type}" for key, argument in given.items())
    passed = ", ".join(f"{key}: ${key}" for key in given)
    selection = " { __typename }" if is_composite_type(result) else ""
    return f"{kind} ({declared}) {{ {name}({passed}){selection} }}"


def errors_of(answer: httpx.Response) -> list[Any]:
    """Return the errors of a response, or of all events of a stream."""
    bodies = [answer.content]
    if answer.headers["content-type"].startswith("text/event-stream"):
        bodies = re.findall(rb"^data: (.+)$", answer.content, re.MULTILINE)
    return [error for body in bodies for error in orjson.loads(body).get("errors", ())]


def test_arguments_of_every_operation_type_are_found() -> None:
    found = graphql_places(make_engine().schema)
    wanted = {
        "query wikiPages.filter.tags",
        "mutation createWikiPage.input.title",
        "subscription wikiPageChanged.pageId",
    }
    assert wanted <= found.keys()


CONTRACTS = {"/graphql": lambda: make_engine().schema, "/graphql/v0": lambda: v0.GRAPHQL}


@pytest.mark.parametrize("path", CONTRACTS)
@pytest.mark.parametrize("kind", TEXTS)
async def test_graphql_arguments_take_no_more_than_linear_time(
    service: Service, wiki: Wiki, token: str, kind: str, path: str
) -> None:
    slow, headers = {}, {"authorization": f"Bearer {token}"}
    for place, (document, variables) in graphql_places(CONTRACTS[path]()).items():
        if not is_due(place, kind):
            continue

        async def ask(text: str, document: str = document, variables: Any = variables) -> None:
            body = {"query": document, "variables": variables(text)}
            accept = {"accept": "text/event-stream"} if document.startswith("subscription") else {}
            answer = await service.http.post(path, headers=headers | accept, json=body)
            codes = {error["extensions"]["code"] for error in errors_of(answer)}
            assert not any("INTERNAL" in code for code in codes), (document, answer.text)
            assert codes or not accept, "a subscription to what there is none of ends with an error"

        if (times := await growth_factor(ask, TEXTS[kind])) > GROWTH_MAX:
            slow[place] = times
    assert not slow


# -- REST: parameters and bodies


def rest_places(contract: dict[str, Any]) -> Iterator[tuple[str, Callable[[str], dict[str, Any]]]]:
    schemas = contract["components"]["schemas"]
    for path, operations in contract["paths"].items():
        for method, operation in operations.items():
            filled = path
            for name in ("slug", "type", "section"):
                filled = filled.replace(f"{{{name}}}", "austin")
            filled = "/".join(UNKNOWN if part.startswith("{") else part for part in filled.split("/"))
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "query":
                    name = parameter["name"]
                    yield f"{method} {path} ?{name}", lambda text, m=method, f=filled, name=name: {
                        "method": m, "path": f, "params": {name: text[: len(text) // QUOTED]}
                    }  # fmt: skip
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            shape = schemas.get(body.get("$ref", "").rpartition("/")[2], {})
            for name, property in shape.get("properties", {}).items():
                others = dict.fromkeys(shape.get("required", ()), "a")
                for wrap in wraps(property):
                    yield f"{method} {path} {name}", lambda text, m=method, f=filled, o=others, n=name, w=wrap: {
                        "method": m, "path": f, "json": o | {n: w(text)}
                    }  # fmt: skip


@pytest.mark.parametrize("prefix", [PATH, admin.PATH])
@pytest.mark.parametrize("kind", TEXTS)
async def test_rest_arguments_take_no_more_than_linear_time(
    service: Service, wiki: Wiki, token: str, kind: str, prefix: str
) -> None:
    is_admin = prefix == admin.PATH
    slow, headers = {}, {"authorization": f"Bearer {OPERATOR if is_admin else token}"}
    places = dict(rest_places(operators_contract() if is_admin else contract()))
    assert places
    for place, make in places.items():
        if not is_due(place, kind):
            continue

        async def ask(text: str, make: Any = make) -> None:
            given = make(text)
            path = prefix + given.pop("path")
            answer = await service.http.request(given.pop("method"), path, headers=headers, **given)
            assert answer.status_code != 401, answer.text
            assert answer.status_code != 500, answer.text

        if (times := await growth_factor(ask, TEXTS[kind])) > GROWTH_MAX:
            slow[place] = times
    assert not slow


# -- MCP: arguments of every tool


def tool_places() -> Iterator[tuple[str, str, Callable[[str], dict[str, Any]]]]:
    for tool in TOOLS:
        shape = tool.input_model.model_json_schema()
        others = dict.fromkeys(shape.get("required", ()), "a")
        for name, property in shape.get("properties", {}).items():
            for wrap in wraps(property):
                yield tool.name, name, lambda text, n=name, o=others, w=wrap: o | {n: w(text)}


@pytest.mark.parametrize("kind", TEXTS)
async def test_tool_arguments_take_no_more_than_linear_time(
    service: Service, wiki: Wiki, token: str, kind: str
) -> None:
    slow = {}
    async with agent(service, token) as mcp_agent:
        for tool, name, make in tool_places():
            if not is_due(f"{tool} {name}", kind):
                continue

            async def ask(text: str, tool: str = tool, make: Any = make) -> None:
                with suppress(AssertionError):
                    await mcp_agent.call(tool, **make(text))

            if (times := await growth_factor(ask, TEXTS[kind])) > GROWTH_MAX:
                slow[f"{tool} {name}"] = times
    assert not slow


# -- the reader: what its forms and addresses take


def web_places() -> Iterator[tuple[str, str, str]]:
    """Yield the method and the path of each page, with each field name that the function behind it mentions."""
    templates = (resources.files("app.web") / "templates").iterdir()
    named = set(re.findall(r'name="([a-z_]+)"', "".join(template.read_text("utf-8") for template in templates)))
    for method, pages in (("GET", READING), ("POST", WRITING)):
        for path, page in pages.items():
            for name in sorted(set(re.findall(r'"([a-z_]+)"', inspect.getsource(page))) & named):
                yield method, path, name


def test_fields_of_forms_are_found() -> None:
    found = {(path, name) for _, path, name in web_places()}
    assert {("/new/{owner}", "body"), ("/search/{owner}", "q"), ("/add-source/{owner}", "content")} <= found


@pytest.mark.parametrize("kind", TEXTS)
async def test_form_fields_of_the_reader_take_no_more_than_linear_time(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str, kind: str
) -> None:
    slow = {}
    page = await wiki.row("pages", slug="austin")
    usual = {"type": "topic", "kind": "document", "title": "A title", "id": str(page["id"]), "version": "1"}
    for method, path, name in web_places():
        if not is_due(f"{method} {path} {name}", kind):
            continue
        address = path.format(owner=owner, type="topic", slug="austin", id=page["id"])

        async def ask(text: str, method: str = method, address: str = address, name: str = name) -> None:
            given = {name: text[: len(text) // QUOTED]} if method == "GET" else usual | {name: text}
            where = {"params": given} if method == "GET" else {"data": given}
            answer = await browser.request(method, address, headers=SAME_ORIGIN, **where)  # type: ignore[arg-type]
            assert answer.status_code != 500, answer.text

        if (times := await growth_factor(ask, TEXTS[kind])) > GROWTH_MAX:
            slow[f"{method} {path} {name}"] = times
    assert not slow


# -- bodies of pages, which may be a thousand times as long as any name


@pytest.mark.parametrize("kind", TEXTS)
async def test_imported_fields_take_no_more_than_linear_time(
    service: Service, wiki: Wiki, token: str, kind: str
) -> None:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/jsonl"}

    async def ask(text: str) -> None:
        for field in ("title", "body", "slug", "aliases", "tags", "parent", "links", "summary", "type"):
            note = {"title": "Austin", "body": "Hot."} | {field: text}
            await service.http.post(f"{PATH}/import", content=orjson.dumps(note) + b"\n", headers=headers)

    assert await growth_factor(ask, TEXTS[kind]) < GROWTH_MAX
