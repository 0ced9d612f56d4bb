"""`cairn webhooks`: creating, listing, testing, changing and deleting webhooks."""

import orjson
import pytest

from tests.app.cli.test_cli_data import run_json
from tests.app.command_line import MARA, RunCommand
from tests.resolvers.webhooks.receiver import run_webhook_receiver

ACME = ("--tenant", "acme")


def test_a_webhook_is_created_and_tested(run_in_acme: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    with run_webhook_receiver() as receiver:
        chosen = ["--owner", "mara", "--kind", "created", "--type", "topic", "--ceiling", "confidential"]
        webhook = run_json(run_in_acme, "webhooks", "create", receiver.url, *ACME, *chosen)
        id, receiver.secret = str(webhook["id"]), str(webhook["secret"])
        refused = run_in_acme("webhooks", "test", id, *ACME, "--json")
        assert "CAIRN_WEBHOOK_NETWORKS" in refused.error["message"]
        assert receiver.attempts == []
        monkeypatch.setenv("CAIRN_WEBHOOK_NETWORKS", "127.0.0.1")
        assert run_json(run_in_acme, "webhooks", "test", id, *ACME) == {"id": id, "responseStatus": 204}
        assert [(attempt["body"]["type"], attempt["is_signed"]) for attempt in receiver.received] == [
            ("webhook.test", True)
        ]
        receiver.default_status = 500
        assert "answered 500" in run_in_acme("webhooks", "test", id, *ACME).err
    (listed,) = orjson.loads(run_in_acme("webhooks", "list", *ACME, "--json").out)
    assert (listed["owners"], listed["kinds"], listed["types"]) == (["mara"], ["created"], ["topic"])
    assert (listed["ceiling"], listed["state"]) == ("confidential", "active")
    output = run_in_acme("webhooks", "list", *ACME).out + run_in_acme("audit", *ACME, "--action", "webhook").out
    assert receiver.url in output
    assert "webhook.created" in output
    assert receiver.secret not in output


def test_a_webhook_is_changed_and_deleted(run_in_acme: RunCommand) -> None:
    webhook = run_json(run_in_acme, "webhooks", "create", "https://app.example.org/hooks", *ACME)
    id = str(webhook["id"])
    assert run_in_acme("create", "topic", "Kiln", "It is hot.", *MARA).code == 0
    (delivery,) = orjson.loads(run_in_acme("webhooks", "deliveries", id, *ACME, "--status", "pending", "--json").out)
    assert (delivery["owner"], delivery["kind"], delivery["slug"], delivery["version"]) == (
        "mara",
        "created",
        "kiln",
        1,
    )
    assert (delivery["event"], delivery["proposalId"]) == ("page.created", None)
    assert "page.created" in (shown := run_in_acme("webhooks", "deliveries", id, *ACME).out)
    assert "kiln" in shown
    assert orjson.loads(run_in_acme("webhooks", "deliveries", id, *ACME, "--status", "dead", "--json").out) == []
    assert run_json(run_in_acme, "webhooks", "redeliver", id, *ACME, "--delivery", delivery["id"])["redelivered"] == 1
    assert "Queued 0 deliveries" in run_in_acme("webhooks", "redeliver", id, *ACME).out
    assert run_json(run_in_acme, "webhooks", "rotate", id, *ACME, "--overlap", "2d")["secret"] != webhook["secret"]
    assert run_json(run_in_acme, "webhooks", "update", id, *ACME, "--disable")["state"] == "disabled"
    assert "disabled" in run_in_acme("webhooks", "redeliver", id, *ACME).err
    changed = run_json(
        run_in_acme, "webhooks", "update", id, *ACME, "--enable", "--url", "https://app.example.org/other"
    )
    assert (changed["state"], changed["url"]) == ("active", "https://app.example.org/other")
    assert "Give --url" in run_in_acme("webhooks", "update", id, *ACME).err
    assert run_json(run_in_acme, "webhooks", "delete", id, *ACME) == {"id": id, "deleted": True}
    assert "no such webhook" in run_in_acme("webhooks", "delete", id, *ACME).err
    assert orjson.loads(run_in_acme("webhooks", "list", *ACME, "--json").out) == []
