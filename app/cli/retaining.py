"""`cairn retain`: evidence into a wiki."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show, table

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope
    from resolvers.import_export.notes import Problem
    from resolvers.sources.sources import SourceDraft


def add_to(parent: typer.Typer) -> None:
    parent.command("retain", epilog="Example: cairn retain notes.jsonl --tenant acme --owner mara")(retain)


class Done:
    """What came of all of it."""

    def __init__(self) -> None:
        self.new = self.known = 0
        self.problems: list[Problem] = []
        self.job_id: UUID | None = None


def retain(
    path: Annotated[
        Path,
        typer.Argument(metavar="PATH", help="A .jsonl file with a source on each line, or a folder of .md files."),
    ],
    tenant: Tenant,
    owner: Owner,
    create: Annotated[bool, typer.Option("--create", help="Make the tenant and the owner if there are none.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep sources, and ask for a compile of the wiki. The same again changes nothing.

    Exits with 1 when something could not be kept.
    """
    from db.scope import Role

    from .session import session
    from .wikis import find_wiki, made_wiki

    async def work(database: "Database") -> Done:
        wiki = await (made_wiki if create else find_wiki)(database, tenant, owner)
        return await retained(database, wiki.scope(Role.MEMBER), path)

    done = session(work, creates=create)
    if as_json:
        show(as_data(done))
    else:
        say_done(done)
    if done.problems:
        raise typer.Exit(1)


async def retained(database: "Database", scope: "Scope", path: Path) -> Done:
    """Batch by batch: what was kept before something went wrong stays."""
    from resolvers.import_export.notes import Problem
    from resolvers.sources.retain import retain_sources

    done = Done()
    for batch in batches(path, done):
        retention = await retain_sources(database, scope, [draft for _, draft in batch])
        done.job_id = retention.job_id or done.job_id
        for item, (label, _) in zip(retention.items, batch, strict=True):
            if item.saved is None:
                assert item.error is not None
                done.problems.append(Problem(label, item.error.code, item.error.message))
            elif item.saved.created:
                done.new += 1
            else:
                done.known += 1
    return done


def batches(path: Path, done: Done) -> Iterator[list[tuple[str, "SourceDraft"]]]:
    from resolvers.import_export.notes import Problem
    from resolvers.import_export.source_files import source_files
    from resolvers.sources.retain import BATCH_MAX

    batch: list[tuple[str, SourceDraft]] = []
    for found in source_files(path):
        if isinstance(found, Problem):
            done.problems.append(found)
            continue
        batch.append((f"{found.kind} {found.ref}", found))
        if len(batch) == BATCH_MAX:
            yield batch
            batch = []
    if batch:
        yield batch


def as_data(done: Done) -> dict[str, Any]:
    return {
        "new": done.new,
        "known": done.known,
        "jobId": done.job_id,
        "errors": [{"path": one.path, "code": one.code, "message": one.message} for one in done.problems],
    }


def say_done(done: Done) -> None:
    say(f"{done.new} new sources, {done.known} known already, {len(done.problems)} refused.")
    if done.job_id:
        say("They are compiled by: cairn worker, or now with: cairn compile --wait")
    if done.problems:
        table(["source", "code", "what to mend"], [(one.path, one.code, one.message) for one in done.problems])
