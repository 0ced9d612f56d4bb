"""`cairn watch`: print the changes of a wiki as they happen."""

from typing import TYPE_CHECKING, Any

import typer

from ..options import AsJson, Owner, Tenant
from ..output import print_status, say, write_json
from .pages import format_page_name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from db.database import Database
    from resolvers.subscriptions.feed import Feed

    from ..session import Wiki


def add_to(parent: typer.Typer) -> None:
    parent.command("watch", epilog="Example: cairn watch --tenant acme --owner mara --json")(watch)


def watch(tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """Print the changes of a wiki as they happen, until Ctrl-C. Each change is one line; with --json, one JSON object
    per line.

    RESYNC, which is also the first line, means that changes may have been missed: read again whatever you have
    cached.
    """
    import asyncio
    import signal
    from contextlib import suppress

    from ..session import find_wiki, run_in_session

    async def follow(database: "Database") -> None:
        wiki = await find_wiki(database, tenant, owner)
        print_status(f"Following the wiki of {wiki.owner.slug}. Press Ctrl-C to stop.")
        async for event in follow_changes(database, wiki):
            say_event(event, as_json)

    async def until_stopped(database: "Database") -> None:
        following = asyncio.create_task(follow(database))
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, following.cancel)
        with suppress(asyncio.CancelledError):
            await following

    run_in_session(until_stopped)


async def follow_changes(database: "Database", wiki: "Wiki") -> "AsyncIterator[dict[str, Any]]":
    """Yield each change of a wiki in the form in which the GraphQL subscription sends it to a reader."""
    import asyncio
    from contextlib import suppress

    from db.listening import Listener
    from db.scope import Role
    from resolvers.context import Context
    from resolvers.subscriptions.feed import Feed, watch_wiki

    from ...settings import Settings
    from ..session import read_stored

    feed = Feed()
    scope = wiki.scope(Role.READER)
    context = Context(database, scope)
    context.feed = feed
    watcher = await watch_wiki(context, wiki.owner.id, initial=False)
    listener = Listener(database, lambda payload: hear(feed, payload), feed.resync, Settings().listen_url)
    listening = asyncio.create_task(listener.run())
    try:
        async for change in watcher:
            shown = await read_stored(database, wiki, "watch", {}, event=change)
            if shown["wikiScopeChanged"]:
                yield shown["wikiScopeChanged"]
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


def hear(feed: "Feed", payload: str) -> None:
    """Pass the changes of a notification to the feed. A payload that Cairn did not send is ignored."""
    from contextlib import suppress

    from resolvers.subscriptions.changes import read_payload

    with suppress(ValueError):
        for change in read_payload(payload):
            feed.publish(change)


def say_event(event: dict[str, Any], as_json: bool) -> None:
    import sys

    if as_json:
        write_json(sys.stdout, event)
        return
    page, version = event["page"], event["version"]
    parts = [event["at"], event["kind"].lower()]
    if page:
        parts += [format_page_name(page), page["title"]]
    elif event["pageId"]:
        parts.append(event["pageId"])
    say("  ".join([*parts, f"(version {version})"] if version else parts))
