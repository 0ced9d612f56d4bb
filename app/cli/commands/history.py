"""Commands for earlier versions of pages, superseded claims and contradictions."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import After, AsJson, Limit, Owner, Tenant, TextCommand, parse_time
from ..output import print_json, print_table, say
from .data.backups import restore_app
from .pages import ExpectedVersion, PageName, Summary, run_on_page, run_query

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope

Version = Annotated[int, typer.Argument(metavar="VERSION", min=1, help="Version number, as listed by `cairn history`.")]


def add_to(parent: typer.Typer) -> None:
    place = "--tenant acme --owner mara"
    parent.command("history", epilog=f"Example: cairn history entity/austin {place}")(history)
    parent.command("diff", epilog=f"Example: cairn diff entity/austin 3 5 {place}")(diff)
    restore_app.command("page", epilog=f"Example: cairn restore entity/austin 3 {place}")(restore)
    parent.add_typer(wiki_app, name="wiki", epilog="Example: cairn wiki supersede --help")


def history(
    name: PageName,
    tenant: Tenant,
    owner: Owner,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Maximum number of versions.")] = 20,
    before: Annotated[
        str | None,
        typer.Option(metavar="CURSOR", help="Cursor printed by the previous call, to continue with older entries."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the versions of a page, newest first."""
    found = query_page("history", name, tenant, owner, first=limit, after=before)["revisions"]
    if as_json:
        print_json(found)
        return
    columns = ["version", "when", "author", "title", "summary"]
    print_table(columns, [row(revision) for revision in found["nodes"]])
    if found["pageInfo"]["hasNextPage"]:
        say(f"For older versions: --before {found['pageInfo']['endCursor']}")


def row(revision: dict[str, Any]) -> tuple[object, ...]:
    author = f"{revision['authorKind'].lower()} {revision['authorName']}"
    return revision["version"], revision["createdAt"], author, revision["title"], revision["editSummary"] or ""


def diff(name: PageName, old: Version, new: Version, tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """Show the changes between two versions of a page. The output is a unified diff."""
    from resolvers.errors import NotFound

    page = query_page("history", name, tenant, owner, first=1, after=None)
    variables = {"pageId": page["id"], "from": old, "to": new}
    found = run_query("diff", "diffWikiRevisions", tenant, owner, **variables)
    if found is None:
        raise NotFound(
            f"{name} has no version {old} or {new}, or retention has removed its text. See: cairn history {name}"
        )
    if as_json:
        print_json(found)
    elif found["unified"]:
        say(found["unified"].removesuffix("\n"))
    if found["isTruncated"] and not as_json:
        say("… The rest of the difference is not shown.")


def restore(
    name: PageName,
    version: Version,
    tenant: Tenant,
    owner: Owner,
    expected_version: ExpectedVersion = None,
    as_json: AsJson = False,
) -> None:
    """Restore an earlier version of a page as a new version."""

    async def work(database: "Database", scope: "Scope", page_id: "UUID") -> dict[str, Any]:
        from resolvers.pages.history import restore_state

        saved = await restore_state(database, scope, page_id, version, expected_version=expected_version)
        return {"version": saved.version, "changed": saved.changed}

    result = run_on_page(name, tenant, owner, work)
    if as_json:
        print_json(result)
    else:
        say(
            f"{name} is now at version {result['version']}."
            if result["changed"]
            else f"{name} already has this content."
        )


def query_page(document: str, name: str, tenant: str, owner: str, **variables: Any) -> Any:
    """Execute queries/<document>.graphql for a page and return the fields of the page. Raises NotFound."""
    from resolvers.errors import NotFound

    type, _, slug = name.partition("/")
    found = run_query(document, "wikiPage", tenant, owner, type=type.upper(), slug=slug, **variables)
    if found is None:
        raise NotFound(f"There is no page {name} in this wiki. Find others with: cairn search")
    return found


wiki_app = typer.Typer(
    help="Maintain a wiki. Commands for stubs, claims, proposals, decisions, the knowledge map, the log and the diary.",
    no_args_is_help=True,
)


class Mode(StrEnum):
    """The modes of rewriting a text, repeated here because resolvers.pages.claims.claims is slow to import."""

    REPLACE = "replace"
    MERGE = "merge"
    APPEND = "append"
    NONE = "none"


@wiki_app.callback()
def group() -> None:
    """Maintain a wiki. Commands for stubs, claims, proposals, decisions, the knowledge map, the log and the diary."""


def check_source_name(text: str) -> str:
    """Return the name of a source unchanged if it has the form KIND/REF, or raise BadParameter."""
    if not all(text.partition("/")):
        raise typer.BadParameter("give it as KIND/REF, like daily_note/2026-03-02")
    return text


@wiki_app.command(
    "supersede",
    cls=TextCommand,
    epilog="Example: cairn wiki supersede topic/menu '- latte' '- flat white' --tenant acme --owner mara",
)
def supersede(
    name: PageName,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Claim that no longer holds, in the words of the page.")],
    replacement: Annotated[str, typer.Argument(metavar="REPLACEMENT", help="Claim that holds now, in Markdown.")],
    tenant: Tenant,
    owner: Owner,
    section: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Slug of the section to change. Defaults to the whole page.")
    ] = None,
    stated_by: Annotated[
        str | None, typer.Option(metavar="KIND/REF", parser=check_source_name, help="Source of the old claim.")
    ] = None,
    overridden_by: Annotated[
        str | None, typer.Option(metavar="KIND/REF", parser=check_source_name, help="Source of the new claim.")
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            parser=parse_time,
            help="Time until which the old claim held, such as 2026-01-31. Defaults to now.",
        ),
    ] = None,
    mode: Annotated[Mode, typer.Option(help="Mode of changing the text.")] = Mode.REPLACE,
    expected_version: ExpectedVersion = None,
    summary: Summary = None,
    as_json: AsJson = False,
) -> None:
    """Supersede a claim on a page. Replaces it by the claim that holds now, and records the old one."""

    async def work(database: "Database", scope: "Scope", page_id: "UUID") -> dict[str, Any]:
        from datetime import datetime

        from resolvers.model.lookup import PageAddress
        from resolvers.pages.claims import claims

        def source(name: str | None) -> claims.SourceRef | None:
            return claims.SourceRef(*name.split("/", 1)) if name else None

        result = await claims.supersede_claim(
            database,
            scope,
            PageAddress(page_id),
            fact=fact,
            replacement=replacement,
            section_slug=section,
            stated_by=source(stated_by),
            overridden_by=source(overridden_by),
            superseded_on=datetime.fromisoformat(on) if on else None,
            mode=claims.Mode(mode.value),
            expected_version=expected_version,
            summary=summary,
        )
        return {"claim": str(result.claim_id), "version": result.saved.version, "changed": result.saved.changed}

    result = run_on_page(name, tenant, owner, work)
    if as_json:
        print_json(result)
    else:
        note = "" if result["changed"] else ", and the claim was already superseded"
        say(f"{name} is now at version {result['version']}{note}.")


class Status(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"


class Resolution(StrEnum):
    """The resolutions, repeated here because resolvers.pages.claims.contradictions is slow to import."""

    KEEP_NEWER = "keep-newer"
    KEEP_OLDER = "keep-older"
    BOTH_HOLD = "both-hold"


@wiki_app.command("contradictions", epilog="Example: cairn wiki contradictions --tenant acme --owner mara")
def contradictions(
    tenant: Tenant,
    owner: Owner,
    status: Annotated[Status | None, typer.Option(help="Only entries with this status.")] = None,
    limit: Limit = 20,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List the contradictions of a wiki, newest first."""
    variables = {"status": status and status.value.upper(), "limit": limit, "after": after}
    found = run_query("contradictions", "wikiContradictions", tenant, owner, **variables)
    if as_json:
        print_json(found)
        return
    columns = ["id", "page", "older", "newer", "status", "decided or suggested"]
    print_table(columns, [contradiction_row(contradiction) for contradiction in found["nodes"]])
    if found["pageInfo"]["hasNextPage"]:
        say(f"For older contradictions: --after {found['pageInfo']['endCursor']}")


def contradiction_row(contradiction: dict[str, Any]) -> tuple[object, ...]:
    page = f"{contradiction['page']['type'].lower()}/{contradiction['page']['slug']}"
    sides = (f"{contradiction[f'{name}Claim']} ({contradiction[f'{name}On'][:10]})" for name in ("older", "newer"))
    resolution = contradiction["resolution"] or contradiction["suggestedResolution"] or ""
    return contradiction["id"], page, *sides, contradiction["status"].lower(), resolution.lower().replace("_", "-")


@wiki_app.command(
    "resolve",
    cls=TextCommand,
    epilog="Example: cairn wiki resolve ID keep-newer 'The landlord confirmed it' --tenant acme --owner mara",
)
def resolve(
    contradiction: Annotated[
        str, typer.Argument(metavar="ID", help="Id of the contradiction, as listed by `cairn wiki contradictions`.")
    ],
    resolution: Annotated[Resolution, typer.Argument(help="Claim to keep. The other one is superseded.")],
    reason: Annotated[str, typer.Argument(metavar="REASON", help="Reason for the decision.")],
    tenant: Tenant,
    owner: Owner,
    as_json: AsJson = False,
) -> None:
    """Decide which of two contradicting claims holds."""
    from uuid import UUID

    from ..session import find_wiki, run_in_session

    try:
        contradiction_id = UUID(contradiction)
    except ValueError:
        raise typer.BadParameter("give an id listed by `cairn wiki contradictions`", param_hint="ID") from None

    async def work(database: "Database") -> dict[str, Any]:
        from db.scope import Role
        from resolvers.pages.claims.contradictions import Resolution, resolve_contradiction

        scope = (await find_wiki(database, tenant, owner)).scope(Role.MEMBER)
        decided = Resolution(resolution.value.replace("-", "_"))
        result = await resolve_contradiction(database, scope, contradiction_id, decided, reason)
        return {
            "id": str(result.id),
            "page": str(result.saved.page_id),
            "claim": result.claim_id and str(result.claim_id),
            "version": result.saved.version,
            "changed": result.saved.changed,
        }

    result = run_in_session(work)
    if as_json:
        print_json(result)
    else:
        say("Resolved the contradiction." if result["changed"] else "The contradiction is already resolved this way.")
