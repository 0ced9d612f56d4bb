"""`cairn search`: search the pages of a wiki, and its sources and other wikis on request."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Owner, Tenant, TextCommand
from ..output import print_json, print_table, say
from .pages import format_page_name, run_query
from .sources import passage_row

if TYPE_CHECKING:
    from db.database import Database

PASSAGES_SHOWN = 3  # passages of sources that are shown if no page is found


class Searched(StrEnum):
    """The kinds of content that can be searched, repeated here because the contract is slow to import."""

    PAGES = "pages"
    SOURCES = "sources"


def add_to(parent: typer.Typer) -> None:
    example = "Example: cairn search 'austin water' --tenant acme --owner mara"
    parent.command("search", cls=TextCommand, epilog=example)(search)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Search query.")],
    tenant: Tenant,
    owner: Owner,
    kinds: Annotated[
        list[Searched] | None, typer.Option("--in", help="Search pages, sources, or both in one list.")
    ] = None,
    spaces: Annotated[
        list[str] | None,
        typer.Option("--space", metavar="SLUG", help="Search the wiki of this owner. Can be repeated."),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=50, help="Maximum number of results.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Search a wiki.

    \b
    QUERY consists of words and of these operators:
      "two words"         pages that contain this phrase
      -word -"a phrase"   pages that do not contain it
      type:topic          pages of this type; if repeated, of any of these types
      tag:food            pages with this tag; if repeated, with all of these tags
      status:archived     archived pages; status:any for all pages, status:active is the default
      updated:>2026-01    pages changed after a year, a month or a day; also with >= < <=
      in:title            match words in titles and aliases only
      owner:slug          pages of this owner's wiki

    \b
    With --in or --space, pages and passages of sources are listed together. With --in but without --space, the shared
    spaces that the owner can read are searched as well.
    """
    from ..session import run_in_session

    if kinds or spaces:
        variables = {"in": [kind.upper() for kind in kinds] if kinds else None, "spaces": spaces or None}
        results = run_query("search_all", "wikiSearchAll", tenant, owner, query=query, limit=limit, **variables)
        print_json(results) if as_json else say_mixed(results)
        return

    async def work(database: "Database") -> Any:
        from ..plans import find_results
        from ..session import find_wiki

        return await find_results(database, await find_wiki(database, tenant, owner), query, limit)

    found = run_in_session(work)
    if as_json:
        print_json(found)
    elif found["edges"]:
        say_results(found)
    else:
        say_without_pages(query, tenant, owner, found)


def say_without_pages(query: str, tenant: str, owner: str, found: dict[str, Any]) -> None:
    """Print the other matches if no page matches: names without a page, with what a page needs, and passages."""
    mentions, suggestion = found["heldNames"], found["didYouMean"]
    evidence = run_query("source_search", "wikiSearchSources", tenant, owner, query=query, limit=PASSAGES_SHOWN)[
        "edges"
    ]
    if suggestion:
        say(f"Did you mean: {suggestion}")
    if not mentions and not evidence:
        say("No results.")
        return
    say("No pages found.")
    for mention in mentions:
        say(f"Name without a page: {mention['name']} ({mention['evidence']:g} of 3): {mention['missing']}.")
    if evidence:
        print_table(["score", "source", "lines", "passage"], [passage_row(edge) for edge in evidence])
        say("Search for more sources with: cairn sources search")


def say_results(found: dict[str, Any]) -> None:
    if found["didYouMean"]:
        say(f"Did you mean: {found['didYouMean']}")
    print_table(["score", "page", "passage"], [row(edge) for edge in found["edges"]])
    at_least = "" if found["totalIsExact"] else "at least "
    say(f"{len(found['edges'])} of {at_least}{found['totalCount']}")


def row(edge: dict[str, Any]) -> tuple[str, str, str]:
    """Return the cells of a result. A page that was found by its name alone has its summary in place of a passage."""
    page, section, snippet = edge["node"], edge["section"], edge["snippet"]
    heading = f"{section['heading']}: " if section and section["heading"] else ""
    return (
        f"{edge['score']:.2f}",
        format_page_name(page),
        f"{heading}{snippet['text']}" if snippet else page["summary"] or "",
    )


def say_mixed(found: dict[str, Any]) -> None:
    if found["didYouMean"]:
        say(f"Did you mean: {found['didYouMean']}")
    if not found["edges"]:
        say("No results.")
        return
    print_table(["score", "space", "found", "passage"], [mixed_row(edge) for edge in found["edges"]])


def mixed_row(edge: dict[str, Any]) -> tuple[str, str, str, str]:
    if page := edge["page"]:
        return f"{edge['score']:.2f}", edge["owner"]["slug"], *row({**edge, "node": page})[1:]
    passage, source = edge["passage"], edge["passage"]["source"]
    name = f"{source['kind'].lower()}/{source['ref']}:{passage['lineStart']}"
    return f"{edge['score']:.2f}", edge["owner"]["slug"], name, passage["text"]
