"""A webhook receiver that may be killed: it writes each delivery to disk before it responds.

`python -m benchmarks.webhooks.receiver PORT FILE SECRET` adds a line of JSON to the file for each delivery.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def signature(secret: str, id: str, timestamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return base64.b64encode(hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()).decode()


def read_deliveries(file_path: Path) -> list[dict[str, Any]]:
    """Return the received deliveries. A line that a kill has cut short was not acknowledged, and is left out."""
    found = []
    for line in file_path.read_text(errors="replace").splitlines():
        with suppress(json.JSONDecodeError):
            found.append(json.loads(line))
    return found


def serve(port: int, file_path: Path, secret: str) -> None:
    file = os.open(file_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    class Receiver(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            id, signatures = self.headers["webhook-id"], self.headers["webhook-signature"]
            expected = signature(secret, id, self.headers["webhook-timestamp"], body)
            if f"v1,{expected}" in signatures.split(" "):
                line = "\n" + json.dumps({"id": id, **json.loads(body)["data"]}) + "\n"
                os.write(file, line.encode())
                os.fsync(file)
                self.send_response(204)
            else:
                self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
