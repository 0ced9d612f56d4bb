"""`cairn tenants erase`, `cairn owners erase` and `cairn sources erase`: data that goes from every table."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ....blob_folder import blob_folder_of
from ...options import AsJson, Tenant, duration, read_settings
from ...output import print_json, print_status, print_table, say
from .. import sources
from ..admin import owners, tenants
from .backups import database, run_on_database

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from db.connection import Row
    from db.database import Database
    from resolvers.archives.erasing import Erased

DryRun = Annotated[bool, typer.Option("--dry-run", help="Count the rows that would be erased, without erasing them.")]
Yes = Annotated[bool, typer.Option("--yes", help="Confirm the erasure. Only a backup can undo it.")]


def add_to(parent: typer.Typer) -> None:
    """Do nothing: importing this module adds its commands to the groups of tenants, owners and sources."""


def check_confirmation(dry_run: bool, yes: bool) -> None:
    """Raise BadInput unless exactly one of --dry-run and --yes was given."""
    from resolvers.errors import BadInput

    if dry_run == yes:
        raise BadInput("Give --dry-run to count what would be erased, or --yes to erase it.", "yes")


def operator() -> str:
    """Return the operator who runs this command, for the record of the erasure."""
    from getpass import getuser

    try:
        return f"operator:{getuser()}"
    except (KeyError, OSError):  # an account without a name, as in some containers
        return "operator"


@tenants.app.command("erase", epilog="Example: cairn tenants erase acme --dry-run; cairn tenants erase acme --yes")
def erase_tenant(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the tenant.")],
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Erase a tenant from all tables. A record remains: the id and the number of rows erased from each table.

    Earlier backups still contain the tenant, and running services accept its keys for up to a minute.
    """
    check_confirmation(dry_run, yes)

    async def work(dsn: str) -> "Erased":
        from resolvers.archives.erasing import erase_tenant as erase

        return await erase(dsn, slug, operator(), dry_run=dry_run, folder=blob_folder_of(read_settings()))

    with database(read_settings(), creates=False) as dsn:
        print_erased(run_on_database(dsn, work), dry_run, as_json)


@owners.app.command("erase", epilog="Example: cairn owners erase mara --tenant acme --dry-run")
def erase_owner(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the owner of the wiki.")],
    tenant: Tenant,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Erase an owner and its wiki. Erases sources, jobs, keys and grants as well, and its ids in the history of other
    wikis.

    Texts that the owner wrote in shared spaces are kept, without an author. See also: cairn sources erase.
    """
    check_confirmation(dry_run, yes)

    async def work(dsn: str) -> "Erased":
        from resolvers.archives.erasing import erase_owner as erase

        return await erase(dsn, tenant, slug, operator(), dry_run=dry_run, folder=blob_folder_of(read_settings()))

    with database(read_settings(), creates=False) as dsn:
        print_erased(run_on_database(dsn, work), dry_run, as_json)


@sources.app.command("erase", epilog="Example: cairn sources erase --by mara --tenant acme --dry-run")
def erase_sources(
    tenant: Tenant,
    by: Annotated[
        str, typer.Option("--by", metavar="PERSON", help="Slug or id of an owner, id of a key, or subject of a token.")
    ],
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Forget all sources added by a person. Covers all wikis of a tenant, and everything written from these sources.

    The activity log tells who has added a source. A worker removes what was written from them from pages and their
    history.
    """
    check_confirmation(dry_run, yes)

    async def work(database: "Database") -> "Erased":
        from resolvers.archives.erasing import erase_sources as erase

        return await erase(database, tenant, by, operator(), dry_run=dry_run)

    from ...session import run_in_session

    erased = run_in_session(work)
    print_erased(erased, dry_run, as_json)
    if not erased.rows and not as_json:
        print_status(f"Nobody called {by} has added a source that is still here. To see who has: cairn wiki log")


@tenants.app.command("erasures", epilog="Example: cairn tenants erasures 01a21427-e04c-7d32-94db-862248ea3a8d")
def list_all(
    tenant: Annotated[str, typer.Argument(metavar="ID", help="Id of the tenant, or its slug if it still exists.")],
    as_json: AsJson = False,
) -> None:
    """List the erasures of a tenant. Shows when, by whom and how many rows, even if the tenant itself is erased."""
    from ...session import run_in_session

    async def work(database: "Database") -> "list[Row]":
        from resolvers.archives.erasing import list_erasures
        from resolvers.tenants.tenants import as_id, find_tenant

        return await list_erasures(database, as_id(tenant) or (await find_tenant(database, tenant)).id)

    rows = run_in_session(work)
    if as_json:
        print_json(to_dicts(rows, "counts"))
    else:
        cells = [
            (row["erased_at"], row["kind"], row["owner_id"] or "", row["erased_by"], sum(row["counts"].values()))
            for row in rows
        ]
        print_table(["when", "what", "owner", "by", "rows"], cells)


def days(text: str) -> int | None:
    """Return the number of days of `90d` or `2w`, 0 for `forever`, and None for `default`."""
    if text in ("forever", "default"):
        return 0 if text == "forever" else None
    seconds = duration(text)
    if seconds < 86_400:
        raise typer.BadParameter("write it as 30d or 8w, or `forever`, or `default`")
    return seconds // 86_400


def retention_option(data: str) -> Any:
    """Return the option that sets the retention of a kind of data."""
    return typer.Option(metavar="DAYS", parser=str, help=f"Retention of {data}: 90d, 52w, `forever` or `default`.")


@tenants.app.command("retention", epilog="Example: cairn tenants retention acme --revisions 365d --sources forever")
def retention(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the tenant.")],
    activity: Annotated[Any, retention_option("the activity log")] = None,
    audit: Annotated[Any, retention_option("the audit log")] = None,
    jobs: Annotated[Any, retention_option("finished jobs")] = None,
    revisions: Annotated[Any, retention_option("earlier versions of pages")] = None,
    sources: Annotated[Any, retention_option("sources")] = None,
    as_json: AsJson = False,
) -> None:
    """Show or set how long a tenant keeps data. Covers logs, finished jobs, earlier versions of pages, and sources.

    Without options, the current values are shown. Workers remove older data every hour: versions lose their text,
    and sources are forgotten. `default` means CAIRN_KEEP_DAYS for logs and jobs, and forever for the rest.
    """
    from ...session import run_in_session

    texts = {"activity": activity, "audit": audit, "jobs": jobs, "revisions": revisions, "sources": sources}
    chosen = {kind: days(text) for kind, text in texts.items() if text is not None}

    async def work(database: "Database") -> dict[str, int]:
        from resolvers.archives.retention import find_retention, set_retention
        from resolvers.tenants.tenants import find_tenant

        tenant = await find_tenant(database, slug)
        return await (set_retention(database, tenant.id, chosen) if chosen else find_retention(database, tenant.id))

    stored = run_in_session(work)
    if as_json:
        print_json({kind: stored.get(kind) for kind in texts})
    else:
        cells = [
            (kind, "default" if kind not in stored else f"{stored[kind]} days" if stored[kind] else "for ever")
            for kind in texts
        ]
        print_table(["what", "kept"], cells)


def to_dicts(erasures: "Iterable[Mapping[str, Any]]", *more: str) -> list[dict[str, Any]]:
    """Return records of erasures as JSON objects, with `more` of their columns."""
    return [
        {
            "tenantId": row["tenant_id"],
            "kind": row["kind"],
            "ownerId": row["owner_id"],
            "erasedBy": row["erased_by"],
            "erasedAt": row["erased_at"],
        }
        | {name: row[name] for name in more}
        for row in erasures
    ]


def print_undone(erasures: "Iterable[Mapping[str, Any]]") -> None:
    """Print the commands that repeat erasures which a restore has undone, each once."""
    moments = {}
    for row in erasures:
        tenant, owner = row["tenant_id"], row["owner_id"]
        command = {
            "tenant": f"cairn tenants erase {tenant}",
            "owner": f"cairn owners erase {owner} --tenant {tenant}",
            "sources": f"cairn sources erase --by {owner or 'PERSON'} --tenant {tenant}",
        }[row["kind"]]
        moments[command] = row["erased_at"]
    for command, moment in moments.items():
        say(f"Erased on {moment:%Y-%m-%d}, and here again. To erase it: {command} --yes")


def print_erased(erased: "Erased", dry_run: bool, as_json: bool) -> None:
    if as_json:
        facts = {"kind": erased.kind, "tenantId": erased.tenant_id, "ownerId": erased.owner_id}
        print_json(facts | {"dryRun": dry_run, "rows": erased.rows, "counts": erased.counts})
        return
    if erased.counts:
        print_table(["table", "rows"], sorted(erased.counts.items()))
    rows = f"{erased.rows:,} rows"
    say(f"{rows} would be erased. To erase them, give --yes." if dry_run else f"Erased {rows}.")
