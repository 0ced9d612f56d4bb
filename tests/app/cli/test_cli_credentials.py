"""Grants, tokens and API keys from the command line."""

import asyncio
import json

import jwt
import pytest

from db.database import Database
from resolvers.auth.api_keys import scope_of_key
from resolvers.auth.credentials import scope_of
from resolvers.errors import Unauthenticated
from tests.app.command_line import MARA, RunCommand
from tests.app.service import SECRET


def test_a_grant_is_added_and_removed(run_in_acme: RunCommand) -> None:
    words = ["--tenant", "acme", "--owner", "team", "--grantee", "mara"]
    assert (
        run_in_acme("grants", "add", *words, "--role", "member").out == "mara now has the role member in team's wiki.\n"
    )
    assert json.loads(run_in_acme("grants", "remove", *words, "--json").out)["removed"] is True
    assert json.loads(run_in_acme("grants", "remove", *words, "--json").out)["removed"] is False


def test_grants_are_listed(run_in_acme: RunCommand) -> None:
    assert run_in_acme("grants", "list", "--tenant", "acme").out.startswith("No grants. To give one: cairn grants add")
    run_in_acme("grants", "add", "--tenant", "acme", "--owner", "team", "--grantee", "mara", "--role", "member")
    (listed,) = json.loads(run_in_acme("grants", "list", "--tenant", "acme", "--json").out)
    assert (listed["owner"], listed["grantee"], listed["role"]) == ("team", "mara", "member")
    shown = run_in_acme("grants", "list", "--tenant", "acme", "--grantee", "mara").out.split()
    assert shown[:7] == ["owner", "grantee", "role", "since", "team", "mara", "member"]
    assert run_in_acme("grants", "list", "--tenant", "acme", "--owner", "mara", "--json").out == "[]\n"
    assert run_in_acme("grants", "list", "--tenant", "acme", "--owner", "nobody", "--json").error["code"] == "NOT_FOUND"


def test_a_token_names_its_actor(run_in_acme: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_JWT_SECRET", SECRET)
    assert run_in_acme("owners", "create", "scout", "--tenant", "acme", "--kind", "agent").code == 0

    def actor_of(owner: str, *options: str) -> tuple[str, bool]:
        issued = json.loads(run_in_acme("token", "--tenant", "acme", "--owner", owner, *options, "--json").out)
        scope = scope_of(jwt.decode(issued["token"], SECRET, algorithms=["HS256"]))
        return scope.actor.kind.value, scope.actor.id == issued["ownerId"]

    assert actor_of("scout") == ("agent", True)
    assert actor_of("mara") == ("user", True)
    assert actor_of("team") == ("service", True)
    assert actor_of("scout", "--role", "service") == ("service", True)
    assert actor_of("scout", "--actor", "user") == ("user", True)
    assert run_in_acme("token", "--tenant", "acme", "--owner", "scout", "--actor", "compiler").code == 2


async def authenticate(dsn: str, key: str) -> tuple[str, int]:
    """Return the role of an API key and the number of its owners."""
    database = Database(dsn, size=1)
    await database.open()
    try:
        scope = await scope_of_key(database, key)
    finally:
        await database.close()
    return scope.role.value, len(scope.owners)


def test_a_key_is_accepted_until_it_is_revoked(run_in_acme: RunCommand, dsn: str) -> None:
    words = ["--tenant", "acme", "--owner", "mara", "--owner", "team", "--role", "reader", "--name", "crawler"]
    issued = json.loads(run_in_acme("keys", "create", *words, "--expires", "90d", "--json").out)
    assert asyncio.run(authenticate(dsn, issued["key"])) == ("reader", 2)
    (listed,) = json.loads(run_in_acme("keys", "list", "--tenant", "acme", "--json").out)
    assert (listed["name"], listed["owners"], listed["state"]) == ("crawler", ["mara", "team"], "active")
    assert run_in_acme("keys", "revoke", issued["id"], "--tenant", "acme").code == 0
    shown = run_in_acme("keys", "list", "--tenant", "acme").out
    assert issued["key"].removeprefix("cairn_") not in shown
    assert shown.split()[8:14] == ["crawler", "reader", "user", "mara", "team", "revoked"]
    with pytest.raises(Unauthenticated):
        asyncio.run(authenticate(dsn, issued["key"]))


def test_a_duration_of_more_than_a_century_is_refused(run_in_acme: RunCommand) -> None:
    key = run_in_acme(
        "keys", "create", "--tenant", "acme", "--owner", "mara", "--role", "reader", "--name", "x", "--json"
    )
    assert key.code == 0
    rotated = ("keys", "rotate", str(json.loads(key.out)["id"]), "--tenant", "acme", "--overlap")
    created = ("keys", "create", "--tenant", "acme", "--owner", "mara", "--role", "reader", "--name", "y", "--expires")
    for words in (rotated, created, ("token", *MARA, "--ttl")):
        for duration in ("999999999w", "36501d"):
            refused = run_in_acme(*words, duration, "--json")
            assert (refused.code, refused.error["code"]) == (2, "USAGE")
            assert "give at most 36500d" in refused.error["message"]
    assert run_in_acme(*created, "36500d").code == 0
