"""A GraphQL request as HTTP carries it: read, checked, and refused with the right status."""

import asyncio
import gc
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs

import orjson
from graphql import GraphQLError
from starlette.types import Receive, Scope

from lib.deadlines import Deadlines
from lib.threads import compile_in_thread
from resolvers.errors import BadInput
from selection import Limits
from selection.limits import measure_variables

from ..settings import Settings

SYNTAX = re.compile(r"[A-Za-z0-9._~:-]{1,255}")
SHA256 = "sha256:"
HEX_SHA256 = re.compile(r"[0-9a-f]{64}")


class Name(NamedTuple):
    """An id without its prefix. `automatic` ones are hashes under which a client may register a text."""

    id: str
    automatic: bool


def name_of(given: Mapping[str, Any]) -> Name | None:
    """Return the name that the request gives for its document, or None."""
    if given.get("documentId") is not None:
        return Name(plain_id(given["documentId"]), automatic=False)
    extension = (given.get("extensions") or {}).get("persistedQuery")
    return None if extension is None else Name(registered_hash(extension), automatic=True)


def plain_id(given: Any) -> str:
    if not isinstance(given, str) or not SYNTAX.fullmatch(given):
        raise BadInput("An id is 1 to 255 letters, digits and - . _ ~ : and may begin with sha256:", "documentId")
    return given.removeprefix(SHA256)


def registered_hash(extension: Any) -> str:
    if isinstance(extension, dict) and extension.get("version") == 1:
        digest = extension.get("sha256Hash")
        if isinstance(digest, str) and HEX_SHA256.fullmatch(digest.lower()):
            return digest.lower()
    raise BadInput('This must be {"version": 1, "sha256Hash": "64 hex digits"}.', "extensions.persistedQuery")


GRAPHQL_JSON = "application/graphql-response+json"
JSON = "application/json"
EVENTS = "text/event-stream"
IDEMPOTENCY_KEY_MAX = 255  # characters
LONGEST_QUERY = 50_000  # bytes of a query string
KEYS_MAX = 100  # of a request: more than four are somebody's own
BESIDES = Limits(variable_values=1_000, variable_depth=32)
READ_TIMEOUT = 30  # seconds that a client is given to send its request
PARTS = (("variables", dict, "an object"), ("extensions", dict, "an object"), ("operationName", str, "a string"))
LISTS = (b"accept", b"accept-encoding", b"if-none-match")  # which may come in several headers
WEIGHT = re.compile(r"q=(0(?:\.[0-9]*)?|1(?:\.0*)?)")
ANY = "*/*"
ANSWER_TYPES = (EVENTS, JSON, GRAPHQL_JSON)
NAMED = "cairn.headers"  # where a request keeps its headers by name
WHO_ASKS = {b"authorization": "Authorization", b"x-cairn-owner": "X-Cairn-Owner"}
FAULTY_POSITION = "cairn.faulty_position"  # in a request whose Cairn-Position is none
CONFLICTING = "cairn.conflicting"  # the name of such a header that a request has twice, with different values


class Refused(Exception):
    """A request that is not executed. The message says what to send instead."""

    def __init__(self, status: int, message: str, code: str = "BAD_REQUEST") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


class GraphQLRequest(NamedTuple):
    """An operation to execute. `query` is empty if only the document's name was sent."""

    query: str
    variables: dict[str, Any] | None
    name: str | None
    document: Name | None = None
    position: Any = None
    """The position in the log that the answer must have, as the client was given it."""


def header(scope: Scope, name: bytes) -> str | None:
    """The first such header's text, of a list all of them; bytes that are no text do not raise."""
    value = (scope.get(NAMED) or parse_headers(scope)).get(name)
    return None if value is None else value.decode("latin-1")


def parse_headers(scope: Scope) -> dict[bytes, bytes]:
    """Return the headers by name, and keep them in the scope for the rest of the request."""
    headers = scope["headers"]
    scope[NAMED] = found = dict(headers)
    if len(found) < len(headers):
        found.update(reversed(headers))
        for name in filter(found.__contains__, LISTS):
            found[name] = b",".join(value for given, value in headers if given == name)
        for name, shown in WHO_ASKS.items():
            if any(given == name and value != found[name] for given, value in headers):
                scope[CONFLICTING] = shown
    return found


def credential_of(scope: Scope) -> tuple[str | None, str | None]:
    """The headers Authorization and X-Cairn-Owner. Raises Refused where one of them comes twice and differs."""
    shown = header(scope, b"authorization"), header(scope, b"x-cairn-owner")
    if CONFLICTING in scope:
        name = scope[CONFLICTING]
        message = f"The header {name} came more than once, with different values. Send it once."
        raise Refused(400, message, "CONFLICTING_HEADERS")
    if FAULTY_POSITION in scope:
        raise faulty_position("The header Cairn-Position")
    return shown


def faulty_position(place: str) -> Refused:
    message = f"{place} is not a position such as 0/16B3748: send what the answer of a write said, or leave it out."
    return Refused(400, message, "BAD_USER_INPUT")


def wants_events(scope: Scope) -> bool:
    """Return whether a client accepts events by their name, and prefers them to JSON, or names them first."""
    accepted = header(scope, b"accept")
    return accepted is not None and "event-stream" in accepted.lower() and prefers_events(accepted)


@lru_cache(256)
def prefers_events(accepted: str) -> bool:
    weights = weights_of(accepted)
    events, json = weights.get(EVENTS, 0), max(weight(JSON, weights), weight(GRAPHQL_JSON, weights))
    return events > json or (events == json > 0 and next(kind for kind in weights if kind in ANSWER_TYPES) == EVENTS)


def answer_type(scope: Scope) -> str:
    """Return application/graphql-response+json for those who accept it, and plain JSON for those who do not say."""
    accepted = header(scope, b"accept")
    return JSON if accepted is None else negotiate(accepted)


@lru_cache(256)
def negotiate(accepted: str) -> str:
    weights = weights_of(accepted)
    plain, graphql = weight(JSON, weights), weight(GRAPHQL_JSON, weights)
    if graphql > plain or (graphql and graphql == plain and GRAPHQL_JSON in weights):
        return GRAPHQL_JSON
    if plain:
        return JSON
    raise Refused(406, f"This endpoint answers with {GRAPHQL_JSON} or {JSON}.", "NOT_ACCEPTABLE")


def weights_of(accepted: str) -> dict[str, float]:
    """Return the weight of each media range of an Accept header, in their order (RFC 9110, section 12.5.1)."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        given = next(filter(None, map(WEIGHT.fullmatch, parameters)), None)
        weights[ANY if kind in ("", "*") else kind] = float(given[1]) if given else 1.0
    return weights


def weight(kind: str, weights: Mapping[str, float]) -> float:
    """Return the weight of a media type, which is that of the most specific range that it lies in."""
    ranges = (kind, f"{kind.partition('/')[0]}/*", ANY)
    return next((weights[name] for name in ranges if name in weights), 0.0)


async def read_operation(scope: Scope, receive: Receive, bodies: "Bodies") -> GraphQLRequest:
    match scope["method"]:
        case "POST":
            body = await bodies.read(scope, receive)
            check_kind(header(scope, b"content-type") or "")
            return parse_request(await parse_in_thread(len(body), lambda: narrow(parse_json(body, "The body"))))
        case "GET":
            return from_query(scope["query_string"], bodies.most)
    raise Refused(405, "Send a POST, or a GET for queries.", "METHOD_NOT_ALLOWED")


class Bodies:
    """A reader of bodies of at most `most` bytes each, whatever the client says it sends, in READ_TIMEOUT seconds."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.readers: Deadlines[asyncio.Task[Any]] = Deadlines(self.stop)
        self.stopped: set[asyncio.Task[Any]] = set()

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        check_coding(header(scope, b"content-encoding"))
        declared = header(scope, b"content-length")
        if declared and declared.isdecimal() and int(declared) > self.most:
            raise too_large(self.most)
        reader = asyncio.current_task()
        assert reader is not None
        self.readers.add(reader, READ_TIMEOUT)
        try:
            return await receive_body(receive, self.most)
        except asyncio.CancelledError:
            if reader in self.stopped and not reader.uncancel():
                message = f"The request did not come whole within {READ_TIMEOUT} seconds."
                raise Refused(408, message, "TIMEOUT") from None
            raise
        finally:
            self.readers.remove(reader)
            self.stopped.discard(reader)

    def stop(self, reader: "asyncio.Task[Any]") -> None:
        self.stopped.add(reader)
        reader.cancel()


async def receive_body(receive: Receive, most: int) -> bytes:
    """Return the body, which mostly is there already, in one piece."""
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "The client went away.")
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > most:
            raise too_large(most)
        pieces.append(piece)
        if not message.get("more_body"):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def too_large(most: int) -> Refused:
    return Refused(413, f"The request is larger than {most} bytes.", "LIMIT_EXCEEDED")


@lru_cache(256)
def check_kind(content_type: str) -> None:
    kind, _, options = content_type.partition(";")
    if kind.strip().lower() != JSON:
        raise Refused(415, f"Send the request as {JSON}.", "UNSUPPORTED_MEDIA_TYPE")
    if "charset" in options.lower() and "utf-8" not in options.lower():
        raise Refused(415, "Send the request in UTF-8.", "UNSUPPORTED_MEDIA_TYPE")


def check_coding(coding: str | None) -> None:
    if coding is not None and coding.strip().lower() != "identity":
        raise Refused(415, "Send the request as it is, without a Content-Encoding.", "UNSUPPORTED_MEDIA_TYPE")


def from_query(text: bytes, most: int) -> GraphQLRequest:
    if len(text) > min(most, LONGEST_QUERY):
        raise too_large(min(most, LONGEST_QUERY))
    given = {name: values[-1] for name, values in parse_qs(text.decode("latin-1"), keep_blank_values=True).items()}
    documents = {
        name: parse_json(given.pop(name).encode(), name) for name in ("variables", "extensions") if given.get(name)
    }
    return parse_request(given | documents)


def parse_json(text: bytes, what: str) -> Any:
    try:
        return orjson.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"{what} is not JSON in UTF-8: {error}.") from None


def narrow(given: Any) -> Any:
    """Refuse a request with too many keys or values besides its variables, which have limits of their own."""
    if isinstance(given, dict):
        if len(given) > KEYS_MAX:
            raise Refused(413, f"The request has more than {KEYS_MAX} keys.", "LIMIT_EXCEEDED")
        try:
            measure_variables({name: value for name, value in given.items() if name != "variables"}, BESIDES)
        except GraphQLError:
            message = f"Besides its variables a request holds {BESIDES.variable_values} values at most."
            raise Refused(413, message, "LIMIT_EXCEEDED") from None
    return given


def parse_request(given: Any) -> GraphQLRequest:
    """Return the operation, checking that each part has the right type and that there is a document."""
    if isinstance(given, list):
        raise Refused(400, "Batches are not served; send one operation a request.")
    if not isinstance(given, dict):
        raise Refused(400, "The request must be a JSON object with a query.")
    for name, kind, words in PARTS:
        if (value := given.get(name)) is not None and not isinstance(value, kind):
            raise Refused(400, f"{name} must be {words}.")
    query, document = given.get("query"), name_of(given)
    if document is not None and query is None:
        query = ""
    elif not isinstance(query, str) or not query:
        raise Refused(400, "The request needs a query: the GraphQL document as a string.")
    position = (given.get("extensions") or {}).get("position")
    return GraphQLRequest(query, given.get("variables"), given.get("operationName") or None, document, position)


def idempotency_key(scope: Scope) -> str | None:
    """The key of a request that may change something. The quotes of a structured header are no part of it."""
    key = header(scope, b"idempotency-key")
    if key is None or scope["method"] not in ("PATCH", "POST"):
        return None
    if sum(name == b"idempotency-key" for name, _ in scope["headers"]) > 1:
        raise BadInput("Send only one Idempotency-Key.")
    return checked_key(key.removeprefix('"').removesuffix('"'))


def checked_key(key: str) -> str:
    """Return an idempotency key, or raise BadInput."""
    if not 0 < len(key) <= IDEMPOTENCY_KEY_MAX or not all("!" <= character <= "~" for character in key):
        raise BadInput(f"An Idempotency-Key is 1 to {IDEMPOTENCY_KEY_MAX} visible ASCII characters, such as a UUID.")
    return key


def document_limits(settings: Settings) -> Limits:
    return Limits(
        tokens=settings.max_tokens,
        depth=settings.max_depth,
        fields=settings.max_fields,
        aliases=settings.max_aliases,
        answer_errors=settings.max_errors,
        variable_values=settings.max_variables,
        suggestions=settings.introspection == "everyone",
    )


T = TypeVar("T")
INLINE_MAX = 50_000  # bytes of JSON that are read in a few milliseconds, whatever they say


async def parse_in_thread(size: int, make: Callable[[], T]) -> T:
    """Return what `make` returns; it runs in a thread if its input of `size` bytes is large."""
    return await compile_in_thread(lambda: without_gc(make)) if size > INLINE_MAX else make()


def without_gc(make: Callable[[], T]) -> T:
    """Run `make` without the garbage collector, which looks at all that is being made again and again: 2 MB of lists
    take 20 ms instead of 300, and nobody else computes meanwhile, in whichever thread."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return make()
    finally:
        if was_enabled:
            gc.enable()
