"""`cairn explain`: print the SQL of a GraphQL query, its cost, and the plan of Postgres."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Owner, Tenant
from ..output import print_json, say
from .admin.keys import Role, RoleOption

if TYPE_CHECKING:
    from db.database import Database

    from ...explain import Explained

STDIN = "-"


def add_to(parent: typer.Typer) -> None:
    example = "Example: cairn explain page.graphql --variables @page.json --tenant acme --owner mara"
    parent.command("explain", epilog=example)(explain)


def explain(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File with a GraphQL document. Use - to read it from stdin.")
    ],
    tenant: Tenant,
    owner: Owner,
    variables: Annotated[
        str,
        typer.Option(
            metavar="JSON", help="Variables as JSON, @FILE, or - for stdin. tenantId and ownerId are set for you."
        ),
    ] = "{}",
    operation: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the operation, if the document has several.")
    ] = None,
    analyze: Annotated[
        bool,
        typer.Option("--analyze", help="Execute the query read-only, roll it back, and show times and buffers."),
    ] = False,
    role: RoleOption = Role.READER,
    as_json: AsJson = False,
) -> None:
    """Show the SQL and the query plan of a GraphQL query. Also shows its cost and its parameters.

    The query is executed only with --analyze. The plan is the generic one that the server uses for all values.

    \b
    cairn explain page.graphql --variables '{"slug": "austin-texas"}'
    cairn explain page.graphql --variables @page.json --analyze
    echo '{ wikiTags { nodes { tag } } }' | cairn explain - --json
    """
    from ..session import run_in_session

    if file == variables == STDIN:
        raise typer.BadParameter("only one of FILE and --variables can be read from stdin")
    text = read_text(file)
    parsed = read_variables(variables)

    async def work(database: "Database") -> "tuple[Explained, int]":
        from graphql import GraphQLError

        from db.scope import Role as ScopeRole
        from schema.root import make_engine
        from selection.execute.operation import Invalid

        from ...explain import ExplainRequest, analyze_operation, estimate_operation, not_explained
        from ...http.request import document_limits
        from ..options import read_settings
        from ..session import find_wiki

        settings = read_settings()
        wiki = await find_wiki(database, tenant, owner)
        scope = wiki.scope(ScopeRole(role))
        engine = make_engine(document_limits(settings))
        where = {"tenantId": str(wiki.tenant.id), "ownerId": str(wiki.owner.id)}
        request = ExplainRequest(text, where | parsed, operation)
        options = ["FORMAT JSON"] if as_json else []
        try:
            if analyze:
                found = await analyze_operation(database, scope, engine, request, options, settings.max_cost)
            else:
                found = await estimate_operation(database, scope, engine, request, options)
        except (Invalid, GraphQLError) as error:
            errors = error.errors if isinstance(error, Invalid) else [error]
            raise not_explained(errors, "stdin" if file == STDIN else file) from None
        return found, settings.max_cost

    found, limit = run_in_session(work)
    if as_json:
        print_json(explained_to_dict(found, limit))
    else:
        for line in format_explained(found, limit):
            say(line)


def read_text(file: str) -> str:
    from ...documents.folder import text_of
    from ..output import read_stdin

    return read_stdin() if file == STDIN else text_of(Path(file))


def read_variables(value: str) -> dict[str, Any]:
    """Parse variables given as JSON, as @FILE, or as `-` for stdin. Raises BadInput."""
    import orjson

    from resolvers.errors import BadInput

    text = read_text(value.removeprefix("@")) if value == STDIN or value.startswith("@") else value
    try:
        found = orjson.loads(text)
    except ValueError as error:
        raise BadInput(f"The variables are not JSON: {error}.", "variables") from None
    if not isinstance(found, dict):
        raise BadInput('The variables must be a JSON object, like {"slug": "austin-texas"}.', "variables")
    return found


def explained_to_dict(explained: "Explained", limit: int) -> dict[str, Any]:
    explanation, planned, sent = explained
    return {
        "operation": explanation.operation,
        "cost": {"requested": explanation.cost, "limit": limit},
        "statementsSent": sent,
        "statements": [
            {
                "field": statement.field,
                "sql": statement.text,
                "parameters": [
                    {"number": number, "source": parameter.source, "value": parameter.value}
                    for number, parameter in enumerate(statement.parameters, 1)
                ],
                "planning": statement.planning,
                "hasSteps": statement.has_steps,
                "plan": plan,
            }
            for statement, plan in planned
        ],
    }


def format_explained(explained: "Explained", limit: int) -> Iterator[str]:
    """Yield the lines of the output: the cost, then for each statement its comments, its SQL and its plan."""
    explanation, planned, sent = explained
    yield f"-- {explanation.operation}"
    refused = "" if explanation.cost <= limit else ", refused"
    yield f"-- cost: {explanation.cost} of at most {limit}{refused}"
    yield f"-- statements: {len(explanation.statements) if sent is None else sent}"
    for place, (statement, plan) in enumerate(planned):
        if place:
            yield ""
        for line in statement.comments(with_values=True):
            yield f"-- {line}"
        yield statement.text
        yield ""
        yield from plan
