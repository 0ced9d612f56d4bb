"""`cairn sync`: synchronize a folder of notes and a wiki, in both directions."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...options import AsJson, Owner, Tenant
from ...output import print_json, print_status, print_table, say, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from db.database import Database
    from resolvers.sync.planning import Direction, SyncResult

    from ...session import Wiki

LABELS = {
    "push": "to the wiki", "pull": "to the folder", "merge": "merged", "conflict": "conflict", "archive": "archived",
    "remove": "removed", "propose": "proposed",
}  # fmt: skip


def add_to(parent: typer.Typer) -> None:
    epilog = (
        "Example: cairn sync ~/vault --tenant acme --owner mara; cairn sync ~/vault --watch --tenant acme --owner mara"
    )
    parent.command("sync", epilog=epilog)(sync)


def sync(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Folder of .md files. It is created if it does not exist.")
    ],
    tenant: Tenant,
    owner: Owner,
    watch: Annotated[bool, typer.Option("--watch", help="Keep synchronizing until Ctrl-C.")] = False,
    push: Annotated[bool, typer.Option("--push", help="Only send changes of the folder to the wiki.")] = False,
    pull: Annotated[bool, typer.Option("--pull", help="Only write changes of the wiki to the folder.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the changes without making them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Synchronize a folder of notes with a wiki. Edits, deletions, renames and attachments go in both directions.

    Changes on both sides are merged by section; a conflict is written to a file "Name (conflict …).md". Edits that
    need a review become proposals. Exits with 1 if there are conflicts, or if a file could not be synchronized or
    was declined.
    """
    from resolvers.sync.planning import Direction

    from ...session import run_in_session

    if push and pull:
        raise typer.BadParameter("give --push or --pull, or neither to sync both ways")
    if watch and dry_run:
        raise typer.BadParameter("--dry-run cannot be combined with --watch")
    direction = Direction.PUSH if push else Direction.PULL if pull else Direction.BOTH
    root = path.expanduser()
    if watch:
        run_in_session(lambda database: watch_and_sync(database, (tenant, owner), root, direction, as_json))
        return
    result = run_in_session(lambda database: sync_once(database, (tenant, owner), root, direction, dry_run))
    if as_json:
        print_json(result_to_dict(result))
    else:
        say_result(result, dry_run)
    if result.left or result.conflicts:
        raise typer.Exit(1)


async def sync_once(
    database: "Database", wiki_name: tuple[str, str], root: Path, direction: "Direction", dry_run: bool
) -> "SyncResult":
    """Synchronize the folder with the wiki once and return the result."""
    from db.scope import Role
    from resolvers.sync.planning import Direction
    from resolvers.sync.syncing import sync_folder

    from ...progress import progress
    from ...session import find_wiki

    wiki = await find_wiki(database, *wiki_name)
    scope = wiki.scope(Role.READER if direction is Direction.PULL else Role.ADMIN)
    with progress() as report:
        result = await sync_folder(database, scope, root, direction=direction, dry_run=dry_run, report=report)
    await audit(database, wiki, result, dry_run)
    return result


async def audit(database: "Database", wiki: "Wiki", result: "SyncResult", dry_run: bool) -> None:
    """Record in the audit log that pages of the wiki were written to the folder."""
    from resolvers.sync.planning import Action
    from resolvers.transactions.audit import MACHINE, Event, audit_in_own_transaction

    if (pages := result.count(Action.PULL)) and not dry_run:
        detail = {"pages": pages, "synced": True}
        await audit_in_own_transaction(database, wiki.tenant.id, MACHINE, Event.WIKI_EXPORTED, wiki.owner.id, **detail)


async def watch_and_sync(
    database: "Database", wiki_name: tuple[str, str], root: Path, direction: "Direction", as_json: bool
) -> None:
    """Synchronize on every change of the folder or the wiki, until SIGINT or SIGTERM."""
    import signal
    from contextlib import suppress

    following = asyncio.create_task(follow(database, wiki_name, root, direction, as_json))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, following.cancel)
    with suppress(asyncio.CancelledError):
        await following


async def follow(
    database: "Database", wiki_name: tuple[str, str], root: Path, direction: "Direction", as_json: bool
) -> None:
    """Synchronize the folder whenever it or the wiki changes, and print each change. Runs until it is cancelled."""
    from contextlib import suppress

    from db.listening import Listener
    from db.scope import Role
    from resolvers.context import Context
    from resolvers.subscriptions.changes import Topic
    from resolvers.subscriptions.feed import Feed, watch_wiki
    from resolvers.sync.planning import Direction
    from resolvers.sync.syncing import sync_folder
    from resolvers.sync.watching import keep_in_step

    from ....settings import Settings
    from ...session import find_wiki
    from ..watch import hear

    wiki = await find_wiki(database, *wiki_name)
    scope = wiki.scope(Role.READER if direction is Direction.PULL else Role.ADMIN)
    feed = Feed()
    context = Context(database, scope)
    context.feed = feed
    topics = [Topic.PAGES] if direction is Direction.PULL else [Topic.PAGES, Topic.PROPOSALS]
    changes = [await watch_wiki(context, wiki.owner.id, initial=False, topic=topic) for topic in topics]
    listener = Listener(database, lambda payload: hear(feed, payload), feed.resync, Settings().listen_url)
    report_failures = make_failure_report()

    async def sync_now() -> None:
        result = await sync_folder(database, scope, root, direction=direction)
        await audit(database, wiki, result, False)
        for event in result.events:
            if as_json:
                write_event({"action": event.action, "path": event.path, "detail": event.detail})
            else:
                say(format_event(event.action, event.path, event.detail))
        report_failures(result)

    await asyncio.to_thread(root.mkdir, parents=True, exist_ok=True)
    print_status(f"Syncing {root} with the wiki of {wiki.owner.slug}. Press Ctrl-C to stop.")
    listening = asyncio.create_task(listener.run())
    try:
        await keep_in_step(str(root), changes, sync_now)
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


def make_failure_report() -> "Callable[[SyncResult], None]":
    """Return a function that prints the files that could not be synchronized, each one only when it is new."""
    reported: set[tuple[str, ...]] = set()

    def report_failures(result: "SyncResult") -> None:
        nonlocal reported
        failures = {*result.left, *((path, "CONFLICT", RESOLVE) for path in result.conflicts)}
        for path, _, message in sorted(failures - reported):
            print_status(f"{path}: {message}")
        reported = {*failures}

    return report_failures


RESOLVE = "copy what you want to keep into the file beside it, then delete this one"


def write_event(event: dict[str, Any]) -> None:
    import sys

    write_json(sys.stdout, event)


def format_event(action: str, path: str, detail: str) -> str:
    return f"{LABELS[action]:<13}  {path}{f' ({detail})' if detail else ''}"


def result_to_dict(result: "SyncResult") -> dict[str, Any]:
    return {
        "done": [event._asdict() for event in result.events],
        "conflicts": result.conflicts,
        "waiting": result.waiting,
        "proposed": [{"path": path, "proposalId": id} for path, id in result.proposed],
        "left": [{"path": path, "code": code, "message": message} for path, code, message in result.left],
    }


def say_result(result: "SyncResult", dry_run: bool) -> None:
    for event in result.events:
        say(format_event(event.action, event.path, event.detail))
    if not result.events:
        is_same = not (result.left or result.waiting or result.proposed)
        say("The folder and the wiki are in sync." if is_same else "There are no changes to make.")
    elif dry_run:
        say("Nothing was written. To make these changes, leave out --dry-run.")
    if result.waiting:
        say(f"{result.waiting} changes need a sync in the other direction.")
    for path in result.conflicts:
        say(f"{path}: {RESOLVE}.")
    if count := len(result.proposed):
        say(
            f"{count} edit{'s' * (count != 1)} wait{'s' * (count == 1)} for review. List them with: cairn "
            "wiki proposals"
        )
    if result.left:
        print_table(["file", "code", "error"], result.left)
