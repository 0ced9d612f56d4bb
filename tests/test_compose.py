"""Each profile of docker-compose.yml can be built and started in Docker, and keeps its pages when it is killed."""

import json
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.waiting import SOON

ROOT = Path(__file__).parents[1]
CREATE = """mutation ($title: String!) {
  createWikiPage(input: { type: TOPIC, title: $title, bodyMd: "Hot. See [[Barton Springs]]." }) { page { slug } }
}"""
RETAIN = """mutation {
  addWikiSource(input: { kind: MEMORY_UNIT, ref: "kiln", content: "It fires at 1,260 degrees." }) { source { id } }
}"""
READ = "query ($tenant: ID!) { wikiPages(tenantId: $tenant, first: 50) { nodes { slug } } }"
POSITION = "cairn-position"

pytestmark = pytest.mark.skipif("CAIRN_TEST_COMPOSE" not in os.environ, reason="it builds images: make compose")


class Project:
    """A compose project with its own ports and secrets. Clients call its `service`."""

    def __init__(self, service: str, started: tuple[str, ...]) -> None:
        self.service, self.started = service, started
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.port = listening.getsockname()[1]
        self.name = f"cairn-test-{uuid4().hex[:8]}"
        self.environment = os.environ | {
            "CAIRN_PORT": str(self.port),
            "CAIRN_JWT_SECRET": secrets.token_hex(32),
            "CAIRN_POSTGRES_PASSWORD": secrets.token_hex(24),
        }
        self.tenant, self.token = "", ""

    def compose(self, *words: str, seconds: float = 1200) -> str:
        command = ["docker", "compose", "--project-name", self.name, *words]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def run_cairn(self, *words: str) -> str:
        """Run a command in the container of the service."""
        return self.compose("exec", "--no-TTY", self.service, "cairn", *words)

    def start(self) -> None:
        self.compose("up", "--build", "--detach", "--wait", self.service, *self.started)

    def ask(self, query: str, position: str | None = None, **variables: Any) -> tuple[Any, str | None]:
        """Return the data of a response, and the position of the write if it wrote."""
        headers = {"authorization": f"Bearer {self.token}"} | ({POSITION: position} if position else {})
        answer = httpx.post(
            f"http://127.0.0.1:{self.port}/graphql",
            json={"query": query, "variables": variables}, headers=headers, timeout=30,
        )  # fmt: skip
        body = answer.json()
        assert "errors" not in body, body
        return body["data"], answer.headers.get(POSITION)

    def slugs(self, position: str | None = None) -> set[str]:
        found, _ = self.ask(READ, position, tenant=self.tenant)
        return {node["slug"] for node in found["wikiPages"]["nodes"]}


@contextmanager
def running(service: str, *others: str) -> Iterator[Project]:
    project = Project(service, others)
    try:
        project.start()
        project.run_cairn("tenants", "create", "acme")
        project.run_cairn("owners", "create", "ada", "--tenant", "acme", "--kind", "user")
        project.tenant = json.loads(project.run_cairn("tenants", "list", "--json"))[0]["id"]
        project.token = project.run_cairn("token", "--tenant", "acme", "--owner", "ada").strip()
        yield project
    finally:
        project.compose("down", "--volumes", "--remove-orphans")


def until(answers: Callable[[], bool]) -> None:
    """Wait until the function returns true while containers start again."""
    ends = time.monotonic() + SOON
    while time.monotonic() < ends:
        try:
            if answers():
                return
        except (httpx.HTTPError, ValueError, AssertionError):
            pass
        time.sleep(0.2)
    raise AssertionError(f"After {SOON:g} s the service does not answer.")


def has_image(project: Project, service: str) -> bool:
    try:
        project.compose("pull", "--quiet", "--policy", "missing", service)
    except AssertionError:
        return False
    return True


def check_pages_outlive_kills(project: Project, killed: tuple[str, ...]) -> None:
    """Kill each service in turn, start it again, and check that every page written so far is still there."""
    known = set()
    for number, service in enumerate(("", *killed)):
        if service:
            project.compose("kill", "--signal", "KILL", service)
            project.start()  # one that was killed by a person stays down otherwise
            until(lambda: project.slugs() >= known)
        _, position = project.ask(CREATE, title=f"Austin {number}")
        known.add(f"austin-{number}")
        assert project.slugs(position) == known, "a reader with the position of its write sees it"


def test_pages_of_the_default_profile_survive_kills() -> None:
    with running("cairn", "worker") as project:
        check_pages_outlive_kills(project, ("cairn", "postgres"))
        project.ask(RETAIN)
        project.run_cairn("compile", "--wait", "--tenant", "acme", "--owner", "ada")
        assert "1,260" in project.run_cairn("sources", "search", "kiln", "--tenant", "acme", "--owner", "ada")
        assert httpx.get(f"http://127.0.0.1:{project.port}/graphiql").status_code == 200


def test_pages_of_the_replica_profile_survive_kills() -> None:
    with running("cairn-pooled", "worker") as project:
        until(lambda: "replica-1 serves reads" in project.compose("logs", "cairn-pooled"))
        check_pages_outlive_kills(project, ("replica", "pgbouncer", "cairn-pooled", "postgres"))


def test_pages_of_the_citus_profile_survive_kills() -> None:
    with_image = Project("cairn-citus", ())
    if not has_image(with_image, "citus"):
        pytest.skip("the image of Citus cannot be had here")
    with running("cairn-citus") as project:
        check_pages_outlive_kills(project, ("cairn-citus", "citus-worker-1", "citus"))
