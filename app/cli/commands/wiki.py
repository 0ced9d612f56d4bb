"""`cairn wiki stub`, `append`, `rebuild`, `map`, `log`: upkeep of a wiki, beside `cairn wiki supersede`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Owner, Tenant
from ..output import say, show, tell
from .edit import Section, given, page_type
from .history import source_name, wiki_app
from .jobs import rebuild
from .pages import ExpectedVersion, PageName, Summary, ask, named, on_page, one_type

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope

MARKDOWN = {"ignore_unknown_options": True}  # a text may begin like an option: `- a list`
Cited = Annotated[
    str, typer.Option("--source", metavar="KIND/REF", parser=source_name, help="The source that says so.")
]
Lines = Annotated[int, typer.Option(metavar="N", min=1, max=200, help="How many lines of it at most.")]
Beyond = Annotated[str | None, typer.Option("--after", metavar="CURSOR", help="What follows this cursor.")]


def add_to(parent: typer.Typer) -> None:
    place = "--tenant acme --owner mara"
    note = "--source daily_note/2026-03-02"
    wiki_app.command(
        "stub",
        context_settings=MARKDOWN,
        epilog=f"Example: cairn wiki stub concept 'Small batches' 'Roast 5 kg at most.' {note} {place}",
    )(stub)
    wiki_app.command(
        "append",
        context_settings=MARKDOWN,
        epilog=f"Example: cairn wiki append project/ledger 'MySQL it is.' {note} {place}",
    )(append)
    wiki_app.command("rebuild", epilog=f"Example: cairn wiki rebuild --all {place} --wait")(rebuild)
    wiki_app.command("map", epilog=f"Example: cairn wiki map --type concept {place}")(map_wiki)
    wiki_app.command("log", epilog=f"Example: cairn wiki log --limit 20 {place}")(log)


def stub(
    type: Annotated[str, typer.Argument(callback=page_type, metavar="TYPE", help="Like concept. It never changes.")],
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Its name for people.")],
    tenant: Tenant,
    owner: Owner,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="Markdown for the first section of its type. - for stdin.")
    ] = "",
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="KIND/REF", parser=source_name, help="The source that says so."),
    ] = None,
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Make a page with the sections of its type and one source. Refused where a page is called so already."""
    from ..session import find_wiki, read_stored, session

    text = given(text)

    async def work(database: "Database") -> dict[str, Any]:
        from content.templates import TEMPLATES
        from db.scope import Role
        from resolvers.model.drafts import PageDraft, SectionDraft
        from resolvers.pages.stubs import write_stub

        first, *others = TEMPLATES[type]
        sections = [SectionDraft(text, *first), *(SectionDraft("", *other) for other in others)]
        wiki = await find_wiki(database, tenant, owner)
        draft = PageDraft(type, title, sections=sections, edit_summary=summary)
        saved = await write_stub(database, wiki.scope(Role.MEMBER), draft, source)
        page = (await read_stored(database, wiki, "created", {"id": str(saved.page_id)}))["node"]
        return {"page": named(page), "id": str(saved.page_id), "version": saved.version}

    done = session(work)
    if as_json:
        show(done)
    else:
        say(f"{done['page']} is at version {done['version']}.")


def append(
    name: PageName,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Markdown. - for stdin.")],
    tenant: Tenant,
    owner: Owner,
    source: Cited,
    section: Section = None,
    expected_version: ExpectedVersion = None,
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Append a paragraph to a page, in its last section unless one is named, and cite the source there."""
    text = given(text)

    async def work(database: "Database", scope: "Scope", page_id: "UUID") -> dict[str, Any]:
        from resolvers.model.lookup import PageAddress
        from resolvers.pages.stubs import append_cited

        saved = await append_cited(
            database,
            scope,
            PageAddress(page_id),
            text=text,
            source=source,
            section_slug=section,
            expected_version=expected_version,
            summary=summary,
        )
        return {"version": saved.version, "changed": saved.changed}

    done = on_page(name, tenant, owner, work)
    if as_json:
        show(done)
    else:
        say(f"{name} is at version {done['version']}.")


def map_wiki(
    tenant: Tenant,
    owner: Owner,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", parser=one_type, help="Only of this type; several are possible."),
    ] = None,
    limit: Lines = 100,
    after: Beyond = None,
    as_json: AsJson = False,
) -> None:
    """Print the knowledge map as markdown: pages by type, as links with a sentence each, stubs marked."""
    chosen = [one.upper() for one in types] if types else None
    say_part(ask("map", "wikiKnowledgeMap", tenant, owner, types=chosen, first=limit, after=after), as_json)


def log(tenant: Tenant, owner: Owner, limit: Lines = 100, after: Beyond = None, as_json: AsJson = False) -> None:
    """Print the activity log as markdown: what was done, when and by whom, the newest first."""
    say_part(ask("log", "wikiActivityLog", tenant, owner, first=limit, after=after), as_json)


def say_part(part: dict[str, Any], as_json: bool) -> None:
    """Print a part of an overview. How it goes on is said on stderr, as stdout may be a file."""
    if as_json:
        show(part)
        return
    say(part["bodyMd"])
    if part["nextCursor"]:
        tell(f"More: --after {part['nextCursor']}")
