"""Servers on this machine that speak the protocols of model providers, so that the providers' own libraries are tested.

Each request is answered with the next of the provider's behaviours: `well`, or one of its ways to fail. The last one is
repeated.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

KEY = "key-of-mara"
SECRET = "told-by-the-provider"
ANSWERS: dict[bool, dict[str, Any]] = {
    False: {"pages": [{"type": "entity", "title": "Momofuku", "sections": [{"slug": "overview", "sources": ["s1"]}]}]},
    True: {"statements": [{"text": "It is a restaurant.", "sources": ["s1"]}]},
}
INVENTED = {"pages": [{"type": "entity", "title": "Nowhere", "sections": [{"slug": "overview", "sources": ["s9"]}]}]}
Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Provider:
    """A provider: the behaviours of its next answers, and the headers and body of each request that it got."""

    name: str
    behaviours: list[str] = field(default_factory=lambda: ["well"])
    requests: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def reply(self, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        behaviour = self.behaviours[min(len(self.requests), len(self.behaviours) - 1)]
        self.requests.append((headers, body))
        return BEHAVIOURS[behaviour](self, body)

    def message(self, body: dict[str, Any], *, ending: str = "well", arguments: str | None = None) -> dict[str, Any]:
        """Return a message in the provider's format, with a call of the offered tool."""
        speaks = {"openai": as_openai, "anthropic": as_anthropic}[self.name]
        return speaks(body, ending, arguments)


def as_openai(body: dict[str, Any], ending: str, arguments: str | None) -> dict[str, Any]:
    tool = body["tools"][0]["function"]
    arguments_json = arguments or json.dumps(ANSWERS["statements" in tool["parameters"]["properties"]])
    call = {"id": "1", "type": "function", "function": {"name": tool["name"], "arguments": arguments_json}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    reason = {"well": "tool_calls", "cut": "length", "refused": "content_filter"}[ending]
    if ending == "refused":
        message = {"role": "assistant", "content": None}
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": "x",
        "choices": [{"index": 0, "finish_reason": reason, "message": message}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100},
    }  # fmt: skip


def as_anthropic(body: dict[str, Any], ending: str, arguments: str | None) -> dict[str, Any]:
    tool = body["tools"][0]
    given = ANSWERS["statements" in tool["input_schema"]["properties"]] if arguments is None else {"pages": "none"}
    content = [{"type": "tool_use", "id": "1", "name": tool["name"], "input": given}]
    reason = {"well": "tool_use", "cut": "max_tokens", "refused": "refusal"}[ending]
    return {
        "id": "1", "type": "message", "role": "assistant", "model": "x", "stop_sequence": None, "stop_reason": reason,
        "content": content if ending == "well" else [],
        "usage": {"input_tokens": 1_000, "output_tokens": 100},
    }  # fmt: skip


def reply_normally(provider: Provider, body: dict[str, Any]) -> Reply:
    return json_reply(200, provider.message(body))


def reply_slowly(provider: Provider, body: dict[str, Any]) -> Reply:
    time.sleep(0.6)
    return reply_normally(provider, body)


def break_off_reply(provider: Provider, body: dict[str, Any]) -> Reply:
    """The connection breaks in the middle of the response."""
    status, headers, data = reply_normally(provider, body)
    return status, headers | {"content-length": str(len(data))}, data[: len(data) // 2]


def error_reply(status: int, kind: str, **headers: str) -> Any:
    error = {"error": {"message": f"No: {SECRET}, {KEY}", "type": kind, "code": kind}, "type": "error"}
    return lambda provider, body: json_reply(status, error, headers)


BEHAVIOURS: dict[str, Any] = {
    "well": reply_normally,
    "slow": reply_slowly,
    "broken": break_off_reply,
    "cut": lambda provider, body: json_reply(200, provider.message(body, ending="cut", arguments='{"pages": [{"ty')),
    "refused": lambda provider, body: json_reply(200, provider.message(body, ending="refused")),
    "malformed": lambda provider, body: json_reply(200, provider.message(body, arguments='{"pages": "none"}')),
    "invented": lambda provider, body: json_reply(200, provider.message(body, arguments=json.dumps(INVENTED))),
    "noise": lambda provider, body: (200, {"content-type": "application/json"}, b"<html>Gateway</html>"),
    "busy": error_reply(429, "rate_limit_error", **{"retry-after": "0", "retry-after-ms": "5"}),
    "down": error_reply(500, "api_error", **{"retry-after-ms": "5"}),
    "overloaded": error_reply(529, "overloaded_error", **{"retry-after-ms": "5"}),
    "too long": error_reply(400, "context_length_exceeded"),
    "unknown": error_reply(404, "not_found_error"),
}


def json_reply(status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> Reply:
    return status, {"content-type": "application/json", **(headers or {})}, json.dumps(body).encode()


@contextmanager
def serve_provider(provider: Provider) -> Iterator[str]:
    """Serve the provider, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, headers, data = provider.reply({name.lower(): text for name, text in self.headers.items()}, body)
            self.send_response(status)
            for name, text in ({"content-length": str(len(data))} | headers).items():
                self.send_header(name, text)
            with suppress(OSError):  # the client did not wait
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *values: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
