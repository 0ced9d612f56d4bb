"""Reads and validates GraphQL requests over HTTP, and refuses invalid requests with the right status."""

import asyncio
import gc
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs

import orjson
from graphql import GraphQLError
from starlette.types import Message, Receive, Scope

from lib.deadlines import Deadlines
from lib.threads import compile_in_thread
from resolvers.errors import BadInput
from selection import Limits
from selection.limits import measure_variables

from ..settings import Settings

ID_PATTERN = re.compile(r"[A-Za-z0-9._~:-]{1,255}")
SHA256 = "sha256:"
HEX_SHA256 = re.compile(r"[0-9a-f]{64}")


class DocumentId(NamedTuple):
    """The id of a stored document, without the prefix `sha256:`."""

    id: str
    automatic: bool
    """Whether it is the hash of an automatic persisted query, under which a client may register a text."""


def document_id_of(body: Mapping[str, Any]) -> DocumentId | None:
    """Return the id of the document that the request names, or None."""
    if body.get("documentId") is not None:
        return DocumentId(checked_id(body["documentId"]), automatic=False)
    extension = (body.get("extensions") or {}).get("persistedQuery")
    return None if extension is None else DocumentId(registration_hash(extension), automatic=True)


def checked_id(value: Any) -> str:
    """Return the id of a trusted document without its prefix. Raises BadInput if it is invalid."""
    if not isinstance(value, str) or not ID_PATTERN.fullmatch(value):
        raise BadInput("An id is 1 to 255 letters, digits and - . _ ~ : and may begin with sha256:", "documentId")
    return value.removeprefix(SHA256)


def registration_hash(extension: Any) -> str:
    """Return the hash of an automatic persisted query. Raises BadInput if the extension is invalid."""
    if isinstance(extension, dict) and extension.get("version") == 1:
        digest = extension.get("sha256Hash")
        if isinstance(digest, str) and HEX_SHA256.fullmatch(digest.lower()):
            return digest.lower()
    raise BadInput('This must be {"version": 1, "sha256Hash": "64 hex digits"}.', "extensions.persistedQuery")


GRAPHQL_JSON = "application/graphql-response+json"
JSON = "application/json"
EVENTS = "text/event-stream"
IDEMPOTENCY_KEY_MAX = 255  # characters
QUERY_STRING_MAX = 50_000  # bytes of a query string
KEYS_MAX = 100  # of a request body; GraphQL defines four
ENVELOPE_LIMITS = Limits(variable_values=1_000, variable_depth=32)
"""The limits of a request body apart from its variables."""
READ_TIMEOUT = 30  # seconds that a client is given to send its request
PART_TYPES = (
    ("variables", dict, "an object"),
    ("extensions", dict, "an object"),
    ("operationName", str, "a string"),
)
LIST_HEADERS = (b"accept", b"accept-encoding", b"if-none-match")  # may be split over several headers
WEIGHT = re.compile(r"q=(0(?:\.[0-9]*)?|1(?:\.0*)?)")
ANY = "*/*"
ANSWER_TYPES = (EVENTS, JSON, GRAPHQL_JSON)
CREDENTIAL_HEADERS = {b"authorization": "Authorization", b"x-cairn-owner": "X-Cairn-Owner"}
# Keys of the ASGI scope.
HEADERS_KEY = "cairn.headers"  # the headers by name
FAULTY_POSITION = "cairn.faulty_position"  # set if the request's Cairn-Position is invalid
CONFLICTING_HEADER = "cairn.conflicting"  # the name of a credential header that occurs twice with different values


class Refused(Exception):
    """The request is not executed. The message tells the client what to send instead."""

    def __init__(self, status: int, message: str, code: str = "BAD_REQUEST") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


class GraphQLRequest(NamedTuple):
    """An operation to execute. `query` is empty if the client sent only the id of a document."""

    query: str
    variables: dict[str, Any] | None
    name: str | None
    document: DocumentId | None = None
    position: Any = None
    """The position in the log that the reads must have reached, as an earlier response gave it."""


def header(scope: Scope, name: bytes) -> str | None:
    """Return the value of a header, or None. If it occurs several times, the first one, or all joined for a list.

    The value is decoded as Latin-1, so that no bytes raise an error.
    """
    value = (scope.get(HEADERS_KEY) or parse_headers(scope)).get(name)
    return None if value is None else value.decode("latin-1")


def parse_headers(scope: Scope) -> dict[bytes, bytes]:
    """Return the headers by name, and cache them in the scope for the rest of the request."""
    headers = scope["headers"]
    scope[HEADERS_KEY] = by_name = dict(headers)
    if len(by_name) < len(headers):
        by_name.update(reversed(headers))
        for name in filter(by_name.__contains__, LIST_HEADERS):
            by_name[name] = b",".join(value for key, value in headers if key == name)
        for name, display_name in CREDENTIAL_HEADERS.items():
            if any(key == name and value != by_name[name] for key, value in headers):
                scope[CONFLICTING_HEADER] = display_name
    return by_name


def credential_of(scope: Scope) -> tuple[str | None, str | None]:
    """Return the headers Authorization and X-Cairn-Owner.

    Raises Refused if one of them occurs twice with different values, or if Cairn-Position is invalid.
    """
    credential = header(scope, b"authorization"), header(scope, b"x-cairn-owner")
    if CONFLICTING_HEADER in scope:
        name = scope[CONFLICTING_HEADER]
        message = f"The header {name} came more than once, with different values. Send it once."
        raise Refused(400, message, "CONFLICTING_HEADERS")
    if FAULTY_POSITION in scope:
        raise faulty_position("The header Cairn-Position")
    return credential


def faulty_position(place: str) -> Refused:
    """Return the error about an invalid position. `place` names the header or the field."""
    message = f"{place} is not a position such as 0/16B3748: send what the answer of a write said, or leave it out."
    return Refused(400, message, "BAD_USER_INPUT")


def wants_events(scope: Scope) -> bool:
    """Return whether the client names text/event-stream in Accept, and prefers it to JSON or names it first."""
    accepted = header(scope, b"accept")
    return accepted is not None and "event-stream" in accepted.lower() and prefers_events(accepted)


@lru_cache(256)
def prefers_events(accepted: str) -> bool:
    weights = parse_accept(accepted)
    events, json = weights.get(EVENTS, 0), max(weight_of(JSON, weights), weight_of(GRAPHQL_JSON, weights))
    return events > json or (events == json > 0 and next(kind for kind in weights if kind in ANSWER_TYPES) == EVENTS)


def answer_type(scope: Scope) -> str:
    """Return the content type of the response: application/graphql-response+json if the client prefers it, else JSON.

    With equal weights it is the former if the client names it. Raises Refused with 406 if it accepts neither.
    """
    accepted = header(scope, b"accept")
    return JSON if accepted is None else negotiate(accepted)


@lru_cache(256)
def negotiate(accepted: str) -> str:
    weights = parse_accept(accepted)
    plain, graphql = weight_of(JSON, weights), weight_of(GRAPHQL_JSON, weights)
    if graphql > plain or (graphql and graphql == plain and GRAPHQL_JSON in weights):
        return GRAPHQL_JSON
    if plain:
        return JSON
    raise Refused(406, f"This endpoint answers with {GRAPHQL_JSON} or {JSON}.", "NOT_ACCEPTABLE")


def parse_accept(accepted: str) -> dict[str, float]:
    """Return the weights of the media ranges of an Accept header, in their order (RFC 9110, section 12.5.1)."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        match = next(filter(None, map(WEIGHT.fullmatch, parameters)), None)
        weights[ANY if kind in ("", "*") else kind] = float(match[1]) if match else 1.0
    return weights


def weight_of(kind: str, weights: Mapping[str, float]) -> float:
    """Return the weight of a media type: the weight of the most specific range that includes it, else 0."""
    ranges = (kind, f"{kind.partition('/')[0]}/*", ANY)
    return next((weights[name] for name in ranges if name in weights), 0.0)


async def read_operation(scope: Scope, receive: Receive, bodies: "Bodies") -> GraphQLRequest:
    """Return the operation of a POST or a GET. Raises Refused if the request is invalid."""
    match scope["method"]:
        case "POST":
            body = await bodies.read(scope, receive)
            check_content_type(header(scope, b"content-type") or "")
            return parse_request(await parse_in_thread(len(body), lambda: check_size(parse_json(body, "The body"))))
        case "GET":
            return parse_query_string(scope["query_string"], bodies.max_size)
    raise Refused(405, "Send a POST, or a GET for queries.", "METHOD_NOT_ALLOWED")


class Bodies:
    """Reads request bodies of at most `max_size` bytes, whatever their Content-Length, within READ_TIMEOUT seconds."""

    def __init__(self, max_size: int) -> None:
        self.max_size = max_size
        self.readers: Deadlines[asyncio.Task[Any]] = Deadlines(self.stop)
        self.stopped: set[asyncio.Task[Any]] = set()

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        """Return the body. Raises Refused if it is too large, encoded, or not received in time."""
        check_content_encoding(header(scope, b"content-encoding"))
        declared = header(scope, b"content-length")
        if declared and declared.isdecimal() and int(declared) > self.max_size:
            raise too_large(self.max_size)
        reader = asyncio.current_task()
        assert reader is not None
        self.readers.add(reader, READ_TIMEOUT)
        try:
            return await receive_body(receive, self.max_size)
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


async def receive_body(receive: Receive, max_size: int) -> bytes:
    """Return the body, which has usually arrived already, in one piece. Raises Refused if it is too large."""
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "The client went away.")
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > max_size:
            raise too_large(max_size)
        pieces.append(piece)
        if not message.get("more_body"):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that returns the body as a single message, and after that the client's next messages."""
    message: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def replayed() -> Message:
        nonlocal message
        if message is None:
            return await receive()
        first, message = message, None
        return first

    return replayed


def too_large(max_size: int) -> Refused:
    return Refused(413, f"The request is larger than {max_size} bytes.", "LIMIT_EXCEEDED")


@lru_cache(256)
def check_content_type(content_type: str) -> None:
    kind, _, options = content_type.partition(";")
    if kind.strip().lower() != JSON:
        raise Refused(415, f"Send the request as {JSON}.", "UNSUPPORTED_MEDIA_TYPE")
    if "charset" in options.lower() and "utf-8" not in options.lower():
        raise Refused(415, "Send the request in UTF-8.", "UNSUPPORTED_MEDIA_TYPE")


def check_content_encoding(coding: str | None) -> None:
    if coding is not None and coding.strip().lower() != "identity":
        raise Refused(415, "Send the request as it is, without a Content-Encoding.", "UNSUPPORTED_MEDIA_TYPE")


def parse_query_string(text: bytes, max_size: int) -> GraphQLRequest:
    if len(text) > min(max_size, QUERY_STRING_MAX):
        raise too_large(min(max_size, QUERY_STRING_MAX))
    strings = {name: values[-1] for name, values in parse_qs(text.decode("latin-1"), keep_blank_values=True).items()}
    objects = {
        name: parse_json(strings.pop(name).encode(), name) for name in ("variables", "extensions") if strings.get(name)
    }
    return parse_request(strings | objects)


def parse_json(text: bytes, name: str) -> Any:
    """Return the value of a JSON text. Raises Refused, with a message that begins with `name`."""
    try:
        return orjson.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"{name} is not JSON in UTF-8: {error}.") from None


def check_size(body: Any) -> Any:
    """Return the body of a request. Raises Refused if it has too many keys or values apart from its variables.

    The variables have limits of their own.
    """
    if isinstance(body, dict):
        if len(body) > KEYS_MAX:
            raise Refused(413, f"The request has more than {KEYS_MAX} keys.", "LIMIT_EXCEEDED")
        try:
            measure_variables({name: value for name, value in body.items() if name != "variables"}, ENVELOPE_LIMITS)
        except GraphQLError:
            message = f"Besides its variables a request holds {ENVELOPE_LIMITS.variable_values} values at most."
            raise Refused(413, message, "LIMIT_EXCEEDED") from None
    return body


def parse_request(body: Any) -> GraphQLRequest:
    """Return the operation of a request body. Raises Refused if a part has a wrong type or there is no document."""
    if isinstance(body, list):
        raise Refused(400, "Batches are not served; send one operation a request.")
    if not isinstance(body, dict):
        raise Refused(400, "The request must be a JSON object with a query.")
    for name, kind, words in PART_TYPES:
        if (value := body.get(name)) is not None and not isinstance(value, kind):
            raise Refused(400, f"{name} must be {words}.")
    query, document = body.get("query"), document_id_of(body)
    if document is not None and query is None:
        query = ""
    elif not isinstance(query, str) or not query:
        raise Refused(400, "The request needs a query: the GraphQL document as a string.")
    position = (body.get("extensions") or {}).get("position")
    return GraphQLRequest(query, body.get("variables"), body.get("operationName") or None, document, position)


def idempotency_key(scope: Scope) -> str | None:
    """Return the Idempotency-Key of a PATCH or POST, without the quotes of a structured header. Raises BadInput."""
    key = header(scope, b"idempotency-key")
    if key is None or scope["method"] not in ("PATCH", "POST"):
        return None
    if sum(name == b"idempotency-key" for name, _ in scope["headers"]) > 1:
        raise BadInput("Send only one Idempotency-Key.")
    return check_idempotency_key(key.removeprefix('"').removesuffix('"'))


def check_idempotency_key(key: str) -> str:
    """Return the idempotency key. Raises BadInput if it is invalid."""
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
INLINE_MAX = 50_000  # bytes of JSON, of any content, that are parsed within a few milliseconds


async def parse_in_thread(size: int, parse: Callable[[], T]) -> T:
    """Call `parse` and return its value; if its input of `size` bytes is large, call it in a thread."""
    return await compile_in_thread(lambda: without_gc(parse)) if size > INLINE_MAX else parse()


def without_gc(parse: Callable[[], T]) -> T:
    """Call `parse` without the garbage collector, which would examine all new objects again and again.

    2 MB of lists take 20 ms instead of 300 ms. A run of the collector blocks all threads, also the event loop's.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return parse()
    finally:
        if was_enabled:
            gc.enable()
