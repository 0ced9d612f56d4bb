"""Commands that retain, list and forget sources."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import After, AsJson, Limit, Owner, Tenant, TextCommand, parse_time
from ..output import print_json, print_table, say
from .history import wiki_app
from .jobs import Wait, run_open_jobs, say_batch, sum_jobs
from .pages import format_page_name, parse_page_type, read_wiki, run_query, say_next_page

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope
    from resolvers.import_export.notes import ImportProblem
    from resolvers.sources.sources import SourceDraft

app = typer.Typer(help="Manage the sources of a wiki.", no_args_is_help=True)


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
    RUN = "run"


Kinds = Annotated[list[Kind] | None, typer.Option("--kind", help="Only sources of this kind. Can be repeated.")]


@app.command("list", epilog="Example: cairn sources list --kind daily_note --tenant acme --owner mara")
def list_sources(
    tenant: Tenant,
    owner: Owner,
    kinds: Kinds = None,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List the sources of a wiki, newest first."""
    if kinds or after:
        kind_names = [kind.upper() for kind in kinds] if kinds else None
        found = run_query("sources", "wikiSources", tenant, owner, kinds=kind_names, limit=limit, after=after)
    else:
        from ..plans import list_sources as list_all

        found = read_wiki(tenant, owner, lambda database, wiki: list_all(database, wiki, limit))
    if as_json:
        print_json(found)
        return
    print_table(["source", "version", "title", "captured", "id"], [row(source) for source in found["nodes"]])
    say_next_page(found)


def row(source: dict[str, Any]) -> tuple[object, ...]:
    title = "(forgotten)" if source["forgottenAt"] else source["title"] or ""
    return f"{source['kind'].lower()}/{source['ref']}", source["version"], title, source["capturedAt"], source["id"]


@app.command(
    "search",
    cls=TextCommand,
    epilog="Example: cairn sources search 'why was the kiln replaced' --tenant acme --owner mara",
)
def search_sources(
    query: Annotated[str, typer.Argument(metavar="QUERY", help='Search query: words, "a phrase", -excluded, dates.')],
    tenant: Tenant,
    owner: Owner,
    kinds: Kinds = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=50, help="Maximum number of results.")] = 10,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """Search the sources of a wiki."""
    kind_names = [kind.upper() for kind in kinds] if kinds else None
    variables = {"query": query, "kinds": kind_names, "limit": limit, "after": after}
    found = run_query("source_search", "wikiSearchSources", tenant, owner, **variables)
    if as_json:
        print_json(found)
        return
    if found["didYouMean"]:
        say(f"Did you mean: {found['didYouMean']}")
    if not found["edges"]:
        say("No results.")
        return
    print_table(["score", "source", "lines", "passage"], [passage_row(edge) for edge in found["edges"]])
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
    source: Annotated[str, typer.Argument(metavar="KIND/REF", help="Source such as daily_note/2026-02-15, or its id.")],
    tenant: Tenant,
    owner: Owner,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Reason. It is stored.")] = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Forget a source. Erases all of its versions, and queues a job that erases everything written from it."""
    from db.scope import Role
    from resolvers.sources.sources import find_pages_repeating, forget_source, locate_source

    from ...settings import Settings
    from ...worker import compiler_of
    from ..session import find_wiki, run_in_session

    compiler = compiler_of(Settings(), say_batch) if wait else None

    async def work(database: "Database") -> dict[str, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        forgotten = await forget_source(database, scope, await locate_source(database, scope, source), reason)
        job_id = forgotten.job_id
        facts = {"sourceId": forgotten.source_id, "versions": forgotten.versions, "jobId": job_id, "isDone": wait}
        if compiler:
            job_ids = await run_open_jobs(database, scope, compiler)
            await sum_jobs(database, scope, [job_id, *job_ids] if job_id else job_ids)
            facts["stillSaidBy"] = await find_pages_repeating(database, scope, job_id) if job_id else []
        return facts

    result = run_in_session(work)
    if as_json:
        print_json(result)
        return
    say(f"Forgot the source ({result['versions']} version{'s' * (result['versions'] != 1)}).")
    if result["jobId"]:
        say(
            "It was removed from all pages, their history and search."
            if wait
            else "Start a worker to remove it from pages: cairn worker"
        )
    if still := result.get("stillSaidBy"):
        say(f"These pages still have text of the source that people wrote: {', '.join(still)}.")


def add_retaining(parent: typer.Typer) -> None:
    parent.command("retain", epilog="Example: cairn retain notes.jsonl --tenant acme --owner mara")(retain)


class RetainTotals:
    """The totals of all batches: new and known sources, problems, and the id of the compile job."""

    def __init__(self) -> None:
        self.new = self.known = 0
        self.problems: list[ImportProblem] = []
        self.job_id: UUID | None = None


def retain(
    path: Annotated[
        Path,
        typer.Argument(metavar="PATH", help="File in .jsonl format with one source per line, or folder of text files."),
    ],
    tenant: Tenant,
    owner: Owner,
    create: Annotated[bool, typer.Option("--create", help="Create the tenant and the owner if missing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add sources to a wiki and queue a compile job. Adding the same sources again changes nothing.

    Exits with 1 if a source could not be added.
    """
    from db.scope import Role

    from ..session import find_or_create_wiki, find_wiki, run_in_session

    async def work(database: "Database") -> RetainTotals:
        wiki = await (find_or_create_wiki if create else find_wiki)(database, tenant, owner)
        return await retain_batches(database, wiki.scope(Role.MEMBER), path)

    totals = run_in_session(work, creates=create)
    if as_json:
        print_json(totals_to_dict(totals))
    else:
        say_totals(totals)
    if totals.problems:
        raise typer.Exit(1)


async def retain_batches(database: "Database", scope: "Scope", path: Path) -> RetainTotals:
    """Retain the sources batch by batch. If a batch raises an error, the batches before it stay retained."""
    from resolvers.import_export.notes import ImportProblem
    from resolvers.sources.retain import retain_sources

    totals = RetainTotals()
    for batch in read_batches(path, totals):
        retention = await retain_sources(database, scope, [draft for _, draft in batch])
        totals.job_id = retention.job_id or totals.job_id
        for item, (label, _) in zip(retention.items, batch, strict=True):
            if item.saved is None:
                assert item.error is not None
                totals.problems.append(ImportProblem(label, item.error.code, item.error.message))
            elif item.saved.created:
                totals.new += 1
            else:
                totals.known += 1
    return totals


def read_batches(path: Path, totals: RetainTotals) -> Iterator[list[tuple[str, "SourceDraft"]]]:
    """Yield the sources of a file or folder in batches, each with a label. Add unreadable ones to the problems."""
    from resolvers.import_export.notes import ImportProblem
    from resolvers.import_export.source_files import source_files
    from resolvers.sources.retain import BATCH_MAX

    batch: list[tuple[str, SourceDraft]] = []
    for found in source_files(path):
        if isinstance(found, ImportProblem):
            totals.problems.append(found)
            continue
        batch.append((f"{found.kind} {found.ref}", found))
        if len(batch) == BATCH_MAX:
            yield batch
            batch = []
    if batch:
        yield batch


def totals_to_dict(totals: RetainTotals) -> dict[str, Any]:
    errors = [{"path": problem.path, "code": problem.code, "message": problem.message} for problem in totals.problems]
    return {"new": totals.new, "known": totals.known, "jobId": totals.job_id, "errors": errors}


def say_totals(totals: RetainTotals) -> None:
    say(f"{totals.new} new sources, {totals.known} unchanged, {len(totals.problems)} refused.")
    if totals.job_id:
        say("To compile them, start a worker: cairn worker. Or compile them now: cairn compile --wait")
    if totals.problems:
        rows = [(problem.path, problem.code, problem.message) for problem in totals.problems]
        print_table(["source", "code", "error"], rows)


def ingest(
    place: Annotated[str, typer.Argument(metavar="PATH|URL", help="File to ingest, or the URL of --text.")],
    tenant: Tenant,
    owner: Owner,
    category: Annotated[
        str | None,
        typer.Option(metavar="TYPE", parser=parse_page_type, help="Type of the page, such as source. It is required."),
    ] = None,
    text: Annotated[
        Path | None, typer.Option("--text", metavar="FILE", help="Saved file of the URL. Use - to read it from stdin.")
    ] = None,
    address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Path or URL that the file comes from. Defaults to the path.")
    ] = None,
    media_type: Annotated[
        str | None,
        typer.Option("--media-type", metavar="TYPE", help="Media type, such as text/html; else detected."),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title. Defaults to the title of the file.")] = None,
    captured: Annotated[
        str | None,
        typer.Option("--captured-at", metavar="TIME", parser=parse_time, help="Date of the file, such as 2026-01-31."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ingest a file as a source. Stores the file, reads its text, and creates or proposes a page from it.

    Ingesting the same file again changes nothing; a changed file becomes a new version of the source. Its text is
    data: sentences that address agents are listed, never followed.
    """
    from datetime import datetime

    from db.scope import Role
    from resolvers.ingest.ingest import IngestDraft, ingest_source

    from ..session import find_wiki, read_stored, run_in_session

    is_url = place.startswith(("http://", "https://"))
    if text and not is_url:
        raise typer.BadParameter("it is the saved file of a URL, and PATH is a file itself", param_hint="--text")
    draft = IngestDraft(
        file_bytes(text if is_url else Path(place)),
        category,
        address=address or (place if is_url else Path(place).as_posix()),
        media_type=media_type,
        title=title,
        captured_at=datetime.fromisoformat(captured) if captured else None,
    )

    async def work(database: "Database") -> dict[str, Any]:
        wiki = await find_wiki(database, tenant, owner)
        result = await ingest_source(database, wiki.scope(Role.MEMBER), draft)
        which = {"id": str(result.page_id)}
        page = result.page_id and (await read_stored(database, wiki, "created", which, role=Role.MEMBER))["node"]
        return {
            "sourceId": result.source_id,
            "version": result.version,
            "created": result.created,
            "pageId": result.page_id,
            "page": page and format_page_name(page),
            "proposalId": result.proposal_id,
            "flags": [flag._asdict() for flag in result.flags],
        }

    result = run_in_session(work)
    if as_json:
        print_json(result)
        return
    say(
        f"{'Stored the source' if result['created'] else 'Already stored: source'} {result['sourceId']}, "
        f"version {result['version']}."
    )
    if result["proposalId"]:
        say(f"Its page is the proposal {result['proposalId']}, which waits for review.")
    elif result["page"]:
        say(f"Its page is {result['page']}.")
    for flag in result["flags"]:
        say(f"Line {flag['line']} has instructions for agents: {flag['text']}")


def file_bytes(path: Path | None) -> bytes | None:
    """Return the bytes of a file or of stdin. At most one byte over the limit is read: enough for the size check.

    Raises BadInput if the file cannot be read.
    """
    import sys

    from content.limits import ORIGINAL
    from resolvers.errors import BadInput

    if path is None:
        return None
    if str(path) == "-":
        return sys.stdin.buffer.read(ORIGINAL.maximum + 1)
    try:
        with path.open("rb") as file:
            return file.read(ORIGINAL.maximum + 1)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.", "path") from None


@app.command(
    "original", epilog="Example: cairn sources original document/notes/kiln.pdf -o kiln.pdf --tenant acme --owner mara"
)
def original(
    source: Annotated[str, typer.Argument(metavar="KIND/REF", help="Source such as url/https://…, or its id.")],
    tenant: Tenant,
    owner: Owner,
    out: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write, or - for stdout.")],
    as_json: AsJson = False,
) -> None:
    """Download the original file of a source."""
    import sys

    from db.scope import Role
    from resolvers.import_export.export_files import replacing
    from resolvers.sources.blobs import Original, read_original
    from resolvers.sources.sources import locate_source

    from ..session import find_wiki, run_in_session

    async def work(database: "Database") -> Original:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.READER)
        return await read_original(database, scope, await locate_source(database, scope, source))

    found = run_in_session(work)
    if str(out) == "-":
        sys.stdout.buffer.write(found.data)
        return
    with replacing(out) as file:
        file.write(found.data)
    facts = {"address": found.address, "mediaType": found.media_type, "sha256": found.sha256, "size": len(found.data)}
    if as_json:
        print_json(facts)
    else:
        say(f"{out}: {facts['size']:,} bytes of {facts['mediaType']} from {facts['address']}.")


def add_to(parent: typer.Typer) -> None:
    add_sources(parent)
    add_retaining(parent)
    place = "--tenant acme --owner mara"
    wiki_app.command("ingest", epilog=f"Example: cairn wiki ingest kiln.pdf --category reference {place}")(ingest)
