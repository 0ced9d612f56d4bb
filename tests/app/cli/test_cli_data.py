"""Operator commands: backups, transfers, erasure, retention, keys and the audit log."""

import asyncio
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import orjson
import pytest

from db.database import Database
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.archives import moves
from resolvers.auth.credentials import Signing
from resolvers.auth.oauth import AuthorizationRequest, Client, authorize, find_by_code, redeem_code
from tests.app.command_line import MARA, RunCommand
from tests.conftest import execute


def run_json(run: RunCommand, *arguments: str) -> dict[str, Any]:
    """Run a command with `--json` and return its result."""
    result = run(*arguments, "--json")
    assert result.code == 0, result.err
    report: dict[str, Any] = orjson.loads(result.out)
    return report


def test_a_backup_is_made_verified_and_restored(
    run_in_acme: RunCommand, empty_dsn: str, cluster: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cluster is not None:
        pytest.skip("a backup is verified in one server")
    assert run_in_acme("create", "topic", "Kiln", "It is hot.", *MARA).code == 0
    secret = tmp_path / "data" / "token-secret"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("a secret")
    place = str(tmp_path / "backup")
    backup = run_json(run_in_acme, "backup", place)
    assert backup["tokenSecret"] is True
    assert backup["tables"]["pages"]["rows"] == 1
    again = run_in_acme("backup", place, "--json")
    assert (again.code, again.error["code"]) == (1, "ARCHIVE_REFUSED")
    verified = run_json(run_in_acme, "backup", "verify", place)
    assert (verified["isWhole"], verified["questions"], verified["brokenTables"]) == (True, 1, [])
    refused = run_in_acme("restore", place, "--json")
    assert refused.error["code"] == "ARCHIVE_REFUSED"
    assert "--replace" in refused.error["message"]
    monkeypatch.setenv("CAIRN_DATABASE_URL", empty_dsn)
    secret.write_text("another secret")
    assert "another secret" in run_in_acme("restore", place).err
    secret.unlink()
    restored = run_json(run_in_acme, "restore", place, "--replace")  # the database is empty
    assert (restored["tokenSecret"], restored["undone"]) == (True, None)
    assert (secret.read_text(), secret.stat().st_mode & 0o777) == ("a secret", 0o600)
    assert "It is hot." in run_in_acme("page", "topic/kiln", *MARA).out
    assert run_in_acme("owners", "erase", "mara", "--tenant", "acme", "--yes").code == 0
    (undone,) = run_json(run_in_acme, "restore", place, "--replace")["undone"]
    assert run_in_acme("owners", "erase", undone["ownerId"], "--tenant", undone["tenantId"], "--yes").code == 0
    again = run_in_acme("restore", place, "--replace")
    assert again.out.count(f"cairn owners erase {undone['ownerId']} --tenant {undone['tenantId']} --yes") == 1
    (tmp_path / "backup" / "tables" / "pages.copy.gz").write_bytes(b"")
    broken = run_in_acme("backup", "verify", place, "--json")
    assert (broken.code, broken.error["code"]) == (1, "ARCHIVE_BROKEN")
    # A page is restored to one of its versions by the same word, as before.
    assert "already has this content" in run_in_acme("restore", "topic/kiln", "1", *MARA).out


@pytest.mark.parametrize("words", [["backup"], ["tenants", "export", "acme"]], ids=["backup", "tenant"])
def test_the_next_command_quotes_a_folder_with_a_space(
    run_in_acme: RunCommand, tmp_path: Path, words: list[str]
) -> None:
    place = str(tmp_path / "my data")
    made = run_in_acme(*words, place)
    assert made.code == 0
    assert shlex.split(made.out)[-1] == place


def test_an_unmigrated_database_can_be_backed_up(
    run_cairn: RunCommand, empty_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(migrate(empty_dsn, to="0090"))
    monkeypatch.setenv("CAIRN_DATABASE_URL", empty_dsn)
    assert run_json(run_cairn, "backup", str(tmp_path / "backup"))["revision"] == "0090"


def test_a_role_that_may_only_read_can_back_up(
    run_in_acme: RunCommand, dsn: str, cluster: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cluster is not None:
        pytest.skip("a backup is verified in one server")
    role = f"reader_{uuid4().hex}"
    execute(dsn, f"CREATE ROLE {role} LOGIN PASSWORD 'x'")
    try:
        execute(dsn, f"GRANT pg_read_all_data TO {role}")
        server = urlsplit(dsn)
        netloc = f"{role}:x@{server.netloc.rpartition('@')[2]}"
        monkeypatch.setenv("CAIRN_DATABASE_URL", urlunsplit(server._replace(netloc=netloc)))
        backup = run_in_acme("backup", str(tmp_path / "backup"), "--json")
        assert (backup.code, orjson.loads(backup.out)["tables"]["tenants"]["rows"]) == (0, 1)
        assert "not recorded in the audit log: permission denied" in backup.err
        assert run_json(run_in_acme, "backup", "verify", str(tmp_path / "backup"))["isWhole"] is True
    finally:
        execute(dsn, f"DROP ROLE {role}")


def test_the_operator_audit_log_records_backups_exports_and_imports(run_in_acme: RunCommand, tmp_path: Path) -> None:
    tenant = (
        run_json(run_in_acme, "backup", str(tmp_path / "backup"))
        and orjson.loads(run_in_acme("tenants", "list", "--json").out)[0]
    )
    run_json(run_in_acme, "tenants", "export", "acme", str(tmp_path / "acme"))
    run_json(run_in_acme, "tenants", "import", str(tmp_path / "acme"))
    events = orjson.loads(run_in_acme("audit", "--json").out)
    assert [event["action"] for event in events] == ["backup.created", "tenant.exported", "tenant.imported"]
    assert [event["subject"] for event in events] == [None, tenant["id"], tenant["id"]]
    assert {event["outcome"] for event in events} == {"done"}


def test_the_audit_log_records_a_token_without_its_value(run_in_acme: RunCommand) -> None:
    token = run_json(run_in_acme, "token", *MARA, "--role", "reader", "--ttl", "1h")
    log = run_in_acme("audit", "--tenant", "acme", "--action", "token", "--json").out
    (event,) = orjson.loads(log)
    assert (event["action"], event["subject"], event["detail"]) == (
        "token.created", token["ownerId"], {"role": "reader", "seconds": 3600}
    )  # fmt: skip
    assert str(token["token"]) not in log


def test_keys_are_rotated_and_the_rotation_is_logged(run_in_acme: RunCommand) -> None:
    limits = ["--scope", "wiki:read", "--network", "10.0.0.0/8"]
    issued = run_json(
        run_in_acme, "keys", "create", "--tenant", "acme", "--owner", "mara", "--name", "crawler", *limits
    )
    rotated = run_json(run_in_acme, "keys", "rotate", str(issued["id"]), "--tenant", "acme", "--overlap", "1h")
    assert rotated["key"] != issued["key"]
    (listed,) = orjson.loads(run_in_acme("keys", "list", "--tenant", "acme", "--json").out)
    assert (listed["scopes"], listed["networks"], listed["usedAt"]) == (["wiki:read"], ["10.0.0.0/8"], None)
    assert listed["formerUntil"] == rotated["formerUntil"]
    log = run_in_acme("audit", "--tenant", "acme", "--action", "api_key")
    assert [line.split()[2] for line in log.out.splitlines()[1:]] == ["api_key.created", "api_key.rotated"]
    assert str(rotated["key"]) not in log.out
    assert orjson.loads(run_in_acme("audit", "--tenant", "acme", "--refused", "--json").out) == []
    refused = run_in_acme("keys", "rotate", str(issued["id"]), "--tenant", "acme", "--overlap", "100d", "--json")
    assert refused.error["code"] == "BAD_USER_INPUT"


def test_an_authorised_program_is_listed_until_it_is_disconnected(run_in_acme: RunCommand, dsn: str) -> None:
    (mara, team) = orjson.loads(run_in_acme("owners", "list", "--tenant", "acme", "--json").out)
    assert (mara["slug"], team["slug"]) == ("mara", "team")

    async def authorise_program() -> None:
        owner_id, client = UUID(mara["id"]), Client("a program", "Kettle watcher")
        scope = Scope(UUID(mara["tenantId"]), owner_id, Role.MEMBER, Actor(ActorKind.USER, "mara"), (owner_id,))
        address = "http://127.0.0.1:3030/callback"
        request = AuthorizationRequest(client, ("wiki:read",), "http://127.0.0.1/mcp", address, True, "challenge")
        database = Database(dsn, size=1)
        await database.open()
        try:
            found = await find_by_code(database, await authorize(database, scope, request, "Mara"))
            assert found is not None
            assert await redeem_code(database, Signing("a secret that signs tokens, and is long", None, None), found)
        finally:
            await database.close()

    asyncio.run(authorise_program())
    (program,) = orjson.loads(run_in_acme("programs", "list", *MARA, "--json").out)
    assert (program["name"], program["role"]) == ("Kettle watcher", "reader")
    assert "Kettle watcher" in run_in_acme("programs", "list", *MARA).out
    assert orjson.loads(run_in_acme("programs", "list", "--tenant", "acme", "--owner", "team", "--json").out) == []
    elsewhere = run_in_acme("programs", "disconnect", program["id"], "--tenant", "acme", "--owner", "team", "--json")
    assert (elsewhere.code, elsewhere.error["code"]) == (1, "NOT_FOUND")
    assert run_json(run_in_acme, "programs", "disconnect", program["id"], *MARA) == {
        "id": program["id"],
        "disconnected": True,
    }
    assert orjson.loads(run_in_acme("programs", "list", *MARA, "--json").out) == []
    assert run_in_acme("programs", "disconnect", program["id"], *MARA, "--json").error["code"] == "NOT_FOUND"


def test_the_error_of_an_unreachable_database_hides_its_password(run_in_acme: RunCommand, tmp_path: Path) -> None:
    wrong = "postgresql://nobody:secret@127.0.0.1:1/cairn"
    result = run_in_acme("tenants", "transfer", "acme", "--to", wrong)
    assert result.code == 1
    assert "The database of --to cannot be reached" in result.err
    assert "secret" not in result.err


def test_a_transfer_of_no_tenant_deletes_nothing(run_in_acme: RunCommand, tmp_path: Path) -> None:
    kept = [tmp_path / "export" / "MANIFEST.json", tmp_path / "data" / "token-secret"]
    for file in kept:
        file.parent.mkdir(parents=True)
        file.write_text("kept")
    for name in (str(tmp_path / "export"), "..", "../../export", "."):
        result = run_in_acme("tenants", "transfer", name, "--to", "postgresql://nobody@127.0.0.1:1/cairn", "--json")
        assert (result.code, result.error["code"]) == (1, "NOT_FOUND")
        assert [file.read_text() for file in kept if file.exists()] == ["kept", "kept"]


def test_a_transfer_is_refused_while_another_one_of_the_tenant_runs(
    run_in_acme: RunCommand, empty_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one would delete the folder of the first."""
    asyncio.run(migrate(empty_dsn))
    words = ("tenants", "transfer", "acme", "--to", empty_dsn, "--json")
    others: list[Any] = []

    async def import_while_another_one_begins(*arguments: Any, **options: Any) -> moves.Imported:
        if not others:
            others.append(None)
            others[0] = await asyncio.to_thread(run_in_acme, *words)
        return await import_tenant(*arguments, **options)

    import_tenant = moves.import_tenant
    monkeypatch.setattr(moves, "import_tenant", import_while_another_one_begins)
    first = run_in_acme(*words)
    assert (first.code, first.err) == (0, "")
    assert (others[0].code, others[0].error["code"]) == (1, "ARCHIVE_REFUSED")
    assert "Another command is transferring acme" in others[0].error["message"]
    assert [*(tmp_path / "data" / "transfers").iterdir()] == []


def test_erase_counts_rows_in_a_dry_run_and_needs_a_confirmation(run_in_acme: RunCommand) -> None:
    assert run_in_acme("create", "topic", "Kiln", "It is hot.", *MARA).code == 0
    for words in (
        ("tenants", "erase", "acme"),
        ("owners", "erase", "mara", "--tenant", "acme"),
        ("sources", "erase", "--by", "mara", "--tenant", "acme"),
    ):
        assert "Give --dry-run" in run_in_acme(*words).err
        assert run_in_acme(*words, "--dry-run", "--yes").code == 1
        assert run_in_acme(*words, "--dry-run").code == 0
    assert "Nobody called jo has" in run_in_acme("sources", "erase", "--by", "jo", "--tenant", "acme", "--dry-run").err
    counted = run_json(run_in_acme, "owners", "erase", "mara", "--tenant", "acme", "--dry-run")
    erased = run_json(run_in_acme, "owners", "erase", "mara", "--tenant", "acme", "--yes")
    assert counted["counts"] == erased["counts"] != {}
    assert "There is no owner" in run_in_acme("owners", "erase", "mara", "--tenant", "acme", "--yes").err
    run_json(run_in_acme, "tenants", "erase", "acme", "--yes")
    listed = orjson.loads(run_in_acme("tenants", "erasures", str(erased["tenantId"]), "--json").out)
    assert [erasure["kind"] for erasure in listed] == ["owner", "tenant"]
    assert all(erasure["erasedBy"].startswith("operator") for erasure in listed)
    assert orjson.loads(run_in_acme("tenants", "list", "--json").out) == []


def test_a_tenant_sets_its_retention_periods(run_in_acme: RunCommand) -> None:
    none = dict.fromkeys(("activity", "audit", "jobs", "revisions", "sources"))
    assert run_json(run_in_acme, "tenants", "retention", "acme") == none
    chosen = run_json(run_in_acme, "tenants", "retention", "acme", "--revisions", "52w", "--sources", "forever")
    assert chosen == none | {"revisions": 364, "sources": 0}
    assert run_json(run_in_acme, "tenants", "retention", "acme", "--revisions", "default") == none | {"sources": 0}
    assert "for ever" in run_in_acme("tenants", "retention", "acme").out
    for wrong in ("3", "12h", "soon"):
        assert run_in_acme("tenants", "retention", "acme", "--jobs", wrong).code == 2
