"""Commands that list and show pages."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import After, AsJson, Limit, Owner, Tenant, parse_time
from ..output import print_json, print_table, say

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope
    from resolvers.links.links import DroppedLinks

    from ..session import Wiki

TYPES = (
    "entity", "topic", "decision", "concept", "project", "reference", "theme", "context", "standard", "product",
    "source",
)  # fmt: skip


class Order(StrEnum):
    """The orders of a list of pages, repeated here because schema.enums is slow to import."""

    UPDATED = "updated"
    TITLE = "title"
    CREATED = "created"
    HUBNESS = "hubness"


def add_pages(parent: typer.Typer) -> None:
    parent.command("page", epilog="Example: cairn page entity/austin-texas --tenant acme --owner mara")(page)
    parent.command("pages", epilog="Example: cairn pages --type entity --tag food --tenant acme --owner mara")(pages)


def parse_page_type(text: str) -> str:
    """Return a page type in lower case, or raise BadParameter if there is no such type."""
    if text.lower() not in TYPES:
        raise typer.BadParameter(f"give one of {', '.join(TYPES)}")
    return text.lower()


def pages(
    tenant: Tenant,
    owner: Owner,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            "--category",
            metavar="TYPE",
            parser=parse_page_type,
            help="Only pages of this type. Can be repeated.",
        ),
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", metavar="TAG", help="Only pages with this tag. Can be repeated; pages must have all of the tags."
        ),
    ] = None,
    prefix: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Only pages whose title starts with this text.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", parser=parse_time, help="Only pages changed at or after this time, such as 2026-01-31."
        ),
    ] = None,
    stubs: Annotated[
        bool | None,
        typer.Option("--stubs/--no-stubs", help="Only stubs (pages of at most one source), or only others."),
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="List archived pages instead of active ones.")] = False,
    shared: Annotated[
        bool,
        typer.Option("--shared", help="List the pages of shared spaces that the owner can read."),
    ] = False,
    order: Annotated[
        Order, typer.Option(help="Sort order: last changed, alphabetical, last created, or most central first.")
    ] = Order.UPDATED,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List the pages of a wiki."""
    filter = {
        "types": [type.upper() for type in types] if types else None,
        "tags": tags or None,
        "titlePrefix": prefix,
        "updatedSince": since,
        "isStub": stubs,
        "status": "ARCHIVED" if archived else "ACTIVE",
    }
    if shared:
        if after:
            raise typer.BadParameter("it works for one wiki only: give a space as --owner", param_hint="--after")
        variables = {"filter": filter, "order": order.upper(), "limit": limit}
        say_shared(read_shared(tenant, owner, variables), as_json)
        return
    is_usual = order is Order.UPDATED and not (types or tags or prefix or since or archived or after) and stubs is None
    if is_usual:
        from ..plans import list_pages

        found = read_wiki(tenant, owner, lambda database, wiki: list_pages(database, wiki, limit))
    else:
        variables = {"filter": filter, "order": order.upper(), "limit": limit, "after": after}
        found = run_query("pages", "wikiPages", tenant, owner, **variables)
    if as_json:
        print_json(found)
        return
    rows = [
        (format_page_name(page), page["title"], page["updatedAt"], ", ".join(page["tags"])) for page in found["nodes"]
    ]
    print_table(["page", "title", "changed", "tags"], rows)
    say_next_page(found)


def read_shared(tenant: str, owner: str, variables: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pages of each shared space that an owner may read, with the slug of the space."""
    from ..session import find_wiki, read_stored, run_in_session

    async def work(database: "Database") -> list[dict[str, Any]]:
        from db.scope import Role
        from resolvers.auth.owners import OwnerKind
        from resolvers.search.spaces import list_spaces

        wiki = await find_wiki(database, tenant, owner)
        spaces = await list_spaces(database, wiki.scope(Role.READER))
        found = []
        for space in (space for space in spaces if space.kind == OwnerKind.SHARED):
            space_variables = variables | {"ownerId": str(space.id)}
            found.append(
                {"space": space.slug} | (await read_stored(database, wiki, "pages", space_variables))["wikiPages"]
            )
        return found

    return list(run_in_session(work))


def say_shared(found: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    rows = [
        (space["space"], format_page_name(page), page["title"], page["updatedAt"], ", ".join(page["tags"]))
        for space in found
        for page in space["nodes"]
    ]
    print_table(["space", "page", "title", "changed", "tags"], rows)
    say(f"{len(rows)} of {sum(space['totalCount'] for space in found)}")


def say_next_page(found: dict[str, Any]) -> None:
    """Print how many of all items were listed, and how to list the next ones."""
    total = f" of {found['totalCount']}" if "totalCount" in found else ""
    say(f"{len(found['nodes'])}{total}")
    if found["pageInfo"]["hasNextPage"]:
        say(f"For more: --after {found['pageInfo']['endCursor']}")


def check_page_name(text: str) -> str:
    """Return the name unchanged if it has the form TYPE/SLUG, or raise BadParameter."""
    type, slash, slug = text.partition("/")
    if not slash or not slug or type.lower() not in TYPES:
        raise typer.BadParameter(f"write it as TYPE/SLUG, where TYPE is one of {', '.join(TYPES)}")
    return text


PageName = Annotated[
    str,
    typer.Argument(
        callback=check_page_name, metavar="TYPE/SLUG", help="Type and slug of the page, such as entity/austin-texas."
    ),
]


def page(name: PageName, tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """Show a page as Markdown, with its backlinks and sources."""
    from resolvers.errors import NotFound

    from ..session import run_in_session

    type, _, slug = name.partition("/")

    async def work(database: "Database") -> Any:
        from ..plans import find_page
        from ..session import find_wiki

        return await find_page(database, await find_wiki(database, tenant, owner), type, slug)

    found = run_in_session(work)
    if found is None:
        raise NotFound(f"There is no page {name} in this wiki. Find others with: cairn search")
    if as_json:
        print_json(found)
    else:
        say_page(found)


def read_wiki(tenant: str, owner: str, read: Callable[["Database", "Wiki"], Awaitable[Any]]) -> Any:
    """Return the result of `read` for the wiki."""
    from ..session import find_wiki, run_in_session

    async def work(database: "Database") -> Any:
        return await read(database, await find_wiki(database, tenant, owner))

    return run_in_session(work)


def run_query(document: str, field: str, tenant: str, owner: str, **variables: Any) -> Any:
    """Execute queries/<document>.graphql as a reader and return the value of one root field."""
    return run_query_as("reader", document, field, tenant, owner, variables)


def run_query_as(role: str, document: str, field: str, tenant: str, owner: str, variables: dict[str, Any]) -> Any:
    """Execute queries/<document>.graphql with the rights of a role and return the value of one root field."""
    from ..session import run_in_session

    async def work(database: "Database") -> Any:
        from db.scope import Role

        from ..session import find_wiki, read_stored

        wiki = await find_wiki(database, tenant, owner)
        return await read_stored(database, wiki, document, variables, role=Role(role))

    return run_in_session(work)[field]


def say_page(page: dict[str, Any]) -> None:
    """Print the title of a page, its facts such as tags, links and superseded claims, and its text."""
    from content.claims.claims import ClaimRead, format_superseded

    say(f"# {page['title']}\n")
    facts = {
        "page": format_page_name(page)
        + (f" (redirected from {page['redirectedFrom']})" if page["redirectedFrom"] else ""),
        "summary": page["summary"],
        "status": page["status"].lower() if page["status"] != "ACTIVE" else None,
        "tags": ", ".join(page["tags"]),
        "aliases": ", ".join(page["aliases"]),
        "parent": page["parent"] and format_page_name(page["parent"]),
        "linked from": ", ".join(format_page_name(linking) for linking in page["backlinks"]["nodes"]),
        "sources": ", ".join(source["ref"] for source in page["sources"]["nodes"]),
        "confidence": page["confidence"].lower() if page["sources"]["nodes"] else None,
        "grounding": ", ".join(f"{number} {name}" for name, number in page["grounding"].items() if number),
        "version": f"{page['version']}, {page['updatedAt']}",
    }
    for name, fact in facts.items():
        if fact:
            say(f"{name}: {fact}")
    for claim in page["supersededClaims"]["nodes"]:
        on = datetime.fromisoformat(claim["supersededOn"])
        say(format_superseded(ClaimRead(claim["fact"], claim["replacement"], on)))
    say(f"\n{page['bodyMd']}")


def format_page_name(page: dict[str, Any]) -> str:
    return f"{page['type'].lower()}/{page['slug']}"


ExpectedVersion = Annotated[
    int | None,
    typer.Option("--expect", metavar="N", help="Version that the page must have; the change is refused otherwise."),
]
Summary = Annotated[str | None, typer.Option(metavar="TEXT", help="Summary of the change for the history.")]

Work = Callable[["Database", "Scope", "UUID"], Awaitable[Any]]


def run_on_page(name: str, tenant: str, owner: str, work: Work) -> Any:
    """Run `work` on a page with the rights of a member and return its result."""
    from ..session import find_wiki, run_in_session

    async def run(database: "Database") -> Any:
        from db.scope import Role

        scope = (await find_wiki(database, tenant, owner)).scope(Role.MEMBER)
        return await work(database, scope, await find_page_id(database, scope, name))

    return run_in_session(run)


async def find_page_id(database: "Database", scope: "Scope", name: str) -> "UUID":
    """Return the id of the page TYPE/SLUG, archived or not. Raises NotFound."""
    from resolvers.errors import NotFound
    from resolvers.model.lookup import PageAddress, locate

    type, _, slug = name.partition("/")
    try:
        return await locate(database, scope, PageAddress(type=type.lower(), slug=slug))
    except NotFound:
        raise NotFound(f"There is no page {name} in this wiki. Find others with: cairn search") from None


async def find_page_ids(
    database: "Database", scope: "Scope", names: Sequence[str]
) -> "tuple[dict[str, UUID], dict[str, str]]":
    """Return the ids of the pages that exist, and for each other name the reason why it has no page."""
    from resolvers.errors import BadInput, NotFound

    found: dict[str, UUID] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            found[name] = await find_page_id(database, scope, name)
        except (BadInput, NotFound) as error:
            missing[name] = error.message
    return found, missing


def archive_or_unarchive(names: Sequence[str], tenant: str, owner: str, *, back: bool) -> list[dict[str, Any]]:
    """Archive pages, or unarchive them with `back`. Return the outcome for each page."""
    from ..session import find_wiki, run_in_session

    unique_names = list(dict.fromkeys(map(check_page_name, names)))

    async def run(database: "Database") -> list[dict[str, Any]]:
        from db.scope import Role
        from resolvers.pages.batches import archive_pages, unarchive_pages

        scope = (await find_wiki(database, tenant, owner)).scope(Role.MEMBER)
        found, missing = await find_page_ids(database, scope, unique_names)
        outcomes = await (unarchive_pages if back else archive_pages)(database, scope, list(found.values()))
        names = list(found)
        changed = {names[outcome.position]: outcome.saved is not None and outcome.saved.changed for outcome in outcomes}
        errors = missing | {names[outcome.position]: outcome.error.message for outcome in outcomes if outcome.error}
        return [{"page": name, "changed": changed.get(name, False), "error": errors.get(name)} for name in unique_names]

    return run_in_session(run)


app = typer.Typer(help="Manage links that were derived from sources.", no_args_is_help=True)


def add_links(parent: typer.Typer) -> None:
    parent.add_typer(app, name="links", epilog="Example: cairn links drop --help")


@app.callback()
def group() -> None:
    """Manage links that were derived from sources."""


@app.command("drop", epilog="Example: cairn links drop 'deterministic:city:*' --dry-run --tenant acme --owner mara")
def drop(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="Kind of links, such as deterministic:city:*, co_mention:* or deterministic:*."
        ),
    ],
    tenant: Tenant,
    owner: Owner,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the links without deleting them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete all links of a kind. Links that have another reason as well are kept."""
    from ..session import find_wiki, run_in_session

    async def work(database: "Database") -> "DroppedLinks":
        from db.scope import Role
        from resolvers.links.links import drop_link_kind

        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        return await drop_link_kind(database, scope, kind, dry_run=dry_run)

    dropped = run_in_session(work)
    if as_json:
        print_json({"kind": dropped.kind, "dryRun": dry_run, "links": dropped.links, "deleted": dropped.deleted})
    elif dry_run:
        say(
            f"{dropped.kind} is a reason of {dropped.links} links, and the only one of {dropped.deleted}. "
            "Nothing was changed."
        )
    else:
        say(
            f"Removed the reason {dropped.kind} from {dropped.links} links; {dropped.deleted} had no other "
            "and were deleted."
        )


def add_to(parent: typer.Typer) -> None:
    add_pages(parent)
    add_links(parent)
