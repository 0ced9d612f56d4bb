"""The addresses to which webhooks may or may not be sent."""

from collections.abc import Sequence

import pytest

from resolvers.webhooks.posting import NotSent, WebhookClient
from tests.resolvers.webhooks.receiver import Receiver
from tests.resolvers.webhooks.sender import INSIDE, attempted, create, hook, sender
from tests.wiki import Wiki


async def test_no_redirect_is_followed(wiki: Wiki, receiver: Receiver) -> None:
    await hook(wiki, receiver)
    receiver.usual = 307
    await create(wiki, "Austin")
    async with sender(wiki.database):
        row = await attempted(wiki, 1)
    assert row["error"] == "the receiver answered 307, and redirects are not followed"
    assert set(receiver.paths) == {"/hooks"}


async def test_nothing_is_sent_to_this_machine_unless_an_operator_says_so(wiki: Wiki, receiver: Receiver) -> None:
    await hook(wiki, receiver)
    await create(wiki, "Austin")
    async with sender(wiki.database, None):
        row = await attempted(wiki, 1)
    assert "CAIRN_WEBHOOK_NETWORKS" in row["error"]
    assert row["response_status"] is None
    assert receiver.attempts == []


@pytest.mark.parametrize(
    ("url", "found"),
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
    ],
)
async def test_addresses_inside_are_refused_whatever_they_are_called(url: str, found: Sequence[str]) -> None:
    async def look_up(host: str, port: int) -> Sequence[str]:
        return found

    client = WebhookClient("10.9.0.0/16", look_up=look_up)
    with pytest.raises(NotSent):
        async with client.to(url):
            raise AssertionError("a connection would be opened")


async def test_a_name_is_looked_up_once_so_that_it_cannot_mean_another_machine_then(receiver: Receiver) -> None:
    asked: list[str] = []

    async def look_up(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    url = f"http://rebound.example.org:{receiver.port}/hooks"
    async with WebhookClient(INSIDE, look_up=look_up).to(url) as post:
        for _ in range(2):
            assert await post({"webhook-id": "1"}, b'{"data": {}}') == 204
    assert asked == ["rebound.example.org"]
