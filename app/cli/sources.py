"""`cairn sources`: evidence that was kept, listed and forgotten."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .compiling import Wait, finished, say_batch, summed
from .options import AsJson, Owner, Tenant
from .output import say, show, table
from .reading import After, Limit, ask, say_rest

if TYPE_CHECKING:
    from db.database import Database

app = typer.Typer(help="Evidence that was kept.", no_args_is_help=True)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="sources", epilog="Example: cairn sources list --tenant acme --owner mara")


class Kind(StrEnum):
    """As in db.tables, which is slow to import."""

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
    from app.compiling import compiler_of
    from app.settings import Settings
    from db.scope import Role
    from resolvers.sources.sources import find_repeating, forget_source, locate_source

    from .session import session
    from .wikis import find_wiki

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
