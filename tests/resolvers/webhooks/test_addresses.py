"""The addresses to which webhooks may or may not be sent."""

from collections.abc import Sequence

import pytest

from resolvers.webhooks.posting import NotSent, WebhookClient
from tests.resolvers.webhooks.receiver import Receiver
from tests.resolvers.webhooks.sender import LOOPBACK, add_webhook, create_topics, sender, wait_for_attempts
from tests.wiki import Wiki


async def test_no_redirect_is_followed(wiki: Wiki, receiver: Receiver) -> None:
    await add_webhook(wiki, receiver)
    receiver.default_status = 307
    await create_topics(wiki, "Austin")
    async with sender(wiki.database):
        row = await wait_for_attempts(wiki, 1)
    assert row["error"] == "the receiver answered 307, and redirects are not followed"
    assert set(receiver.paths) == {"/hooks"}


async def test_local_addresses_are_refused_unless_the_operator_allows_them(wiki: Wiki, receiver: Receiver) -> None:
    await add_webhook(wiki, receiver)
    await create_topics(wiki, "Austin")
    async with sender(wiki.database, None):
        row = await wait_for_attempts(wiki, 1)
    assert "CAIRN_WEBHOOK_NETWORKS" in row["error"]
    assert row["response_status"] is None
    assert receiver.attempts == []


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("https://app.example.org/", ["127.0.0.1"]),
        ("https://app.example.org/", ["10.1.2.3"]),
        ("https://app.example.org/", ["169.254.169.254"]),
        ("https://app.example.org/", ["192.168.1.1"]),
        ("https://app.example.org/", ["::1"]),
        ("https://app.example.org/", ["fd00::1"]),
        ("https://app.example.org/", ["fe80::1%eth0"]),
        ("https://app.example.org/", ["::ffff:127.0.0.1"]),
        ("https://app.example.org/", ["64:ff9b::7f00:1"]),
        ("https://app.example.org/", ["93.184.215.14", "127.0.0.1"]),
        ("https://app.example.org/", []),
        ("http://app.example.org/", ["93.184.215.14"]),
        ("https://2130706433/", ["127.0.0.1"]),
        ("https://localhost/", ["127.0.0.1"]),
        ("https://192.168.1.256/", ["127.0.0.1"]),
    ],
)
async def test_private_addresses_and_plain_http_are_refused(url: str, addresses: Sequence[str]) -> None:
    async def look_up(host: str, port: int) -> Sequence[str]:
        return addresses

    client = WebhookClient("10.9.0.0/16", look_up=look_up)
    with pytest.raises(NotSent):
        async with client.to(url):
            raise AssertionError("a connection would be opened")


async def test_a_host_name_is_resolved_once_per_connection(receiver: Receiver) -> None:
    lookups: list[str] = []

    async def look_up(host: str, port: int) -> Sequence[str]:
        lookups.append(host)
        return ["127.0.0.1"] if len(lookups) == 1 else ["127.0.0.2"]

    url = f"http://rebound.example.org:{receiver.port}/hooks"
    async with WebhookClient(LOOPBACK, look_up=look_up).to(url) as post:
        for _ in range(2):
            assert await post({"webhook-id": "1"}, b'{"data": {}}') == 204
    assert lookups == ["rebound.example.org"]
