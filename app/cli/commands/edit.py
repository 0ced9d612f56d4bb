"""Commands that create and change pages."""

from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Owner, Tenant, TextCommand
from ..output import print_json, say
from .pages import ExpectedVersion, PageName, Summary, find_page_id, format_page_name, parse_page_type, run_on_page

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope

STDIN = "-"
Section = Annotated[
    str | None,
    typer.Option("--section", metavar="SLUG", help="Slug of the section to change. Defaults to the whole page."),
]


def add_editing(parent: typer.Typer) -> None:
    place = "--tenant acme --owner mara"
    parent.command("edit", cls=TextCommand, epilog=f"Example: cairn edit topic/menu '- latte' '- flat white' {place}")(
        edit
    )
    parent.command("append", cls=TextCommand, epilog=f"Example: cairn append entity/austin '- Bats' {place}")(append)
    parent.command("rename", epilog=f"Example: cairn rename topic/atx --title Austin --slug austin {place}")(rename)
    parent.command("merge", epilog=f"Example: cairn merge topic/atx topic/austin {place}")(merge)
    parent.command("transfer", epilog=f"Example: cairn transfer topic/austin team {place}")(transfer)
    parent.command("archive", epilog=f"Example: cairn archive topic/atx topic/old {place}")(archive)


def text_or_stdin(text: str) -> str:
    """Return the argument, or the content of stdin if the argument is `-`."""
    from ..output import read_stdin

    return read_stdin() if text == STDIN else text


def edit(
    name: PageName,
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD", help="Text to replace. Differences in whitespace are ignored. Use - to read it from stdin."
        ),
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="Replacement text. Use '' to remove the old text, or - to read it from stdin."
        ),
    ],
    tenant: Tenant,
    owner: Owner,
    section: Section = None,
    replace_all: Annotated[bool, typer.Option("--all", help="Replace all occurrences.")] = False,
    expected_version: ExpectedVersion = None,
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Replace text on a page. Fails if the text is missing or occurs more than once."""
    if old == new == STDIN:
        raise typer.BadParameter("only one of OLD and NEW can be read from stdin", param_hint="NEW")
    old, new = text_or_stdin(old), text_or_stdin(new)

    async def work(database: "Database", scope: "Scope", page_id: "UUID") -> dict[str, Any]:
        from resolvers.model.lookup import PageAddress
        from resolvers.pages.edits import edit_page

        result = await edit_page(
            database,
            scope,
            PageAddress(page_id),
            old_text=old,
            new_text=new,
            replace_all=replace_all,
            section_slug=section,
            expected_version=expected_version,
            summary=summary,
        )
        found = result.edited
        return {
            "version": result.saved.version,
            "changed": result.saved.changed,
            "note": result.note,
            "matchedBy": found and found.matched_by,
            "lines": list(found.lines) if found else [],
        }

    result = run_on_page(name, tenant, owner, work)
    if as_json:
        print_json(result)
    else:
        lines = ", ".join(map(str, result["lines"]))
        say(
            result["note"]
            or f"{name} is now at version {result['version']}. Edited line {lines}; match: {result['matchedBy']}."
        )


def append(
    name: PageName,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text in Markdown. Use - to read it from stdin.")],
    tenant: Tenant,
    owner: Owner,
    section: Section = None,
    next_line: Annotated[
        bool, typer.Option("--next-line", help="Start on the next line, without a blank line before the text.")
    ] = False,
    expected_version: ExpectedVersion = None,
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Append text to a page or to one of its sections."""
    text = text_or_stdin(text)

    async def work(database: "Database", scope: "Scope", page_id: "UUID") -> dict[str, Any]:
        from resolvers.model.lookup import PageAddress
        from resolvers.pages.edits import append_to_page

        result = await append_to_page(
            database,
            scope,
            PageAddress(page_id),
            text=text,
            section_slug=section,
            as_paragraph=not next_line,
            expected_version=expected_version,
            summary=summary,
        )
        return {"version": result.saved.version, "changed": result.saved.changed}

    result = run_on_page(name, tenant, owner, work)
    if as_json:
        print_json(result)
    else:
        say(f"{name} is now at version {result['version']}.")


def rename(
    name: PageName,
    tenant: Tenant,
    owner: Owner,
    title: Annotated[str | None, typer.Option(metavar="TITLE", help="New title. The old one becomes an alias.")] = None,
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="New slug. The old one still resolves to the page.")
    ] = None,
    expected_version: ExpectedVersion = None,
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Rename a page and update the links to it on other pages."""

    async def work(database: "Database", scope: "Scope", page_id: "UUID") -> dict[str, Any]:
        from resolvers.pages.renaming import rename_page
        from resolvers.validation import UNSET

        result = await rename_page(
            database,
            scope,
            page_id,
            title=UNSET if title is None else title,
            slug=UNSET if slug is None else slug,
            expected_version=expected_version,
            summary=summary,
            time_limit=inf,
        )
        counts = {"pagesRewritten": len(result.rewritten), "pagesLeft": result.left}
        return {"version": result.saved.version, "changed": result.saved.changed, **counts}

    if title is None and slug is None:
        raise typer.BadParameter("give --title, --slug, or both")
    result = run_on_page(name, tenant, owner, work)
    if as_json:
        print_json(result)
    else:
        left = f" The service updates {result['pagesLeft']} more." if result["pagesLeft"] else ""
        say(
            f"Renamed, now at version {result['version']}. "
            f"Links in {result['pagesRewritten']} pages were updated.{left}"
        )


def merge(
    gone: Annotated[list[str], typer.Argument(metavar="TYPE/SLUG…", help="Pages to merge, 20 at most.")],
    into: PageName,
    tenant: Tenant,
    owner: Owner,
    expected_version: ExpectedVersion = None,
    as_json: AsJson = False,
) -> None:
    """Merge pages into the last one, whose type stays. The merged pages are archived."""
    from .pages import check_page_name

    gone = [check_page_name(name) for name in gone]

    async def work(database: "Database", scope: "Scope", page_id: "UUID") -> dict[str, Any]:
        from resolvers.pages.merging import merge_many

        from .pages import find_page_id

        from_ids = [await find_page_id(database, scope, name) for name in gone]
        saved = await merge_many(database, scope, from_ids, page_id, expected_version=expected_version)
        return {"version": saved.version}

    result = run_on_page(into, tenant, owner, work)
    if as_json:
        print_json(result)
    else:
        redirect = f"{', '.join(gone)} redirect" if len(gone) > 1 else f"{gone[0]} redirects"
        say(f"{into} is now at version {result['version']}. {redirect} to it.")


def transfer(
    name: PageName,
    to: Annotated[str, typer.Argument(metavar="OWNER", help="Slug or id of the new owner.")],
    tenant: Tenant,
    owner: Owner,
    expected_version: ExpectedVersion = None,
    as_json: AsJson = False,
) -> None:
    """Move a page to another wiki of the tenant. Its history and its sources go with it."""

    async def work(database: "Database", scope: "Scope", page_id: "UUID") -> dict[str, Any]:
        from resolvers.pages.transferring import transfer_page

        saved = await transfer_page(database, scope, page_id, to, expected_version=expected_version)
        return {"pageId": str(saved.page_id), "version": saved.version}

    result = run_on_page(name, tenant, owner, work)
    if as_json:
        print_json(result)
    else:
        say(f"Moved {name} to the wiki of {to}, at version {result['version']}.")


def archive(
    names: Annotated[list[str], typer.Argument(metavar="TYPE/SLUG…", help="Pages to archive, 100 at most.")],
    tenant: Tenant,
    owner: Owner,
    back: Annotated[bool, typer.Option("--back", help="Unarchive the pages instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Archive pages with their sections, aliases and links. Exits with 1 if a page could not be archived."""
    from .pages import archive_or_unarchive

    outcomes = archive_or_unarchive(names, tenant, owner, back=back)
    if as_json:
        print_json(outcomes)
    else:
        for outcome in outcomes:
            state = "restored" if back else "archived"
            say(f"{outcome['page']}: {outcome['error'] or (state if outcome['changed'] else f'already {state}')}")
    if any(outcome["error"] for outcome in outcomes):
        raise typer.Exit(1)


if TYPE_CHECKING:
    from db.database import Database


def add_creating(parent: typer.Typer) -> None:
    text = "'A park in [[austin]].' --tag park"
    parent.command(
        "create",
        cls=TextCommand,
        epilog=f"Example: cairn create entity 'Zilker Park' {text} --tenant acme --owner mara",
    )(create)


def create(
    type: Annotated[
        str,
        typer.Argument(
            callback=parse_page_type,
            metavar="TYPE",
            help="Type of the page, such as entity. It cannot be changed later.",
        ),
    ],
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Display name.")],
    tenant: Tenant,
    owner: Owner,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT", help="Text in Markdown. Use - to read it from stdin. Defaults to the headings of the type."
        ),
    ] = None,
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Slug of the page. Defaults to one made from the title.")
    ] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag of the page. Can be repeated.")
    ] = None,
    related: Annotated[
        list[str] | None, typer.Option(metavar="SLUG", help="Slug of a related page. Can be repeated.")
    ] = None,
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Create a page. If its slug is taken, a number is added to it."""
    from ..session import find_wiki, read_stored, run_in_session

    body = text and text_or_stdin(text)

    async def work(database: "Database") -> dict[str, Any]:
        from db.scope import Role
        from resolvers.model.drafts import PageDraft
        from resolvers.pages.lifecycle import create_page

        draft = PageDraft(type, title, slug, body=body, tags=tags, related=related or (), edit_summary=summary)
        wiki = await find_wiki(database, tenant, owner)
        saved = await create_page(database, wiki.scope(Role.MEMBER), draft)
        page = (await read_stored(database, wiki, "created", {"id": str(saved.page_id)}))["node"]
        return {"page": format_page_name(page), "id": str(saved.page_id), "version": saved.version}

    result = run_in_session(work)
    if as_json:
        print_json(result)
    else:
        say(f"{result['page']} is now at version {result['version']}.")


if TYPE_CHECKING:
    from db.database import Database
    from resolvers.model.pages import Saved


def add_promotions(parent: typer.Typer) -> None:
    parent.command("suppress", epilog="Example: cairn suppress topic/austin activities --tenant acme --owner mara")(
        suppress
    )


def suppress(
    name: PageName,
    section: Annotated[str, typer.Argument(metavar="SECTION", help="Slug of the section.")],
    tenant: Tenant,
    owner: Owner,
    lift: Annotated[bool, typer.Option("--lift", help="Allow the promotion again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Prevent the promotion of a rollup section to a page."""
    from ..session import find_wiki, run_in_session

    async def work(database: "Database") -> "Saved":
        from db.scope import Role
        from resolvers.pages.sections import suppress_promotion

        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        page_id = await find_page_id(database, scope, name)
        return await suppress_promotion(database, scope, page_id, section, suppressed=not lift)

    result = run_in_session(work)
    if as_json:
        print_json({"page": name, "section": section, "suppressed": not lift, "changed": result.changed})
    else:
        say(f"The section {section} of {name} {'can' if lift else 'will not'} be promoted to a page.")


def add_to(parent: typer.Typer) -> None:
    add_editing(parent)
    add_creating(parent)
    add_promotions(parent)
