"""`cairn doctor` reports each fault and the action that corrects it."""

import asyncio
import os
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import asyncpg
import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.cli.doctor.certificates import check_certificates
from app.cli.doctor.checks import check_clock, check_disk, check_queue, check_webhooks
from app.cli.doctor.findings import State
from app.settings import Settings
from resolvers.webhooks.webhooks import OpenDeliveries
from tests.app.command_line import MARA, RunCommand
from tests.app.operations.database.test_pgbouncer import PROGRAM, running, unused_port
from tests.conftest import execute

__all__ = ["unused_port"]
Checks = dict[str, dict[str, str]]


@pytest.fixture
def examine(run_in_acme: RunCommand) -> Callable[[], Checks]:
    """Return a function that runs `cairn doctor` and returns its checks by name."""

    def run() -> Checks:
        result = run_in_acme("doctor", "--json")
        found: list[dict[str, str]] = orjson.loads(result.out)
        assert (result.code == 1) is any(check["state"] == "failed" for check in found)
        assert all(bool(check["action"]) is (check["state"] != "ok") for check in found)
        return {check["check"]: check for check in found}

    return run


def test_doctor_passes_on_a_healthy_installation(
    examine: Callable[[], Checks], run_in_acme: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.doctor.checks.FREE_DISK_MIN", 0)  # the disk of the tests may be almost full
    found = examine()
    assert [check for check in found.values() if check["state"] != "ok"] == []
    assert set(found) >= {
        "bloat", "clock", "configuration", "connections", "database", "disk", "extensions", "indexes", "queue",
        "replication", "schema", "webhooks",
    }  # fmt: skip
    assert f"All {len(found)} checks passed." in run_in_acme("doctor").out


def test_doctor_reports_an_invalid_index(examine: Callable[[], Checks], dsn: str) -> None:
    async def leave() -> None:
        connection = await asyncpg.connect(dsn)
        with pytest.raises(asyncpg.UniqueViolationError):
            await connection.execute("CREATE UNIQUE INDEX CONCURRENTLY broken_ix ON owners ((1))")
        await connection.close()

    asyncio.run(leave())
    try:
        found = examine()["indexes"]
        assert (found["state"], found["action"]) == ("failed", "Run: REINDEX INDEX CONCURRENTLY broken_ix;")
    finally:
        execute(dsn, "DROP INDEX broken_ix")


def test_doctor_warns_of_an_unused_replication_slot(examine: Callable[[], Checks], dsn: str, cluster: object) -> None:
    if cluster is not None:
        pytest.skip("the coordinator may not have slots to spare")
    execute(dsn, "SELECT pg_create_physical_replication_slot('left_behind', true)")
    try:
        found = examine()["replication"]
        assert found["state"] == "warning"
        assert "left_behind" in found["message"]
    finally:
        execute(dsn, "SELECT pg_drop_replication_slot('left_behind')")


def test_doctor_reports_a_missing_unmigrated_or_unreachable_database(
    run_cairn: RunCommand,
    empty_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = run_cairn("doctor", "--json")
    assert result.code == 1
    assert "Begin with: cairn demo" in result.out
    monkeypatch.setenv("CAIRN_DATABASE_URL", empty_dsn)
    assert "Run: cairn migrate" in run_cairn("doctor").out
    monkeypatch.setenv("CAIRN_DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:1/cairn")
    result = run_cairn("doctor", "--json")
    assert "cannot be reached" in result.out
    assert "secret" not in result.out


def test_doctor_reports_unknown_variables_and_world_readable_secrets(
    examine: Callable[[], Checks], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_POOLSIZE", "3")
    assert "CAIRN_POOL_SIZE" in examine()["configuration"]["action"]
    monkeypatch.delenv("CAIRN_POOLSIZE")
    secret = Path(os.environ["CAIRN_DATA_DIR"]) / "token-secret"
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text("secret")
    secret.chmod(0o644)
    assert "chmod 600" in examine()["configuration"]["action"]


def test_clock_queue_and_disk_checks_have_thresholds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [check_clock(100.0, at).state for at in (104.0, 96.0, 106.0, 94.0)] == [
        State.OK, State.OK, State.FAILED, State.FAILED
    ]  # fmt: skip
    assert [check_queue(3, seconds).state for seconds in (3600.0, 3601.0)] == [State.OK, State.WARNING]
    assert check_disk(tmp_path / "not" / "there").message.endswith(f"{tmp_path}.")
    monkeypatch.setattr("app.cli.doctor.checks.FREE_DISK_MIN", 10**18)
    assert check_disk(tmp_path).state is State.WARNING


def make_certificate(folder: Path, days: float) -> None:
    """Write a certificate of localhost for so many days to trusted.pem, and its key to key.pem."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    ends, hosts = datetime.now(UTC) + timedelta(days=days), x509.SubjectAlternativeName([x509.DNSName("localhost")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(ends - timedelta(days=365))
        .not_valid_after(ends)
        .add_extension(hosts, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, private = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (folder / "trusted.pem").write_bytes(certificate.public_bytes(pem))
    written = key.private_bytes(pem, private, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(written + certificate.public_bytes(pem))


@contextmanager
def tls_server(folder: Path, days: float) -> Iterator[int]:
    """Run a server on localhost whose certificate is valid for so many days, and yield its port."""
    make_certificate(folder, days)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "key.pem")
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("days", "state", "message"),
    [(100, "ok", "is valid for 100 days"), (10, "warning", "expires in 10 days"), (-1, "failed", "expired")],
)
@pytest.mark.parametrize("setting", ["jwks_url", "oidc_issuer", "public_url"])
def test_certificates_of_urls_are_checked_for_expiry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, days: float, state: str, message: str
) -> None:
    with tls_server(tmp_path, days + 0.01) as port:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
        settings = {setting: f"https://localhost:{port}", "oidc_client_id": "cairn", "oidc_tenant": "acme"}
        (found,) = check_certificates(Settings(**settings))  # type: ignore[arg-type]
    assert (found.check, found.state) == ("certificates", state)
    assert message in found.message


@pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not on this machine")
@pytest.mark.parametrize(
    ("days", "state", "message"),
    [(100, "ok", "is valid for 100 days"), (10, "warning", "expires in 10 days"), (-1, "warning", "has expired")],
)
def test_the_certificate_of_the_database_is_checked_for_expiry(
    dsn: str, unused_port: int, days: float, state: str, message: str
) -> None:
    """PgBouncer replaces PostgreSQL here, because the embedded server is built without TLS."""
    with tempfile.TemporaryDirectory(prefix="cairn-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        make_certificate(folder, days + 0.01)
        files = f"client_tls_key_file = {folder}/key.pem\nclient_tls_cert_file = {folder}/key.pem"
        with running(dsn, unused_port, ignoring=f"client_tls_sslmode = allow\n{files}") as url:
            (found,) = check_certificates(Settings(database_url=f"{url}?sslmode=require"))
            assert [*check_certificates(Settings(database_url=url))] == [], "it asks for no TLS"
        with running(dsn, unused_port) as url:
            (plain,) = check_certificates(Settings(database_url=f"{url}?sslmode=require"))
    assert (found.check, found.state) == ("certificates", state)
    assert message in found.message
    assert "it offers no TLS" in plain.message


def test_dead_and_late_webhook_deliveries_are_warnings() -> None:
    found = [*check_webhooks(OpenDeliveries(pending=0, dead=0, oldest=0.0))]
    assert [check.state for check in found] == [State.OK]
    dead, late = check_webhooks(OpenDeliveries(pending=3, dead=1_200, oldest=3_601.0))
    assert (dead.state, late.state) == (State.WARNING, State.WARNING)
    assert "1,200 deliveries are dead" in dead.message
    assert "cairn webhooks redeliver" in dead.action
    assert "the oldest for 60 minutes" in late.message


def test_an_unreachable_public_url_is_only_a_warning() -> None:
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        port = server.server_port
    states = [
        [check.state for check in check_certificates(Settings(**{setting: f"https://127.0.0.1:{port}"}))]  # type: ignore[arg-type]
        for setting in ("jwks_url", "public_url")
    ]
    assert states == [[State.FAILED], [State.WARNING]]


@pytest.mark.parametrize(
    "setting",
    [
        {"jwks_url": "https://id.example.test:443443/keys"},
        {"public_url": "https://wiki.example.test:443443"},
        {"public_url": "https://wiki..example.test"},
        {"database_url": "postgresql://cairn:secret@db.example.test:54321543/cairn?sslmode=require"},
        {"listen_url": "postgresql://cairn:secret@[::1/cairn?sslmode=require"},
    ],
    ids=str,
)
def test_doctor_reports_a_url_with_an_impossible_host_or_port(setting: dict[str, str]) -> None:
    (found,) = check_certificates(Settings(**setting))  # type: ignore[arg-type]
    assert (found.check, found.state) == ("certificates", State.FAILED)
    assert "secret" not in found.message


def test_doctor_reports_missing_attachment_files(
    examine: Callable[[], Checks], run_in_acme: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "attachments" not in examine()
    files, vault = tmp_path / "files", tmp_path / "vault"
    monkeypatch.setenv("CAIRN_ATTACHMENTS_DIR", str(files))
    (vault / ".obsidian").mkdir(parents=True)
    (vault / ".obsidian/app.json").write_text("{}")
    (vault / "A.md").write_text("# A\n\n![[a.png]]\n")
    (vault / "a.png").write_bytes(b"\x89PNG")
    assert run_in_acme("import", str(vault), *MARA).code == 0
    assert (examine()["attachments"]["state"], examine()["attachments"]["message"]) == (
        "ok", f"{files} can be written and has all of 1 files."
    )  # fmt: skip
    (file,) = (path for path in files.rglob("*") if path.is_file())
    aside = file.rename(tmp_path / "aside")
    found = examine()["attachments"]
    assert (found["state"], file.name in found["message"], "backup" in found["action"]) == ("failed", True, True)
    aside.rename(file)
    monkeypatch.delenv("CAIRN_ATTACHMENTS_DIR")
    assert "CAIRN_ATTACHMENTS_DIR" in examine()["attachments"]["action"]
    (tmp_path / "no folder").write_text("x")
    monkeypatch.setenv("CAIRN_ATTACHMENTS_DIR", str(tmp_path / "no folder"))
    assert "cannot be written" in examine()["attachments"]["message"]
