"""`cairn doctor` finds each fault that a test causes, and says what to do."""

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

from app.cli.doctor import State, check_certificates, check_clock, check_disk, check_queue, check_webhooks
from app.settings import Settings
from resolvers.webhooks.webhooks import OpenDeliveries
from tests.app.command_line import MARA, Cairn
from tests.app.operations.database.test_pgbouncer import PROGRAM, running, unused_port
from tests.conftest import execute

__all__ = ["unused_port"]
Found = dict[str, dict[str, str]]


@pytest.fixture
def examined(acme: Cairn) -> Callable[[], Found]:
    def examine() -> Found:
        ran = acme("doctor", "--json")
        found: list[dict[str, str]] = orjson.loads(ran.out)
        assert (ran.code == 1) is any(one["state"] == "failed" for one in found)
        assert all(bool(one["action"]) is (one["state"] != "ok") for one in found)
        return {one["check"]: one for one in found}

    return examine


def test_an_installation_that_is_well(examined: Callable[[], Found], acme: Cairn) -> None:
    found = examined()
    assert {one["state"] for name, one in found.items() if name != "disk"} == {"ok"}
    checks = {"configuration", "disk", "database", "clock", "extensions", "indexes", "bloat", "queue", "schema"}
    assert {*checks, "webhooks"} <= {*found}
    assert "checks passed" in acme("doctor").out or found["disk"]["state"] != "ok"


def test_an_index_that_an_interrupted_build_has_left(examined: Callable[[], Found], dsn: str) -> None:
    async def leave() -> None:
        connection = await asyncpg.connect(dsn)
        with pytest.raises(asyncpg.UniqueViolationError):
            await connection.execute("CREATE UNIQUE INDEX CONCURRENTLY broken_ix ON owners ((1))")
        await connection.close()

    asyncio.run(leave())
    try:
        found = examined()["indexes"]
        assert (found["state"], found["action"]) == ("failed", "Run: REINDEX INDEX CONCURRENTLY broken_ix;")
    finally:
        execute(dsn, "DROP INDEX broken_ix")


def test_a_slot_that_keeps_the_log(examined: Callable[[], Found], dsn: str, cluster: object) -> None:
    if cluster is not None:
        pytest.skip("the coordinator may not have slots to spare")
    execute(dsn, "SELECT pg_create_physical_replication_slot('left_behind', true)")
    try:
        found = examined()["replication"]
        assert found["state"] == "warning"
        assert "left_behind" in found["message"]
    finally:
        execute(dsn, "SELECT pg_drop_replication_slot('left_behind')")


def test_a_database_that_is_not_there_or_lacks_migrations(
    cairn: Cairn,
    empty_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = cairn("doctor", "--json")
    assert ran.code == 1
    assert "Begin with: cairn demo" in ran.out
    monkeypatch.setenv("CAIRN_DATABASE_URL", empty_dsn)
    assert "Run: cairn migrate" in cairn("doctor").out
    monkeypatch.setenv("CAIRN_DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:1/cairn")
    ran = cairn("doctor", "--json")
    assert "cannot be reached" in ran.out
    assert "secret" not in ran.out


def test_a_variable_that_is_no_setting_and_a_secret_that_others_read(
    examined: Callable[[], Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_POOLSIZE", "3")
    assert "CAIRN_POOL_SIZE" in examined()["configuration"]["action"]
    monkeypatch.delenv("CAIRN_POOLSIZE")
    secret = Path(os.environ["CAIRN_DATA_DIR"]) / "token-secret"
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text("secret")
    secret.chmod(0o644)
    assert "chmod 600" in examined()["configuration"]["action"]


def test_clocks_disks_and_queues_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [check_clock(100.0, at).state for at in (104.0, 96.0, 106.0, 94.0)] == [
        State.OK, State.OK, State.FAILED, State.FAILED
    ]  # fmt: skip
    assert [check_queue(3, seconds).state for seconds in (3600.0, 3601.0)] == [State.OK, State.WARNING]
    assert check_disk(tmp_path / "not" / "there").message.endswith(f"{tmp_path}.")
    monkeypatch.setattr("app.cli.doctor.FREE_DISK_MIN", 10**18)
    assert check_disk(tmp_path).state is State.WARNING


def make_certificate(folder: Path, days: float) -> None:
    """Write a certificate of localhost that is valid for so many days more: trusted.pem, and key.pem with its key."""
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
    """A server on localhost whose certificate is valid for so many days more. Yields its port."""
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
def test_certificates_that_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, days: float, state: str, message: str
) -> None:
    with tls_server(tmp_path, days + 0.01) as port:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
        given = {setting: f"https://localhost:{port}", "oidc_client_id": "cairn", "oidc_tenant": "acme"}
        (found,) = check_certificates(Settings(**given))  # type: ignore[arg-type]
    assert (found.check, found.state) == ("certificates", state)
    assert message in found.message


@pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not on this machine")
@pytest.mark.parametrize(
    ("days", "state", "message"),
    [(100, "ok", "is valid for 100 days"), (10, "warning", "expires in 10 days"), (-1, "warning", "has expired")],
)
def test_the_certificate_of_a_database_ends(dsn: str, unused_port: int, days: float, state: str, message: str) -> None:
    """PgBouncer stands for PostgreSQL, which begins TLS in the same way: the embedded one is built without it."""
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


def test_deliveries_that_are_dead_or_wait_for_long_are_reported() -> None:
    found = [*check_webhooks(OpenDeliveries(pending=0, dead=0, oldest=0.0))]
    assert [one.state for one in found] == [State.OK]
    dead, late = check_webhooks(OpenDeliveries(pending=3, dead=1_200, oldest=3_601.0))
    assert (dead.state, late.state) == (State.WARNING, State.WARNING)
    assert "1,200 deliveries are dead" in dead.message
    assert "cairn webhooks redeliver" in dead.action
    assert "the oldest for 60 minutes" in late.message


def test_a_public_address_may_be_out_of_reach_from_here() -> None:
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        port = server.server_port
    states = [
        [one.state for one in check_certificates(Settings(**{setting: f"https://127.0.0.1:{port}"}))]  # type: ignore[arg-type]
        for setting in ("jwks_url", "public_url")
    ]
    assert states == [[State.FAILED], [State.WARNING]]


def test_files_that_are_missing_from_the_folder_of_attachments(
    examined: Callable[[], Found], acme: Cairn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "attachments" not in examined()
    files, vault = tmp_path / "files", tmp_path / "vault"
    monkeypatch.setenv("CAIRN_ATTACHMENTS_DIR", str(files))
    (vault / ".obsidian").mkdir(parents=True)
    (vault / ".obsidian/app.json").write_text("{}")
    (vault / "A.md").write_text("# A\n\n![[a.png]]\n")
    (vault / "a.png").write_bytes(b"\x89PNG")
    assert acme("import", str(vault), *MARA).code == 0
    assert (examined()["attachments"]["state"], examined()["attachments"]["message"]) == (
        "ok", f"{files} can be written and has all of 1 files."
    )  # fmt: skip
    (file,) = (path for path in files.rglob("*") if path.is_file())
    aside = file.rename(tmp_path / "aside")
    found = examined()["attachments"]
    assert (found["state"], file.name in found["message"], "backup" in found["action"]) == ("failed", True, True)
    aside.rename(file)
    monkeypatch.delenv("CAIRN_ATTACHMENTS_DIR")
    assert "CAIRN_ATTACHMENTS_DIR" in examined()["attachments"]["action"]
    (tmp_path / "no folder").write_text("x")
    monkeypatch.setenv("CAIRN_ATTACHMENTS_DIR", str(tmp_path / "no folder"))
    assert "cannot be written" in examined()["attachments"]["message"]
