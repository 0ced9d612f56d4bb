"""`cairn rebuild`: pages made again from what they cite."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .compiling import Wait, finished, say_batch, summed
from .options import AsJson, Owner, Tenant
from .output import say, show
from .reading import page_name

if TYPE_CHECKING:
    from db.database import Database


def add_to(parent: typer.Typer) -> None:
    parent.command("rebuild", epilog="Example: cairn rebuild entity/austin-texas --tenant acme --owner mara --wait")(
        rebuild
    )


def rebuild(
    tenant: Tenant,
    owner: Owner,
    name: Annotated[str | None, typer.Argument(metavar="[TYPE/SLUG]", help="Like entity/austin-texas.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every active page of the wiki.")] = False,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Write every section anew that cites sources, from those alone. What it said before stays in the history."""
    from app.compiling import compiler_of
    from app.settings import Settings
    from db.scope import Role
    from resolvers.model.lookup import locate_slug
    from resolvers.sources.compile_requests import rebuild_page, rebuild_wiki

    from .session import session
    from .wikis import find_wiki

    if (name is None) is not everything:
        raise typer.BadParameter("name a page as TYPE/SLUG, or say --all")
    type, _, slug = page_name(name).partition("/") if name else ("", "", "")
    compiler = compiler_of(Settings(), say_batch) if wait else None

    async def work(database: "Database") -> dict[str, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        if everything:
            job_id = await rebuild_wiki(database, scope)
        else:
            job_id = await rebuild_page(database, scope, (await locate_slug(database, scope, slug, type)).page_id)
        done = await finished(database, scope, compiler) if compiler else set()
        return await summed(database, scope, [job_id, *done])

    job = session(work)
    if as_json:
        show(job)
    elif job["status"] == "succeeded":
        metrics = job["metrics"]
        say(f"Built again: {metrics.get('pages_rebuilt', 0)} pages, {metrics.get('pages_updated', 0)} of them changed.")
    else:
        say(f"The job {job['id']} is {job['status']}. It is run by: cairn worker")
