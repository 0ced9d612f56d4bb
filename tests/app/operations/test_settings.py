"""Tests that settings are documented, read from the environment, and refused if they are invalid."""

import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.cli.commands.data.backups import store_secret
from app.settings import Settings, load_or_create_secret, masked, signing_secret, values_of
from db.embedded import EmbeddedServer

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("CAIRN_")]:
        monkeypatch.delenv(name)


def documented() -> list[str]:
    return [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]


def expected() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        made = "the user's data folder" if field.default_factory else ""
        default = made or ("" if field.default is None else f"`{field.default}`")
        values = ": " * bool(values_of(name)) + ", ".join(f"`{value}`" for value in values_of(name))
        yield f"- `CAIRN_{name.upper()}`{f' ({default})' if default else ''}: {field.description}{values}"


def test_the_documentation_of_the_settings_is_current() -> None:
    """To update the page, put the expected lines under the headings of docs/reference/settings.md."""
    assert documented() == list(expected())


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CAIRN_PORT", "9000")
    monkeypatch.setenv("CAIRN_DATA_DIR", str(tmp_path))
    assert (Settings().port, Settings().data_dir) == (9000, tmp_path)
    assert Settings().embedded


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "http"),
        ("PORT", "70000"),
        ("WORKERS", "0"),
        ("LOG_FORMAT", "xml"),
        ("MAX_COST", "-1"),
        ("STATEMENT_TIMEOUT", "inf"),
        ("STATEMENT_TIMEOUT", "1e10"),
        ("STATEMENT_TIMEOUT", "0.0001"),  # less than Postgres counts, where 0 means any
        ("DRAIN_DELAY", "inf"),
        ("DRAIN_TIMEOUT", "inf"),
        ("SWEEP_AT", "03:00+05:00"),
        ("ALLOWED_HOSTS", "*"),
        ("ALLOWED_HOSTS", "wiki.example.org:8000"),
        ("ALLOWED_HOSTS", "https://wiki.example.org"),
    ],
)
def test_an_invalid_setting_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"CAIRN_{name}", value)
    with pytest.raises(ValidationError):
        Settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STATEMENT_TIMEOUT", "0.0001"),  # in whole milliseconds that is 0, and Postgres would wait for ever
        ("STATEMENT_TIMEOUT", "inf"),
        ("STATEMENT_TIMEOUT", "1e18"),
        ("TENANT_RATE", "1e308"),  # the table of throttles could not hold what comes in
        ("CREDENTIAL_RATE", "1e308"),
        ("FORWARDED_ALLOW_IPS", "10.0.0.7/8"),
        ("FORWARDED_ALLOW_IPS", "127.0.0.1,proxy"),
        ("ALLOWED_HOSTS", "*"),
        ("ALLOWED_HOSTS", "https://wiki.example.org"),
        ("ALLOWED_HOSTS", "wiki.example.org:8000"),
        ("ALLOWED_HOSTS", "wiki.*.org"),
        ("ALLOWED_HOSTS", "::1"),
        ("ALLOWED_HOSTS", "[wiki]"),
        ("CORS_ORIGINS", "https://app.example.org/"),
        ("CORS_ORIGINS", "https://app.example.org:443"),
        ("CORS_ORIGINS", "https://café.example.org"),
        ("CORS_ORIGINS", "app.example.org"),
    ],
)
def test_an_ineffective_or_unbounded_setting_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"CAIRN_{name}", value)
    with pytest.raises(ValidationError):
        Settings()


def test_hosts_and_origins_are_normalized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_ALLOWED_HOSTS", "Wiki.Example.org, *.Internal.example.org, [::1]")
    monkeypatch.setenv("CAIRN_CORS_ORIGINS", "https://app.example.org,http://localhost:3000,http://[::1]:3000")
    monkeypatch.setenv("CAIRN_FORWARDED_ALLOW_IPS", "10.0.0.0/8, ::1")
    assert Settings().allowed_hosts == ["wiki.example.org", "*.internal.example.org", "[::1]"]
    assert len(Settings().cors_origins or ()) == 3


@pytest.mark.parametrize("name", Settings.model_fields)
def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Docker Compose passes a variable that is not set as the empty text."""
    monkeypatch.setenv(f"CAIRN_{name.upper()}", "")
    assert getattr(Settings(), name) == Settings.model_fields[name].get_default(call_default_factory=True)


def test_origins_are_stored_in_lower_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_CORS_ORIGINS", "HTTPS://App.Example.org")
    assert Settings().cors_origins == ["https://app.example.org"]


def test_the_sweep_time_may_end_with_z(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_SWEEP_AT", "03:30Z")
    assert Settings().sweep_at == time(3, 30)


def test_a_secret_is_created_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "token-secret"
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(load_or_create_secret, [path] * 8))
    assert len(secrets) == 1
    assert len(secrets.pop()) >= 48
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["token-secret"]


def test_a_secret_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that, a power loss could leave an empty file, with which no service starts."""
    synced: dict[int, int] = {}

    def record(handle: int) -> None:
        synced[os.fstat(handle).st_ino] = os.fstat(handle).st_size

    monkeypatch.setattr(os, "fsync", record)
    path = tmp_path / "token-secret"
    secret = load_or_create_secret(path)
    assert synced.get(path.stat().st_ino) == len(secret)
    restored = b"the secret of a backup, which is restored"
    assert store_secret(Settings(data_dir=tmp_path), restored)
    assert synced.get(path.stat().st_ino) == len(restored)


def test_the_secret_is_in_the_folder_of_the_embedded_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of variables may name the data folder with a tilde, which no shell replaces then."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CAIRN_DATA_DIR", "~/cairn")
    secret = signing_secret(Settings())
    assert (EmbeddedServer(Settings().data_dir).data_dir / "token-secret").read_text() == secret


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("https://wiki.example.org:8443", "https://wiki.example.org:8443"),
        ("postgresql://db:5432/cairn?user=a&password=b", "postgresql://db:5432/cairn?user=a&password=**********"),
        ("postgresql://cairn:p@ss&w:rd@db:5432/cairn", "postgresql://cairn:**********@db:5432/cairn"),
        ("postgresql://cairn:p/w@db/cairn?options=a@b", "postgresql://cairn:**********@db/cairn?options=a@b"),
        ("host=db password=p@ss user=cairn", "host=db password=********** user=cairn"),
    ],
)
def test_a_password_is_masked_whole_and_a_port_is_shown(value: str, shown: str) -> None:
    assert masked(value) == shown


def test_no_signing_secret_is_created_if_a_jwks_url_is_set(tmp_path: Path) -> None:
    assert signing_secret(Settings(data_dir=tmp_path)) == (tmp_path / "token-secret").read_text()
    assert signing_secret(Settings(data_dir=tmp_path, jwks_url="https://keys.example.org/jwks")) is None
    given = Settings.model_validate(
        {"data_dir": tmp_path, "jwt_secret": "x" * 32, "jwks_url": "https://keys.example.org"}
    )
    assert signing_secret(given) == "x" * 32
    assert "x" * 32 not in repr(given)
