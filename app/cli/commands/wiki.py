"""Commands of `cairn wiki` for the upkeep of a wiki: stubs, pages, targets, the map, log, diary and proposals."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import After, AsJson, Limit, Owner, Tenant, TextCommand
from ..output import print_json, print_status, print_table, say
from .edit import Section, merge, rename, text_or_stdin, transfer
from .history import check_source_name, wiki_app
from .jobs import rebuild
from .lint import lint_wiki
from .pages import (
    ExpectedVersion,
    PageName,
    Summary,
    format_page_name,
    page,
    pages,
    parse_page_type,
    run_on_page,
    run_query,
    run_query_as,
)
from .search import search

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope

CitedSource = Annotated[
    str, typer.Option("--source", metavar="KIND/REF", parser=check_source_name, help="Source of the text.")
]
Lines = Annotated[int, typer.Option(metavar="N", min=1, max=200, help="Maximum number of lines.")]


def add_to(parent: typer.Typer) -> None:
    place = "--tenant acme --owner mara"
    note = "--source daily_note/2026-03-02"
    wiki_app.command(
        "stub",
        cls=TextCommand,
        epilog=f"Example: cairn wiki stub entity 'Las Lajas' 'A mill in Costa Rica.' {note} {place}",
    )(stub)
    wiki_app.command(
        "append",
        cls=TextCommand,
        epilog=f"Example: cairn wiki append project/ledger 'MySQL it is.' {note} {place}",
    )(append)
    wiki_app.command("rebuild", epilog=f"Example: cairn wiki rebuild --all {place} --wait")(rebuild)
    wiki_app.command("show", epilog=f"Example: cairn wiki show project/ledger {place}")(page)
    wiki_app.command("list", epilog=f"Example: cairn wiki list --stubs --category concept {place}")(pages)
    wiki_app.command("targets", epilog=f"Example: cairn wiki targets {place} --json")(targets)
    wiki_app.command("status", epilog=f"Example: cairn wiki status {place}")(targets)
    wiki_app.command("merge", epilog=f"Example: cairn wiki merge entity/nyc entity/new-york {place}")(merge)
    wiki_app.command("rename", epilog=f"Example: cairn wiki rename entity/nyc --slug new-york {place}")(rename)
    wiki_app.command("transfer", epilog=f"Example: cairn wiki transfer entity/nyc team {place}")(transfer)
    wiki_app.command("query", cls=TextCommand, epilog=f"Example: cairn wiki query 'small batches' {place}")(search)
    wiki_app.command("lint", epilog=f"Example: cairn wiki lint {place}")(lint_wiki)
    wiki_app.command("knowledge-map", epilog=f"Example: cairn wiki knowledge-map {place}")(map_wiki)
    wiki_app.command("map", epilog=f"Example: cairn wiki map --type concept {place}")(map_wiki)
    wiki_app.command("log", epilog=f"Example: cairn wiki log --limit 20 {place}")(log)
    wiki_app.command("diary", epilog=f"Example: cairn wiki diary --since 2026-03-01 {place}")(diary)
    wiki_app.command("proposals", epilog=f"Example: cairn wiki proposals --status open {place}")(proposals)
    wiki_app.command("decide", epilog=f"Example: cairn wiki decide ID --as decline --reason 'No source.' {place}")(
        decide
    )


def stub(
    type: Annotated[
        str,
        typer.Argument(
            callback=parse_page_type,
            metavar="TYPE",
            help="Type of the page, such as concept. It cannot be changed later.",
        ),
    ],
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Display name.")],
    tenant: Tenant,
    owner: Owner,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="Text of the first section, in Markdown. Use - to read it from stdin.")
    ] = "",
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="KIND/REF", parser=check_source_name, help="Source of the text."),
    ] = None,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Text of the section Why, which a concept needs.")] = "",
    how: Annotated[
        str,
        typer.Option("--how-to-apply", metavar="TEXT", help="Text of the section How to apply, which a concept needs."),
    ] = "",
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Create a stub. It has the sections of its type and one source. Fails if a page of this name exists."""
    from ..session import find_wiki, read_stored, run_in_session

    text = text_or_stdin(text)

    async def work(database: "Database") -> dict[str, Any]:
        from db.scope import Role
        from resolvers.pages.stubs import stub_draft, write_stub

        draft = stub_draft(type, title, text, why=why, how_to_apply=how, edit_summary=summary)
        wiki = await find_wiki(database, tenant, owner)
        saved = await write_stub(database, wiki.scope(Role.MEMBER), draft, source)
        page = (await read_stored(database, wiki, "created", {"id": str(saved.page_id)}))["node"]
        return {"page": format_page_name(page), "id": str(saved.page_id), "version": saved.version}

    result = run_in_session(work)
    if as_json:
        print_json(result)
    else:
        say(f"{result['page']} is now at version {result['version']}.")


def append(
    name: PageName,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text in Markdown. Use - to read it from stdin.")],
    tenant: Tenant,
    owner: Owner,
    source: CitedSource,
    section: Section = None,
    expected_version: ExpectedVersion = None,
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Append a cited paragraph to a page. Without --section, the last section gets it."""
    text = text_or_stdin(text)

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

    result = run_on_page(name, tenant, owner, work)
    if as_json:
        print_json(result)
    else:
        say(f"{name} is now at version {result['version']}.")


def targets(tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """List the wikis that an owner can read. Shows the role, the score boost and the number of pages by type."""
    from ..session import find_wiki, run_in_session

    async def work(database: "Database") -> list[dict[str, Any]]:
        from dataclasses import asdict

        from db.scope import Role
        from resolvers.search.spaces import list_spaces

        scope = (await find_wiki(database, tenant, owner)).scope(Role.MEMBER)
        return [asdict(space) for space in await list_spaces(database, scope)]

    found = run_in_session(work)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            space["slug"],
            space["kind"],
            space["role"],
            space["score_boost"],
            sum(space["pages"].values()),
            format_page_counts(space["pages"]),
        )
        for space in found
    ]
    print_table(["wiki", "kind", "role", "boost", "pages", "by type"], rows)


def format_page_counts(pages: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {type}" for type, count in sorted(pages.items()))


def map_wiki(
    tenant: Tenant,
    owner: Owner,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type", metavar="TYPE", parser=parse_page_type, help="Only pages of this type. Can be repeated."
        ),
    ] = None,
    limit: Lines = 100,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """Print the knowledge map as Markdown. It lists all pages by type, with a summary of each."""
    chosen = [type.upper() for type in types] if types else None
    say_part(run_query("map", "wikiKnowledgeMap", tenant, owner, types=chosen, first=limit, after=after), as_json)


def log(tenant: Tenant, owner: Owner, limit: Lines = 100, after: After = None, as_json: AsJson = False) -> None:
    """Print the activity log as Markdown, newest first."""
    say_part(run_query("log", "wikiActivityLog", tenant, owner, first=limit, after=after), as_json)


def diary(
    tenant: Tenant,
    owner: Owner,
    since: Annotated[
        str | None,
        typer.Option(metavar="DAY", help="First day, such as 2026-01-31. Defaults to a week before the last day."),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="Last day, inclusive. Defaults to today.")] = None,
    zone: Annotated[
        str | None,
        typer.Option("--zone", metavar="NAME", help="Time zone of the days, such as Europe/Berlin. Defaults to UTC."),
    ] = None,
    lines: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Maximum number of entries per day.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Print the diary as Markdown. It tells what happened on each day."""
    found = run_query("diary", "wikiDiary", tenant, owner, since=since, until=until, timeZone=zone, lines=lines)
    if as_json:
        print_json(found)
    else:
        say(found["bodyMd"])


def say_part(part: dict[str, Any], as_json: bool) -> None:
    """Print one part of an overview. The cursor of the next part goes to stderr, because stdout may be a file."""
    if as_json:
        print_json(part)
        return
    say(part["bodyMd"])
    if part["nextCursor"]:
        print_status(f"For more: --after {part['nextCursor']}")


class ProposalStatus(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class Decision(StrEnum):
    """The decisions, repeated here because resolvers.proposals.proposals is slow to import."""

    ACCEPT = "accept"
    DECLINE = "decline"
    WITHDRAW = "withdraw"


def proposals(
    tenant: Tenant,
    owner: Owner,
    status: Annotated[ProposalStatus | None, typer.Option(help="Only entries with this status.")] = None,
    limit: Limit = 20,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List proposals, newest first."""
    variables = {"status": status and status.value.upper(), "limit": limit, "after": after}
    found = run_query_as("member", "proposals", "wikiProposals", tenant, owner, variables)
    if as_json:
        print_json(found)
        return
    for proposal in found["nodes"]:
        page = format_page_name(proposal["page"]) if proposal["page"] else proposal["title"] or ""
        say(
            f"{proposal['id']}  {proposal['status'].lower()}  {proposal['operation']} {page}, "
            f"by {proposal['authorName']}"
        )
        notes = {"why": proposal["why"], "reason": proposal["reason"], "conflicts": ", ".join(proposal["conflicts"])}
        for name, value in notes.items():
            if value:
                say(f"    {name}: {value}")
        if proposal["wordDiff"]:
            say("\n".join(f"    {line}" for line in proposal["wordDiff"].splitlines()))
    if found["pageInfo"]["hasNextPage"]:
        say(f"For older proposals: --after {found['pageInfo']['endCursor']}")


def decide(
    proposals: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Ids of the proposals, as listed by `cairn wiki proposals`.")
    ],
    tenant: Tenant,
    owner: Owner,
    decision: Annotated[Decision, typer.Option("--as", help="Decision for all of these proposals.")] = Decision.ACCEPT,
    reason: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Reason for the author. Required to decline.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Accept, decline or withdraw proposals. Exits with 1 if one of them could not be decided."""
    from uuid import UUID

    from ..session import find_wiki, run_in_session

    try:
        ids = [UUID(proposal) for proposal in proposals]
    except ValueError:
        raise typer.BadParameter("give ids listed by `cairn wiki proposals`", param_hint="ID") from None

    async def work(database: "Database") -> list[dict[str, Any]]:
        from db.scope import Role
        from resolvers.proposals.proposals import Decision as ProposalDecision
        from resolvers.proposals.proposals import decide_proposals

        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        outcomes = await decide_proposals(database, scope, ids, ProposalDecision(decision.value), reason)
        return [
            {
                "id": str(ids[outcome.position]),
                "ok": outcome.error is None,
                "error": outcome.error and outcome.error.message,
            }
            for outcome in outcomes
        ]

    results = run_in_session(work)
    if as_json:
        print_json(results)
    else:
        for outcome in results:
            say(f"{outcome['id']}: {outcome['error'] or 'done'}")
    if not all(outcome["ok"] for outcome in results):
        raise typer.Exit(1)
