"""Commands in their own processes share one embedded server and leave no process behind."""

import asyncio
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import asyncpg
import pytest

from db.embedded import EmbeddedServer
from tests.app.command_line import ServingCommand, environment, processes, run_in_new_process
from tests.conftest import copy_server, execute
from tests.forked import COMMAND, ROOT

MARA = ("--tenant", "harbour-coffee", "--owner", "mara")
PAGE = 'wikiPage(tenantId: "%s", type: THEME, slug: "small-rooms") { id version summary }'


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A data folder outside pytest's own, which only its owner may enter."""
    folder = Path(tempfile.mkdtemp(prefix="cairn-test-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def used_dir(data_dir: Path, migrated_server_dir: Path) -> Path:
    """A data folder that has a server, without any tenant."""
    copy_server(migrated_server_dir, data_dir)
    return data_dir


def test_the_demo_wiki_is_shared_with_commands_and_survives_a_restart(data_dir: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        ServingCommand(data_dir, "demo", "--port", port(taken), is_fresh=True) as demo,
    ):
        warning = f"Port {port(taken)} is in use. Using port"
        await_earned_pages(data_dir)
        check_printed_queries(demo)
        check_other_commands(demo, data_dir)
        edit(demo, "Edited.")
        press_ctrl_c(demo)
        stderr = demo.process.communicate(timeout=90)[1]
    assert demo.process.returncode == 0
    assert warning in stderr
    assert "Traceback" not in stderr
    assert processes(data_dir) == ""
    with ServingCommand(data_dir, "demo", "--port", "0") as restarted:
        assert summary(restarted) == "Edited."
        restarted.process.send_signal(signal.SIGTERM)
        assert restarted.process.wait(30) == 0
    assert processes(data_dir) == ""


def test_ctrl_c_ends_a_service_of_several_processes(used_dir: Path) -> None:
    assert run_in_new_process(used_dir, "tenants", "create", "acme").code == 0
    assert run_in_new_process(used_dir, "owners", "create", "ada", "--tenant", "acme", "--kind", "agent").code == 0
    with ServingCommand(used_dir, "serve", "--port", "0", "--workers", "2") as service:
        token = run_in_new_process(used_dir, "token", "--tenant", "acme", "--owner", "ada").out.strip()
        assert service.ask("{ viewer { role } }", token) == {"viewer": {"role": "MEMBER"}}
        press_ctrl_c(service)
        assert service.process.wait(30) == 0
    assert processes(used_dir) == ""


def test_the_embedded_wikis_are_searchable_after_an_upgrade(used_dir: Path) -> None:
    """The first command after an upgrade from a release without the index creates the index."""
    notes = used_dir.with_suffix(".jsonl")
    notes.write_text('{"title": "Pecan pie", "type": "topic", "body": "Sweet."}')
    assert (
        run_in_new_process(used_dir, "import", str(notes), "--tenant", "acme", "--owner", "ada", "--create").code == 0
    )
    notes.unlink()
    with EmbeddedServer(used_dir) as dsn:
        for table in ("search_pages", "search_scopes", "search_counts", "search_vocabulary", "search_changes"):
            execute(dsn, f"DELETE FROM {table}")
    first, second = (
        run_in_new_process(used_dir, "search", "sweet", "--tenant", "acme", "--owner", "ada") for _ in range(2)
    )
    assert "Indexing 1 page of 1 wiki for search" in first.err
    assert "Indexing" not in second.err
    assert "topic/pecan-pie" in first.out
    assert first.out == second.out


def test_serve_fails_if_its_port_is_in_use(used_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run_in_new_process(used_dir, "serve", "--port", port(taken))
    assert result.code == 1
    assert "Choose another with --port" in result.err.splitlines()[-1]
    assert processes(used_dir) == ""


def test_a_closed_stdout_pipe_is_no_error(data_dir: Path) -> None:
    pipe = f"{shlex.join(COMMAND)} schema | head -1"
    result = subprocess.run(pipe, shell=True, cwd=ROOT, env=environment(data_dir), capture_output=True, text=True)
    assert (result.stderr, result.stdout.count("\n")) == ("", 1)


def press_ctrl_c(serving: ServingCommand) -> None:
    """Send SIGINT to every process of the group, as a terminal does."""
    os.killpg(serving.process.pid, signal.SIGINT)


def await_earned_pages(data_dir: Path) -> None:
    """Wait until the demo's worker has added a page for each of the six names that earned one to the 70 pages."""

    async def count_pages() -> int:
        connection = await asyncpg.connect(dsn)
        try:
            return int(await connection.fetchval("SELECT count(*) FROM pages"))
        finally:
            await connection.close()

    counts = [70]
    with EmbeddedServer(data_dir) as dsn:
        while counts[-1] != 76 and len(counts) < 100:
            time.sleep(0.2)
            counts.append(asyncio.run(count_pages()))
    assert counts[-1] == 76, counts


def check_printed_queries(demo: ServingCommand) -> None:
    """Check that the three queries and the curl command that the demo prints return data."""
    parts = [part.partition("\n")[2] for part in demo.stdout.split("\n\n# ")[1:]]
    links, queries = zip(*(part.removeprefix("# ").split("\n", 1) for part in parts[:3]), strict=True)
    for link, query in zip(links, queries, strict=True):
        page, _, fragment = link.partition("#")
        parameters = {name: value for name, (value,) in parse_qs(fragment, strict_parsing=True).items()}
        assert (page.endswith("/graphiql"), parameters["query"].split()) == (True, query.split())
        assert parameters["token"] in demo.stdout
        assert query.startswith("query ")
    searched, shown, spaces = (demo.ask(query) for query in queries)
    assert len(searched["wikiSearch"]) == 3
    assert shown["wikiPage"]["title"] == "Austin, Texas"
    assert shown["wikiPage"]["children"]
    assert shown["wikiPage"]["sources"]["nodes"]
    assert {scope["slug"] for scope in spaces["viewer"]["scopes"]["nodes"]} == {"mara", "roastery"}
    words = shlex.split(parts[3])
    assert words[0] == "curl"
    assert json.loads(words[-1]).keys() == {"query"}
    assert demo.ask(json.loads(words[-1])["query"]) == searched
    assert all(
        line in demo.stdout for line in ("  Tenant    harbour-coffee\n", "  Owner     mara\n", "sign in with the token")
    )


def check_other_commands(demo: ServingCommand, data_dir: Path) -> None:
    status = json.loads(run_in_new_process(data_dir, "status", "--json").out)
    assert (status["running"], status["tenants"], status["owners"], status["pages"]) == (True, 2, 3, 76)
    found = json.loads(run_in_new_process(data_dir, "search", "brisket", *MARA, "--json").out)
    assert found["edges"][0]["node"]["slug"] == "franklin-barbecue"
    page = run_in_new_process(data_dir, "page", "entity/austin-texas", *MARA)
    assert page.out.startswith("# Austin, Texas\n")
    token = json.loads(run_in_new_process(data_dir, "token", *MARA, "--role", "reader", "--ttl", "15m", "--json").out)
    viewer = demo.ask("{ viewer { tenant { id } owner { id } role } }", token["token"])["viewer"]
    assert viewer == {"tenant": {"id": token["tenantId"]}, "owner": {"id": token["ownerId"]}, "role": "READER"}
    result = run_in_new_process(
        data_dir, "import", str(ROOT / "app" / "sample" / "north-field" / "ada" / "pages"), *MARA, "--json"
    )
    assert json.loads(result.out)["created"] == 22


def edit(demo: ServingCommand, text: str) -> None:
    page = found(demo)
    change = f'pageId: "{page["id"]}", summary: "{text}", expectedVersion: {page["version"]}'
    demo.ask(f"mutation {{ updateWikiPage(input: {{{change}}}) {{ page {{ summary }} }} }}")


def summary(demo: ServingCommand) -> str:
    text: str = found(demo)["summary"]
    return text


def found(demo: ServingCommand) -> dict:
    tenant = demo.ask("{ viewer { tenant { id } } }")["viewer"]["tenant"]["id"]
    return demo.ask("{ %s }" % (PAGE % tenant))["wikiPage"]


def port(listening: socket.socket) -> str:
    return str(listening.getsockname()[1])
