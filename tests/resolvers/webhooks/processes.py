"""The targets of the sender process and the receiver process, which tests kill."""

import asyncio
from pathlib import Path

from benchmarks.webhooks.receiver import serve
from db.database import Database
from resolvers.webhooks.posting import WebhookClient
from resolvers.webhooks.sending import Sender


def run_sender(dsn: str, lease: float) -> None:
    asyncio.run(send(dsn, lease))


async def send(dsn: str, lease: float) -> None:
    database = Database(dsn, size=2)
    await database.open()
    await Sender(database, WebhookClient("127.0.0.1"), "killed", lease=lease, idle=0.01).work()


def run_receiver(port: int, place: str, secret: str) -> None:
    serve(port, Path(place), secret)
