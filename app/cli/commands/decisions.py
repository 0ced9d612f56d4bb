"""`cairn wiki decision` and `cairn wiki questions`: request, record and list decisions."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import After, AsJson, Limit, Owner, Tenant, TextCommand
from ..output import print_json, say
from .history import wiki_app
from .pages import format_page_name, run_query_as

if TYPE_CHECKING:
    from db.database import Database


class Significance(StrEnum):
    """The levels, repeated here because resolvers.proposals.gate is slow to import."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Status(StrEnum):
    OPEN = "open"
    DECIDED = "decided"
    WITHDRAWN = "withdrawn"


def add_to(parent: typer.Typer) -> None:
    place = "--tenant acme --owner mara"
    wiki_app.command(
        "decision",
        cls=TextCommand,
        epilog=f"Example: cairn wiki decision 'Which database?' --why 'Writes are slow.' --decision MySQL {place}",
    )(decision)
    wiki_app.command("questions", epilog=f"Example: cairn wiki questions --status open {place}")(questions)


def decision(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Question, or the id of an open one.")],
    tenant: Tenant,
    owner: Owner,
    decided: Annotated[
        str | None, typer.Option("--decision", metavar="TEXT", help="Decision. Without it, the question stays open.")
    ] = None,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Withdraw an open question. Use --why to give the reason.")
    ] = False,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Reason why the question matters.")] = "",
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="TEXT", help="Option that was considered. Can be repeated."),
    ] = None,
    consequences: Annotated[str, typer.Option(metavar="TEXT", help="Consequences of the decision.")] = "",
    significance: Annotated[Significance, typer.Option(help="Significance of the decision.")] = Significance.MEDIUM,
    supersedes: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Slug of the decision that this one replaces.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Record a decision, or ask for one. Decisions become pages; minor ones are only logged."""
    from resolvers.tenants.tenants import as_id

    from ..session import find_wiki, run_in_session

    question_id = as_id(question)
    if withdraw and (question_id is None or decided is not None):
        raise typer.BadParameter("give the id of an open question, without --decision", param_hint="--withdraw")
    if question_id and not withdraw and decided is None:
        raise typer.BadParameter("give the decision", param_hint="--decision")
    if decided is None and (consequences or supersedes):
        raise typer.BadParameter("--consequences and --supersedes need --decision", param_hint="--decision")
    if question_id and (options or (why and not withdraw)):
        raise typer.BadParameter("--why and --option belong to a new question, and this is the id of an open one")

    async def work(database: "Database") -> dict[str, Any]:
        from db.scope import Role
        from resolvers.model.lookup import locate_slug
        from resolvers.pages.claims.decisions import (
            DecisionDraft,
            QuestionDraft,
            ask_decision,
            record_decision,
            withdraw_question,
        )

        scope = (await find_wiki(database, tenant, owner)).scope(Role.MEMBER)
        draft = None if question_id else QuestionDraft(question, why, tuple(options or ()), significance.value)
        if question_id and withdraw:
            await withdraw_question(database, scope, question_id, why or None)
            return {"questionId": str(question_id), "pageId": None}
        if decided is None:
            assert draft is not None
            return {"questionId": str(await ask_decision(database, scope, draft)), "pageId": None}
        old = (await locate_slug(database, scope, supersedes, "decision")).page_id if supersedes else None
        result = await record_decision(database, scope, DecisionDraft(decided, consequences, draft, question_id, old))
        return {
            "questionId": result.question_id and str(result.question_id),
            "pageId": result.page_id and str(result.page_id),
        }

    result = run_in_session(work)
    if as_json:
        print_json(result)
    elif withdraw:
        say(f"The question {result['questionId']} was withdrawn.")
    elif decided is None:
        say(f"The question {result['questionId']} is open.")
    else:
        say(
            f"Recorded as the page {result['pageId']}."
            if result["pageId"]
            else "Recorded in the log. Its significance is too low for a page."
        )


def questions(
    tenant: Tenant,
    owner: Owner,
    status: Annotated[Status | None, typer.Option(help="Only entries with this status.")] = None,
    limit: Limit = 20,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List questions with their decisions, newest first."""
    variables = {"status": status and status.value.upper(), "limit": limit, "after": after}
    found = run_query_as("reader", "questions", "wikiDecisionQuestions", tenant, owner, variables)
    if as_json:
        print_json(found)
        return
    for entry in found["nodes"]:
        say(f"{entry['id']}  {entry['status'].lower()}  {entry['question']} ({entry['significance'].lower()})")
        for option in entry["options"]:
            say(f"    - {option}")
        if entry["reason"]:
            say(f"    withdrawn: {entry['reason']}")
        if entry["decision"]:
            say(f"    decided: {entry['decision']}{' in ' + format_page_name(entry['page']) if entry['page'] else ''}")
    if found["pageInfo"]["hasNextPage"]:
        say(f"For older questions: --after {found['pageInfo']['endCursor']}")
