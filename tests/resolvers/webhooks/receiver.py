"""A webhook receiver on this machine, which verifies deliveries as the specification of Standard Webhooks says."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

TOLERANCE = 300


@dataclass
class Receiver:
    """A receiver and what it received. It responds with the next of `statuses`, or with `default_status`."""

    secret: str = ""
    statuses: list[int] = field(default_factory=list)
    default_status: int = 204
    delay: float = 0.0
    received: list[dict[str, Any]] = field(default_factory=list)
    """The deliveries to which the receiver responded with success."""
    attempts: list[tuple[str, bool]] = field(default_factory=list)
    """The id of each request, and whether its signature was valid."""
    paths: list[str] = field(default_factory=list)
    port: int = 0
    lock: Lock = field(default_factory=Lock)
    in_progress: dict[str, int] = field(default_factory=dict)
    """The number of requests that are answered at the moment, by owner."""
    max_concurrent: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"

    def bodies(self) -> list[dict[str, Any]]:
        return [delivery["body"] for delivery in self.received]

    def events(self) -> list[tuple[str, str | None, int | None]]:
        """Return (type, slug, version) of each received event."""
        return [(body["type"], body["data"]["slug"], body["data"]["version"]) for body in self.bodies()]


def is_signed(secret: str, headers: Any, body: bytes) -> bool:
    """Verify a request by https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md"""
    if abs(time.time() - int(headers["webhook-timestamp"])) > TOLERANCE:
        return False
    content = b".".join((headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body))
    key = base64.b64decode(secret.split("_", 1)[1])
    wanted = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    given = [signature.partition(",") for signature in headers["webhook-signature"].split(" ")]
    return any(version == "v1" and hmac.compare_digest(value, wanted) for version, _, value in given)


@contextmanager
def run_webhook_receiver(port: int = 0, **given: Any) -> Iterator[Receiver]:
    receiver = Receiver(**given)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            message = json.loads(body)
            owner = message["data"].get("owner", "")
            with receiver.lock:
                receiver.in_progress[owner] = receiver.in_progress.get(owner, 0) + 1
                receiver.max_concurrent = max(receiver.max_concurrent, receiver.in_progress[owner])
                status = receiver.statuses.pop(0) if receiver.statuses else receiver.default_status
                is_right = not receiver.secret or is_signed(receiver.secret, self.headers, body)
                receiver.attempts.append((self.headers["webhook-id"], is_right))
                receiver.paths.append(self.path)
            time.sleep(receiver.delay)
            with receiver.lock:
                receiver.in_progress[owner] -= 1
                if 200 <= status < 300:
                    receiver.received.append({"id": self.headers["webhook-id"], "body": message, "is_signed": is_right})
            self.send_response(status)
            if status // 100 == 3:
                self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
