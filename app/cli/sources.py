"""`cairn sources`: evidence that is to be forgotten."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .compiling import Wait, finished, say_batch
from .options import AsJson, Owner, Tenant
from .output import say, show

if TYPE_CHECKING:
    from db.database import Database

app = typer.Typer(help="Evidence that was kept.", no_args_is_help=True)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="sources", epilog="Example: cairn sources forget --help")


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
    from resolvers.forgetting import find_repeating, forget_source
    from resolvers.sources import locate_source

    from .session import session
    from .wikis import find_wiki

    compiler = compiler_of(Settings(), say_batch) if wait else None

    async def work(database: "Database") -> dict[str, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        done = await forget_source(database, scope, await locate_source(database, scope, source), reason)
        told = {"sourceId": done.source_id, "versions": done.versions, "jobId": done.job_id, "isDone": wait}
        if compiler:
            await finished(database, scope, compiler)
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
