"""`cairn page`, and how commands read: by the same GraphQL that everybody else reads by."""

from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show

if TYPE_CHECKING:
    from db.database import Database

TYPES = (
    "entity", "topic", "decision", "concept", "project", "reference", "theme", "context", "standard", "product",
    "source",
)  # fmt: skip


def add_to(parent: typer.Typer) -> None:
    parent.command("page", epilog="Example: cairn page entity/austin-texas --tenant acme --owner mara")(page)


def page_name(text: str) -> str:
    """TYPE/SLUG, or an error that says so."""
    type, slash, slug = text.partition("/")
    if not slash or not slug or type.lower() not in TYPES:
        raise typer.BadParameter(f"write it as TYPE/SLUG, where TYPE is one of {', '.join(TYPES)}")
    return text


def page(
    name: Annotated[str, typer.Argument(callback=page_name, metavar="TYPE/SLUG", help="Like entity/austin-texas.")],
    tenant: Tenant,
    owner: Owner,
    as_json: AsJson = False,
) -> None:
    """Show a page as markdown, with what links to it."""
    from resolvers.errors import NotFound

    type, _, slug = name.partition("/")
    found = ask("page", "wikiPage", tenant, owner, type=type.upper(), slug=slug)
    if found is None:
        raise NotFound(f"There is no page {name} in this wiki. Find others with: cairn search")
    if as_json:
        show(found)
    else:
        say_page(found)


def ask(document: str, field: str, tenant: str, owner: str, **variables: Any) -> Any:
    """What one root field of the stored document answers."""
    from .session import session

    async def work(database: "Database") -> Any:
        from .answers import answered
        from .wikis import find_wiki

        return await answered(database, await find_wiki(database, tenant, owner), stored(document), variables)

    return session(work)[field]


def stored(document: str) -> str:
    """The text of a stored document."""
    return files("app.cli").joinpath(f"queries/{document}.graphql").read_text(encoding="utf-8")


def say_page(page: dict[str, Any]) -> None:
    """The head of the page, its text, and where it stands among others."""
    say(f"# {page['title']}\n")
    facts = {
        "page": named(page) + (f" (was {page['redirectedFrom']})" if page["redirectedFrom"] else ""),
        "summary": page["summary"],
        "status": page["status"].lower() if page["status"] != "ACTIVE" else None,
        "tags": ", ".join(page["tags"]),
        "aliases": ", ".join(page["aliases"]),
        "parent": page["parent"] and named(page["parent"]),
        "linked from": ", ".join(named(linking) for linking in page["backlinks"]["nodes"]),
        "sources": ", ".join(source["ref"] for source in page["sources"]["nodes"]),
        "version": f"{page['version']}, {page['updatedAt']}",
    }
    for name, fact in facts.items():
        if fact:
            say(f"{name}: {fact}")
    say(f"\n{page['bodyMd']}")


def named(page: dict[str, Any]) -> str:
    return f"{page['type'].lower()}/{page['slug']}"
