"""Commands that retain, list and forget sources."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Owner, Tenant
from ..output import say, show, table
from .jobs import Wait, finished, say_batch, summed
from .pages import After, Limit, ask, say_rest

if TYPE_CHECKING:
    from db.database import Database

app = typer.Typer(help="Evidence that was kept.", no_args_is_help=True)


def add_sources(parent: typer.Typer) -> None:
    parent.add_typer(app, name="sources", epilog="Example: cairn sources list --tenant acme --owner mara")


class Kind(StrEnum):
    """The kinds of source, repeated here because db.tables is slow to import."""

    MEMORY_UNIT = "memory_unit"
    DAILY_NOTE = "daily_note"
    DOCUMENT = "document"
    ARTIFACT = "artifact"
    JOURNAL_IDEA = "journal_idea"
    URL = "url"


@app.command("list", epilog="Example: cairn sources list --kind daily_note --tenant acme --owner mara")
def list_sources(
    tenant: Tenant,
    owner: Owner,
    kinds: Annotated[
        list[Kind] | None, typer.Option("--kind", help="Of this kind; several are possible: any of them.")
    ] = None,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List the evidence of a wiki, the newest first."""
    wanted = [kind.upper() for kind in kinds] if kinds else None
    found = ask("sources", "wikiSources", tenant, owner, kinds=wanted, limit=limit, after=after)
    if as_json:
        show(found)
        return
    columns = ["source", "version", "title", "captured", "id"]
    table(columns, [row(source) for source in found["nodes"]])
    say_rest(found)


def row(source: dict[str, Any]) -> tuple[object, ...]:
    title = "(forgotten)" if source["forgottenAt"] else source["title"] or ""
    return f"{source['kind'].lower()}/{source['ref']}", source["version"], title, source["capturedAt"], source["id"]


@app.command("search", epilog="Example: cairn sources search 'why was the kiln replaced' --tenant acme --owner mara")
def search_sources(
    query: Annotated[str, typer.Argument(metavar="QUERY", help='Words, "a phrase", -word, dates.')],
    tenant: Tenant,
    owner: Owner,
    kinds: Annotated[
        list[Kind] | None, typer.Option("--kind", help="Of this kind; several are possible: any of them.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=50, help="How many at most.")] = 10,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """Search in the evidence of a wiki, the best passages first."""
    wanted = [kind.upper() for kind in kinds] if kinds else None
    asked = {"query": query, "kinds": wanted, "limit": limit, "after": after}
    found = ask("source_search", "wikiSearchSources", tenant, owner, **asked)
    if as_json:
        show(found)
        return
    if found["didYouMean"]:
        say(f"Did you mean: {found['didYouMean']}")
    if not found["edges"]:
        say("Nothing found.")
        return
    table(["score", "source", "lines", "passage"], [passage_row(edge) for edge in found["edges"]])
    at_least = "" if found["totalIsExact"] else "at least "
    say(f"{len(found['edges'])} of {at_least}{found['totalCount']}")


def passage_row(edge: dict[str, Any]) -> tuple[object, ...]:
    node, source = edge["node"], edge["node"]["source"]
    text = edge["snippet"]["text"] if edge["snippet"] else node["text"]
    lines = f"{node['lineStart']}-{node['lineEnd']}"
    return f"{edge['score']:.2f}", f"{source['kind'].lower()}/{source['ref']}", lines, text


@app.command(
    "forget",
    epilog="Example: cairn sources forget daily_note/2026-02-15 --reason 'asked for' --tenant acme --owner mara --wait",
)
def forget(
    source: Annotated[str, typer.Argument(metavar="KIND/REF", help="Like daily_note/2026-02-15; or the source's id.")],
    tenant: Tenant,
    owner: Owner,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why. It is kept.")] = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Erase a source, all versions of it, and by a job all that was written from it."""
    from db.scope import Role
    from resolvers.sources.sources import find_repeating, forget_source, locate_source

    from ...settings import Settings
    from ...worker import compiler_of
    from ..session import find_wiki, session

    compiler = compiler_of(Settings(), say_batch) if wait else None

    async def work(database: "Database") -> dict[str, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        done = await forget_source(database, scope, await locate_source(database, scope, source), reason)
        told = {"sourceId": done.source_id, "versions": done.versions, "jobId": done.job_id, "isDone": wait}
        if compiler:
            seen = await finished(database, scope, compiler)
            await summed(database, scope, [done.job_id, *seen] if done.job_id else seen)
            told["stillSaidBy"] = await find_repeating(database, scope, done.job_id) if done.job_id else []
        return told

    done = session(work)
    if as_json:
        show(done)
        return
    say(f"Forgotten: {done['versions']} version{'s' * (done['versions'] != 1)}.")
    if done["jobId"]:
        say("It is out of all pages, their history and search." if wait else "Pages are cleaned by: cairn worker")
    if still := done.get("stillSaidBy"):
        say(f"These pages still have words of it, as people wrote them: {', '.join(still)}.")


if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope
    from resolvers.import_export.notes import ImportProblem
    from resolvers.sources.sources import SourceDraft


def add_retaining(parent: typer.Typer) -> None:
    parent.command("retain", epilog="Example: cairn retain notes.jsonl --tenant acme --owner mara")(retain)


class Done:
    """The totals of all batches: new and known sources, problems, and the id of the job."""

    def __init__(self) -> None:
        self.new = self.known = 0
        self.problems: list[ImportProblem] = []
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

    from ..session import find_wiki, made_wiki, session

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
    """Retain the sources batch by batch: what was kept before something went wrong stays."""
    from resolvers.import_export.notes import ImportProblem
    from resolvers.sources.retain import retain_sources

    done = Done()
    for batch in batches(path, done):
        retention = await retain_sources(database, scope, [draft for _, draft in batch])
        done.job_id = retention.job_id or done.job_id
        for item, (label, _) in zip(retention.items, batch, strict=True):
            if item.saved is None:
                assert item.error is not None
                done.problems.append(ImportProblem(label, item.error.code, item.error.message))
            elif item.saved.created:
                done.new += 1
            else:
                done.known += 1
    return done


def batches(path: Path, done: Done) -> Iterator[list[tuple[str, "SourceDraft"]]]:
    from resolvers.import_export.notes import ImportProblem
    from resolvers.import_export.source_files import source_files
    from resolvers.sources.retain import BATCH_MAX

    batch: list[tuple[str, SourceDraft]] = []
    for found in source_files(path):
        if isinstance(found, ImportProblem):
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
        table(["source", "code", "what to fix"], [(one.path, one.code, one.message) for one in done.problems])


def add_to(parent: typer.Typer) -> None:
    add_sources(parent)
    add_retaining(parent)
