"""`cairn create`: a page made from a terminal."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .editing import given
from .options import AsJson, Owner, Tenant
from .output import say, show
from .pages import Summary
from .reading import TYPES, named, stored

if TYPE_CHECKING:
    from db.database import Database


def add_to(parent: typer.Typer) -> None:
    text = "'A park in [[austin]].' --tag park"
    parent.command(
        "create",
        context_settings={"ignore_unknown_options": True},  # a text may begin like an option: `- a list`
        epilog=f"Example: cairn create entity 'Zilker Park' {text} --tenant acme --owner mara",
    )(create)


def page_type(text: str) -> str:
    if text.lower() not in TYPES:
        raise typer.BadParameter(f"give one of {', '.join(TYPES)}")
    return text.lower()


def create(
    type: Annotated[str, typer.Argument(callback=page_type, metavar="TYPE", help="Like entity. It never changes.")],
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Its name for people.")],
    tenant: Tenant,
    owner: Owner,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="Markdown. - for stdin; else the headings of its type.")
    ] = None,
    slug: Annotated[str | None, typer.Option(metavar="SLUG", help="Its name in links; else from the title.")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; several are possible.")] = None,
    related: Annotated[
        list[str] | None, typer.Option(metavar="SLUG", help="A page that it is related to; several are possible.")
    ] = None,
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Make a page. A title that another page has gets a number into its slug."""
    from .session import session
    from .wikis import find_wiki

    body = text and given(text)

    async def work(database: "Database") -> dict[str, Any]:
        from db.scope import Role
        from resolvers.model.drafts import PageDraft
        from resolvers.pages.lifecycle import create_page

        from .answers import answered

        draft = PageDraft(type, title, slug, body=body, tags=tags, related=related or (), edit_summary=summary)
        wiki = await find_wiki(database, tenant, owner)
        saved = await create_page(database, wiki.scope(Role.MEMBER), draft)
        page = (await answered(database, wiki, stored("created"), {"id": str(saved.page_id)}))["node"]
        return {"page": named(page), "id": str(saved.page_id), "version": saved.version}

    done = session(work)
    if as_json:
        show(done)
    else:
        say(f"{done['page']} is at version {done['version']}.")
