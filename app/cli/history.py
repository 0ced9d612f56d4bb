"""`cairn history`, `diff`, `restore`: what a page said before."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show, table
from .pages import ExpectedVersion, PageName, ask, on_page

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope

Version = Annotated[int, typer.Argument(metavar="VERSION", min=1, help="As `cairn history` lists them.")]


def add_to(parent: typer.Typer) -> None:
    place = "--tenant acme --owner mara"
    parent.command("history", epilog=f"Example: cairn history entity/austin {place}")(history)
    parent.command("diff", epilog=f"Example: cairn diff entity/austin 3 5 {place}")(diff)
    parent.command("restore", epilog=f"Example: cairn restore entity/austin 3 {place}")(restore)


def history(
    name: PageName,
    tenant: Tenant,
    owner: Owner,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="How many versions at most.")] = 20,
    before: Annotated[str | None, typer.Option(metavar="CURSOR", help="Older ones: the cursor that was shown.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the versions of a page, the newest first."""
    found = asked("history", name, tenant, owner, first=limit, after=before)["revisions"]
    if as_json:
        show(found)
        return
    columns = ["version", "when", "author", "title", "summary"]
    table(columns, [row(revision) for revision in found["nodes"]])
    if found["pageInfo"]["hasNextPage"]:
        say(f"Older ones: --before {found['pageInfo']['endCursor']}")


def row(revision: dict[str, Any]) -> tuple[object, ...]:
    author = f"{revision['authorKind'].lower()} {revision['authorName']}"
    return revision["version"], revision["createdAt"], author, revision["title"], revision["editSummary"] or ""


def diff(name: PageName, old: Version, new: Version, tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """Show how the text of a page changed from one version to another, as `diff -u` does."""
    from resolvers.errors import NotFound

    page = asked("history", name, tenant, owner, first=1, after=None)
    variables = {"pageId": page["id"], "from": old, "to": new}
    found = ask("diff", "diffWikiRevisions", tenant, owner, **variables)
    if found is None:
        raise NotFound(f"{name} lacks one of these versions. See them with: cairn history {name}")
    if as_json:
        show(found)
    elif found["unified"]:
        say(found["unified"].removesuffix("\n"))
    if found["isTruncated"] and not as_json:
        say("… and more than can be shown.")


def restore(
    name: PageName,
    version: Version,
    tenant: Tenant,
    owner: Owner,
    expected_version: ExpectedVersion = None,
    as_json: AsJson = False,
) -> None:
    """Make a new version of a page that says what an earlier one said."""

    async def work(database: "Database", scope: "Scope", page_id: "UUID") -> dict[str, Any]:
        from resolvers.pages.history import restore_state

        saved = await restore_state(database, scope, page_id, version, expected_version=expected_version)
        return {"version": saved.version, "changed": saved.changed}

    done = on_page(name, tenant, owner, work)
    if as_json:
        show(done)
    else:
        say(f"{name} is at version {done['version']}." if done["changed"] else f"{name} says that already.")


def asked(document: str, name: str, tenant: str, owner: str, **variables: Any) -> Any:
    """Return what the stored document answers of a page; raise NotFound if there is no such page."""
    from resolvers.errors import NotFound

    type, _, slug = name.partition("/")
    found = ask(document, "wikiPage", tenant, owner, type=type.upper(), slug=slug, **variables)
    if found is None:
        raise NotFound(f"There is no page {name} in this wiki. Find others with: cairn search")
    return found
