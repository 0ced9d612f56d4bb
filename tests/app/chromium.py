"""Controls a headless Chromium over a pair of pipes: opens pages, runs scripts in them and records network events."""

import atexit
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

EXECUTABLE = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--remote-debugging-pipe")


class Browser:
    """A running browser. Its pipes carry one command at a time."""

    def __init__(self) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="cairn-test-", ignore_cleanup_errors=True)
        command_end, self._writer = os.pipe()
        self._reader, event_end = os.pipe()
        # The protocol wants the descriptors 3 and 4; bash puts them there.
        command = f'exec "$@" 3<&{command_end} 4>&{event_end}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, "bash", str(EXECUTABLE), *FLAGS, f"--user-data-dir={self.profile.name}"],
            pass_fds=(command_end, event_end),
            stderr=subprocess.DEVNULL,
        )
        os.close(command_end)
        os.close(event_end)
        self._unread = b""
        self._calls = 0

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        os.close(self._writer)
        os.close(self._reader)
        self.profile.cleanup()

    def call(self, method: str, on_event: Callable[[dict[str, Any]], object], **message: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol, and pass every event to `on_event` until the command is answered."""
        self._calls += 1
        os.write(self._writer, json.dumps({"id": self._calls, "method": method, **message}).encode() + b"\0")
        while True:
            for received in self._messages():
                if received.get("id") == self._calls:
                    assert "error" not in received, received
                    return dict(received["result"])
                if "method" in received:
                    on_event(received)

    def _messages(self) -> Iterator[dict[str, Any]]:
        while b"\0" not in self._unread:
            assert select.select([self._reader], [], [], 60)[0], "Chromium is silent"
            received = os.read(self._reader, 1 << 20)
            assert received, "Chromium has ended"
            self._unread += received
        while b"\0" in self._unread:
            message, _, self._unread = self._unread.partition(b"\0")
            yield json.loads(message)


class Tab:
    """One tab with its own cookies and storage. `events` has all events that it has sent so far."""

    def __init__(self, browser: Browser) -> None:
        self.events: list[dict[str, Any]] = []
        self._browser = browser
        self._session: str | None = None
        self._context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self._session = None
        self.call("Target.disposeBrowserContext", browserContextId=self._context)

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def wait_for(self, script: str, seconds: float = 30) -> Any:
        """Return the expression's value as soon as it is truthy. Fails after `seconds`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script):
                return value
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {script}\n{self.run('document.body.innerText')}")

    def requested_urls(self) -> list[str]:
        """Return every address that the tab has requested."""
        sent = (event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent")
        return [params["request"]["url"] for params in sent]

    def errors(self) -> list[str]:
        """Return uncaught exceptions and errors in the log, such as a breach of the content security policy."""
        events = [(event["method"], event["params"]) for event in self.events]
        thrown = [
            params["exceptionDetails"]["text"] for method, params in events if method == "Runtime.exceptionThrown"
        ]
        logged = [params["entry"] for method, params in events if method == "Log.entryAdded"]
        return thrown + [f"{entry['text']} {entry.get('url', '')}" for entry in logged if entry["level"] == "error"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command of the DevTools protocol to this tab."""
        session = {"sessionId": self._session} if self._session else {}
        return self._browser.call(method, self._record, params=params, **session)

    def _record(self, event: dict[str, Any]) -> None:
        if event.get("sessionId") == self._session:
            self.events.append(event)


@cache
def browser() -> Browser:
    """Return the browser of this process, which ends with it: starting one takes longer than most tests of pages."""
    started = Browser()
    atexit.register(started.close)
    return started


@contextmanager
def tab() -> Iterator[Tab]:
    """Open a tab, and close it with its cookies and storage when the block ends."""
    if browser().process.poll() is not None:
        browser.cache_clear()
    opened = Tab(browser())
    try:
        yield opened
    finally:
        opened.close()
