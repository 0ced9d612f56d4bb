"""Stored plans: the compiled SQL of GraphQL documents that frequent commands execute.

To compile a document, a command would import graphql-core, Strawberry, SQLAlchemy and the whole contract: a second of
work for a statement that never changes. `make schema` regenerates the plans (`python -m app.cli.plans`), and a test
compares them with the code.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from db.database import Database

    from .session import Wiki

DOCUMENTS: Mapping[str, Mapping[str, Any]] = {
    "page": {"type": "ENTITY", "slug": "a-slug"},
    "find": {"query": "a query", "limit": 7},
    "pages": {"filter": {"status": "ACTIVE"}, "order": "UPDATED", "limit": 7, "after": None},
    "sources": {"kinds": None, "limit": 7, "after": None},
}
"""The documents whose plans are stored, with variables of the same shape as those that the commands send."""
FILE = "plans.json"
SCOPE = ("tenant_id", "spans_tenant", "owners")
COLUMNS = 8  # of the row that `results_row` returns


class StoredPlan(NamedTuple):
    """A statement that returns one JSON value. Each parameter is `{"is": name of a value}` or `{"value": constant}`."""

    sql: str
    parameters: list[dict[str, Any]]

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        return [values[parameter["is"]] if "is" in parameter else parameter["value"] for parameter in self.parameters]


@cache
def plans() -> dict[str, StoredPlan]:
    """Return the stored plans by the name of their document."""
    stored = json.loads((files("app.cli") / "queries" / FILE).read_text(encoding="utf-8"))
    return {name: StoredPlan(**plan) for name, plan in stored.items()}


async def find_page(database: "Database", wiki: "Wiki", type: str, slug: str) -> Any:
    """Return the page with the fields of `page.graphql` and the rights of a reader, or None if it does not exist."""
    from content.limits import SLUG
    from content.names import compose

    values = {"type": type.lower(), "slug": compose(slug, SLUG)}
    return (await execute_plan(database, wiki, "page", values))["wikiPage"]


async def find_results(database: "Database", wiki: "Wiki", query: str, limit: int) -> Any:
    """Return the search results with the fields of `find.graphql`."""
    from db.scope import Role
    from resolvers.search.request import SearchRequest
    from resolvers.search.search import search
    from resolvers.sources.held_names import find_held_names
    from schema.search.search_rows import ANYTHING, results_row

    request = SearchRequest(
        text=query, first=limit, after=None, filter=ANYTHING, owner_id=wiki.owner.id, with_snippets=True,
        with_counts=True, explained=False, with_cursors=False,
    )  # fmt: skip
    scope = wiki.scope(Role.READER)
    found = await search(database, scope, request)
    row = results_row(found, request, () if found.hits else await find_held_names(database, scope, request))
    values = {f"column {n}": [value] for n, value in enumerate(row)}
    return (await execute_plan(database, wiki, "find", values))["wikiSearchResults"]


async def list_pages(database: "Database", wiki: "Wiki", limit: int) -> Any:
    """Return the active pages that changed last, with the fields of `pages.graphql`."""
    return (await execute_plan(database, wiki, "pages", {"status": "active", "limit": limit}))["wikiPages"]


async def list_sources(database: "Database", wiki: "Wiki", limit: int) -> Any:
    """Return the newest sources of all kinds, with the fields of `sources.graphql`."""
    return (await execute_plan(database, wiki, "sources", {"limit": limit}))["wikiSources"]


async def execute_plan(database: "Database", wiki: "Wiki", name: str, values: Mapping[str, Any]) -> Any:
    """Execute a stored plan with the rights of a reader and return its JSON value."""
    from db.scope import Role

    scope = wiki.scope(Role.READER)
    plan = plans()[name]
    named_values = {name: getattr(scope, name) for name in SCOPE}
    owner = {"tenantId": wiki.tenant.id, "ownerId": wiki.owner.id}
    value = await database.json(plan.sql, plan.arguments({**named_values, **owner, **values}))
    return json.loads(value or b"null")


async def compile_plans() -> dict[str, dict[str, Any]]:
    """Compile the documents with the present code and return their plans in the form in which they are stored."""
    from uuid import UUID

    from db.scope import Actor, ActorKind, Role, Scope
    from schema.root import make_engine
    from selection.compile.parameters import Request
    from selection.execute.plan import QueryPlan

    from ..stored_queries import stored_query

    engine = make_engine()
    compiled: dict[str, dict[str, Any]] = {}
    tenant, owner = UUID(int=1), UUID(int=2)
    scope = Scope(tenant, owner, Role.READER, Actor(ActorKind.SERVICE, "cairn"), (owner, UUID(int=3)))
    row = tuple(f"column {n}" for n in range(COLUMNS))
    for name, variables in DOCUMENTS.items():
        document = await engine.document(stored_query("cli", name), None)
        request_variables = {"tenantId": str(UUID(int=4)), "ownerId": str(UUID(int=5)), **variables}
        values, plan = await engine.plan(document.operation, request_variables)
        assert isinstance(plan, QueryPlan)
        assert plan.whole is None, f"{name} is not one statement any more"
        assert not plan.anew, f"{name} has no plan that is always the same"
        bound = plan.parameters(Request(values, scope, [[row]]))
        constants = [getattr(parameter, "value", parameter) for parameter in bound]
        # The values that vary differ from each other, so that a bound value tells its name.
        names: dict[str, str] = {repr([column]): column for column in row}
        names |= {repr(getattr(scope, attribute)): attribute for attribute in SCOPE}
        names |= {repr(UUID(int=4)): "tenantId", repr(UUID(int=5)): "ownerId"}
        flat = variables | variables.get("filter", {})
        names |= {repr(value.lower() if isinstance(value, str) else value): key for key, value in flat.items()}
        varying = {place for place, _ in plan.varying}
        parameters = [
            {"is": names[repr(value)]} if place in varying else {"value": value}
            for place, value in enumerate(constants)
        ]
        compiled[name] = {"sql": plan.sql, "parameters": parameters}
    return compiled


def format_plans() -> str:
    """Return the content of the file of plans."""
    import asyncio

    return json.dumps(asyncio.run(compile_plans()), indent=2) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(format_plans())
