"""Tests the counts of the metrics, their sums over processes, their labels, and the permission to read them."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import ValidationError

from app.observability import metrics
from app.observability.metrics import MAX_CALLERS, MAX_PER_CREDENTIAL, PLACES, Callers, Labels, Numbers, read_all_series
from app.observability.metrics_endpoint import exposition
from app.settings import Settings
from db.scope import Actor, ActorKind, Role, Scope
from observability.trace import RequestTrace
from resolvers.webhooks.webhooks import WebhookDraft, create_webhook
from tests.app.service import Service, serving
from tests.wiki import Wiki

DOCUMENT = Path(__file__).parents[4] / "docs" / "reference" / "metrics.md"
TOKEN = "a token for metrics"
TITLES = "{ wikiPages(first: 3) { nodes { title } } }"
WAITS = ("cairn_pool_wait_seconds_count",)


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Return the value of every series by its name and the values of its labels."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def counted(service: Service) -> dict[tuple[str, ...], float]:
    return samples((await service.http.get("/metrics")).text)


@pytest.fixture
async def counting(dsn: str, tmp_path: Path) -> Any:
    async with serving(dsn, tmp_path, metrics="local") as service:
        yield service


async def test_requests_and_operations_are_counted_by_outcome(counting: Service, wiki: Wiki) -> None:
    token = counting.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    await counting.ask("query Mine { wikiPages(first: 1) { nodes { id } } }", token)
    await counting.ask("query Mine { wikiPages(first: 1) { nodes { id } } }", token)
    await counting.ask("{ nothingLikeThat }", token)
    await counting.ask('mutation { deleteWikiPage(pageId: "x") { deletedPageId } }', token)
    await counting.ask("{ __schema { queryType { name } } }", token)
    assert (await counting.post("{ __typename }", None)).status_code == 401
    await counting.http.get("/made/up/by/a/client")
    found = await counted(counting)
    assert found["cairn_requests_total", "/graphql", "200"] == 5
    assert found["cairn_requests_total", "/graphql", "401"] == 1
    assert found["cairn_requests_total", "other", "404"] == 1
    assert found["cairn_operations_total", "ok", "query", "bytes"] == 3
    assert found["cairn_operations_total", "refused", "none", "bytes"] >= 1
    assert found["cairn_errors_total", "GRAPHQL_VALIDATION_FAILED"] >= 1
    assert found["cairn_errors_total", "UNAUTHENTICATED"] == 1
    assert found["cairn_cache_lookups_total", "plans", "hit"] == 1
    assert found["cairn_cache_lookups_total", "documents", "miss"] >= 3
    assert found["cairn_sql_seconds_count",] >= 2
    assert found["cairn_request_seconds_count", "/graphql"] == 6
    assert found["cairn_requests_in_flight",] == 1  # the one that reads this
    assert found["cairn_pool_connections", "reads", "idle"] >= 1
    assert found["cairn_memory_bytes",] > 1_000_000


async def test_counters_that_alerts_watch_are_zero_before_the_first_event(counting: Service) -> None:
    """Prometheus counts no increase for the event with which a series begins."""
    found = await counted(counting)
    causes = {labels[0] for name, *labels in found if name == "cairn_database_refusals_total"}
    assert causes == {
        "disk_full", "files", "read_only", "unreachable", "timeout", "connections", "busy", "contention", "locked",
        "resources", "other",
    }  # fmt: skip
    assert found["cairn_database_refusals_total", "disk_full"] == 0
    assert found["cairn_errors_total", "INTERNAL_SERVER_ERROR"] == 0


async def test_requests_that_wait_for_a_connection_are_counted(counting: Service, wiki: Wiki) -> None:
    token = counting.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    await counting.ask(TITLES, token)
    assert WAITS not in await counted(counting)
    await asyncio.gather(*(counting.ask(TITLES, token) for _ in range(40)))
    found = await counted(counting)
    assert 0 < found[WAITS] < 41 <= found["cairn_sql_seconds_count",]


async def test_paths_methods_and_values_of_clients_do_not_become_labels(counting: Service, wiki: Wiki) -> None:
    token = counting.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    await counting.http.get("/hunter2")
    await counting.http.request("HUNTER2", "/graphql")
    await counting.ask('query Mine { hunter2: wikiPages(filter: {titlePrefix: "hunter2"}) { nodes { id } } }', token)
    assert "hunter2" not in (await counting.http.get("/metrics")).text.lower()


async def test_the_queue_of_jobs_is_counted_over_all_tenants(counting: Service, wiki: Wiki) -> None:
    job = """INSERT INTO compile_jobs
                 (tenant_id, owner_id, id, dedupe_key, trigger, status, run_after, metrics, created_at)
             VALUES ($1, $2, gen_random_uuid(), gen_random_uuid()::text, 'manual', $3, now() - interval '1 hour',
                     '{}', now())"""
    for status in ("pending", "pending", "running", "failed"):
        await wiki.connection.execute(job, wiki.scope.tenant_id, wiki.scope.owner_id, status)
    found = await counted(counting)
    assert (found["cairn_jobs", "pending"], found["cairn_jobs", "running"]) == (2, 1)
    assert 3600 <= found["cairn_oldest_pending_job_seconds",] < 7200
    assert "failed" not in {labels[-1] for labels in found}


async def test_deliveries_of_webhooks_are_counted_over_all_tenants(counting: Service, wiki: Wiki) -> None:
    """Deliveries of a failing webhook do not count for the age of the oldest delivery."""
    tenant_id = wiki.scope.tenant_id
    well, failing = [
        (await create_webhook(wiki.database, tenant_id, WebhookDraft("https://app.example.org/"))).id for _ in range(2)
    ]
    await wiki.connection.execute("UPDATE webhooks SET failing_since = now() WHERE id = $1", failing)
    waiting = """INSERT INTO webhook_deliveries
                     (tenant_id, owner_id, id, webhook_id, position, kind, happened_at, status, finished_at)
                 VALUES ($1, $2, gen_random_uuid(), $3, $4, 'updated', now() - make_interval(hours => $5), $6,
                         CASE WHEN $6 <> 'pending' THEN now() END)"""
    given = [(well, 1, 1, "pending"), (failing, 1, 9, "pending"), (well, 2, 3, "delivered"), (well, 3, 3, "dead")]
    for delivery in given:
        await wiki.connection.execute(waiting, tenant_id, wiki.scope.owner_id, *delivery)
    found = await counted(counting)
    assert (found["cairn_webhook_deliveries", "pending"], found["cairn_webhook_deliveries", "dead"]) == (2, 1)
    assert 3600 <= found["cairn_oldest_webhook_delivery_seconds",] < 7200


async def test_metrics_are_served_without_postgres(
    counting: Service, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreachable(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("app.observability.metrics_endpoint.count_open_jobs", unreachable)
    found = await counted(counting)
    assert ("cairn_jobs", "pending") not in found
    assert found["cairn_processes",] == 1


async def test_metrics_are_refused_unless_the_operator_enables_them(service: Service) -> None:
    assert (await service.http.get("/metrics")).status_code == 404


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip", "via"])
async def test_local_metrics_are_refused_through_a_proxy(counting: Service, header: str) -> None:
    response = await counting.http.get("/metrics", headers={header: "127.0.0.1"})
    assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (403, "FORBIDDEN")


async def test_metrics_require_the_configured_token(dsn: str, tmp_path: Path) -> None:
    async with serving(dsn, tmp_path, metrics="token", metrics_token=TOKEN) as service:
        for shown in ({}, {"authorization": "Bearer no"}, {"authorization": "Bearer é".encode()}):
            assert (await service.http.get("/metrics", headers=shown)).status_code == 401  # type: ignore[arg-type]
        response = await service.http.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
        assert response.headers["content-type"].startswith("text/plain; version=")
        assert samples(response.text)["cairn_processes",] == 1


def test_a_missing_or_short_metrics_token_is_refused_at_startup() -> None:
    for token in (None, "short"):
        with pytest.raises(ValidationError):
            Settings.model_validate({"metrics": "token", "metrics_token": token})


def test_counts_of_running_and_dead_processes_are_added(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    count = """if True:
        from pathlib import Path
        from app.observability import metrics
        from app.observability.metrics import Numbers
        numbers = Numbers(Path(%r))
        numbers.add(metrics.REQUESTS, "/graphql", "200", amount=5)
        numbers.set(metrics.WAITING, "search", value=9)
        numbers.observe(metrics.SQL_SECONDS, seconds=0.004)
        import os; os._exit(1)"""
    subprocess.run([sys.executable, "-c", count % str(tmp_path)], check=False, env=os.environ | {"PYTHONPATH": "."})
    alive = Numbers(tmp_path)
    request.addfinalizer(alive.close)
    alive.add(metrics.REQUESTS, "/graphql", "200", amount=2)
    alive.set(metrics.WAITING, "search", value=1)
    for seconds in (0.004, 0.2, 99):
        alive.observe(metrics.SQL_SECONDS, seconds=seconds)
    found = samples(exposition(read_all_series(tmp_path)).decode())
    assert found["cairn_requests_total", "/graphql", "200"] == 7
    assert found["cairn_pool_waiting", "search"] == 1
    assert found["cairn_sql_seconds_count",] == 4
    assert found["cairn_sql_seconds_bucket", "0.005"] == 2
    assert found["cairn_sql_seconds_bucket", "0.25"] == 3
    assert found["cairn_sql_seconds_sum",] == pytest.approx(99.208)


def test_counts_of_ended_processes_are_kept_in_one_file(tmp_path: Path) -> None:
    """A service whose processes are replaced every day would otherwise read thousands of files for each answer."""
    running = Numbers(tmp_path)
    running.add(metrics.REQUESTS, "/graphql", "200", amount=1)
    for seconds in (0.004, 0.2, 99):
        replaced = Numbers(tmp_path)
        replaced.add(metrics.REQUESTS, "/graphql", "200", amount=10)
        replaced.set(metrics.WAITING, "reads", value=9)
        replaced.observe(metrics.SQL_SECONDS, seconds=seconds)
        replaced.close()
    last = Numbers(tmp_path)
    assert len([*tmp_path.glob("*.names")]) == len([*tmp_path.glob("*.numbers")]) == 2
    last.add(metrics.REQUESTS, "/graphql", "200", amount=100)
    found = samples(exposition(read_all_series(tmp_path)).decode())
    assert found["cairn_requests_total", "/graphql", "200"] == 131
    assert found["cairn_sql_seconds_count",] == 3
    assert found["cairn_sql_seconds_sum",] == pytest.approx(99.204)
    assert ("cairn_pool_waiting", "reads") not in found
    running.close()
    last.close()


def test_counts_are_complete_while_those_of_ended_processes_are_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A counter that fell and rose again would look to Prometheus like a restart."""
    for _ in range(2):
        numbers = Numbers(tmp_path)
        numbers.add(metrics.REQUESTS, "/graphql", "200", amount=10)
        numbers.close()
    read = metrics.read_series

    def read_after_move(names: Path) -> Iterator[metrics.Series]:
        monkeypatch.setattr(metrics, "read_series", read)
        Numbers(tmp_path).close()
        return read(names)

    monkeypatch.setattr(metrics, "read_series", read_after_move)
    found = samples(exposition(read_all_series(tmp_path)).decode())
    assert found["cairn_requests_total", "/graphql", "200"] == 20


@pytest.mark.parametrize("in_a_file", [True, False])
def test_series_beyond_the_capacity_do_not_change_existing_series(tmp_path: Path, in_a_file: bool) -> None:
    numbers = Numbers(tmp_path if in_a_file else None)
    numbers.add(metrics.ERRORS, "FIRST")
    for number in range(PLACES):
        numbers.add(metrics.ERRORS, str(number))
    numbers.observe(metrics.SQL_SECONDS, seconds=1)
    found = {series.labels: series.values for series in numbers.series()}
    assert found["FIRST",] == [1.0]
    assert len(found) < PLACES
    numbers.close()


def documented() -> Iterator[tuple[str, ...]]:
    for family in metrics.FAMILIES:
        labels = ", ".join(f"`{label}`" for label in family.labels)
        yield f"| `{family.name}` | {family.kind} | {labels} | {family.help} |"


def test_metrics_on_a_full_disk_raise_no_error(tmp_path: Path) -> None:
    """/dev/full refuses what is written, as a full disk does. A series is counted once its name can be written."""
    numbers = Numbers(tmp_path)
    names = numbers.names
    with Path("/dev/full").open("ab", buffering=0) as numbers.names:
        numbers.add(metrics.REQUESTS, "/graphql", "200")
    numbers.names = names
    numbers.add(metrics.REQUESTS, "/graphql", "200", amount=2)
    numbers.add(metrics.REQUESTS, "/mcp", "200", amount=3)
    assert [(series.labels[0], series.values) for series in read_all_series(tmp_path)] == [
        ("/graphql", [2.0]), ("/mcp", [3.0]),
    ]  # fmt: skip
    numbers.close()


def test_the_file_of_values_has_its_room_on_disk_from_the_beginning(tmp_path: Path) -> None:
    """A process is killed if it writes to a hole in a mapped file while the disk is full."""
    Numbers(tmp_path).close()
    (file,) = tmp_path.glob("*.numbers")
    assert file.stat().st_blocks * 512 >= file.stat().st_size == PLACES * 8


def test_the_documentation_of_the_metrics_is_current() -> None:
    rows = "\n".join(["| name | kind | labels | what it tells |", "|---|---|---|---|", *documented()])
    assert rows in DOCUMENT.read_text()


async def test_an_error_that_no_client_sees_is_not_counted(counting: Service, token: str) -> None:
    """Concurrent requests with one key wait for the first of them, and get its result or are told to retry."""
    create = 'mutation { createWikiPage(input: {type: TOPIC, title: "T"}) { page { id } } }'
    headers = {"idempotency-key": "same"}
    answers = await asyncio.gather(*(counting.post(create, token, **headers) for _ in range(8)))
    shown = sum(response.status_code != 200 for response in answers)
    found = await counted(counting)
    assert sum(value for (name, *_), value in found.items() if name == "cairn_errors_total") == shown


def test_the_number_of_counted_clients_is_bounded() -> None:
    callers = Callers()
    tenant = UUID(int=1)

    def labels_of(key: str, operation: str) -> Labels:
        trace = RequestTrace("r")
        scope = Scope(tenant, tenant, Role.MEMBER, Actor(ActorKind.SERVICE, key), (tenant,))
        trace.caller, trace.client, trace.tool = scope, "curl", operation
        return callers.labels(trace)

    of_one_key = [labels_of("one", f"operation {number}") for number in range(100)]
    assert len(set(of_one_key)) == MAX_PER_CREDENTIAL + 1
    assert of_one_key[0] == (str(tenant), "service:one", "curl", "operation 0")
    assert of_one_key[-1] == (str(tenant), "service:one", "other", "other")
    assert labels_of("one", "operation 0") == of_one_key[0]
    of_other_keys = {labels_of(f"key {number}", "x") for number in range(1000)}
    assert ("other",) * 4 in of_other_keys
    assert len({*of_one_key, *of_other_keys}) <= MAX_CALLERS + 1


async def test_calls_are_counted_by_client_operation_and_tenant(counting: Service, wiki: Wiki) -> None:
    token = counting.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    for _ in range(2):
        await counting.post("query Titles { viewer { role } }", token, **{"user-agent": "curl/8"})
    await counting.post("query Titles { viewer { role } }", None, **{"user-agent": "curl/8"})
    found = [series for series in (await counted(counting)).items() if series[0][0] == "cairn_calls_total"]
    (((_, client, _, operation, tenant), count),) = found
    assert (client, operation, tenant, count) == ("curl", "Titles", str(wiki.scope.tenant_id), 2)
