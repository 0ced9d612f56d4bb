"""A headless Chromium, spoken to over a pair of pipes: enough to open a page, run script in it and hear its network."""

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EXECUTABLE = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--remote-debugging-pipe")


class Tab:
    """One tab of a running browser. `events` is everything that it has told so far."""

    def __init__(self, reader: int, writer: int) -> None:
        self.events: list[dict[str, Any]] = []
        self._reader = reader
        self._writer = writer
        self._answers: dict[int, dict[str, Any]] = {}
        self._unread = b""
        self._calls = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def wait_for(self, script: str, seconds: float = 30) -> Any:
        """The expression's value as soon as it is truthy."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script):
                return value
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {script}\n{self.run('document.body.innerText')}")

    def requested(self) -> list[str]:
        """Every address that the tab has asked for."""
        sent = (event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent")
        return [params["request"]["url"] for params in sent]

    def complaints(self) -> list[str]:
        """Uncaught exceptions, and errors in the log, such as a breach of the content security policy."""
        told = [(event["method"], event["params"]) for event in self.events]
        thrown = [told["exceptionDetails"]["text"] for method, told in told if method == "Runtime.exceptionThrown"]
        logged = [told["entry"] for method, told in told if method == "Log.entryAdded"]
        return thrown + [f"{entry['text']} {entry.get('url', '')}" for entry in logged if entry["level"] == "error"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the DevTools protocol."""
        self._calls += 1
        session = {"sessionId": self._session} if self._session else {}
        message = {"id": self._calls, "method": method, "params": params, **session}
        os.write(self._writer, json.dumps(message).encode() + b"\0")
        while self._calls not in self._answers:
            self._read()
        answer = self._answers.pop(self._calls)
        assert "error" not in answer, answer
        return dict(answer["result"])

    def _read(self) -> None:
        assert select.select([self._reader], [], [], 60)[0], "Chromium is silent"
        received = os.read(self._reader, 1 << 20)
        assert received, "Chromium has ended"
        *messages, self._unread = (self._unread + received).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.events.append(message)


@contextmanager
def tab(profile: Path) -> Iterator[Tab]:
    """A tab of a browser of its own, which ends with the block. `profile` is an empty folder for it."""
    command_end, writer = os.pipe()
    reader, event_end = os.pipe()
    # The protocol wants the descriptors 3 and 4; bash puts them there.
    command = f'exec "$@" 3<&{command_end} 4>&{event_end}'
    process = subprocess.Popen(
        ["bash", "-c", command, "bash", str(EXECUTABLE), *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(command_end, event_end),
        stderr=subprocess.DEVNULL,
    )
    os.close(command_end)
    os.close(event_end)
    try:
        yield Tab(reader, writer)
    finally:
        process.terminate()
        process.wait(20)
        os.close(writer)
        os.close(reader)
