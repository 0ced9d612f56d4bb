"""The reference: graphql-core over lists of rows. It shares no code with selection/ or db/relations/."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from inspect import isawaitable
from typing import Any
from uuid import UUID

from graphql import (
    GraphQLInterfaceType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
    execute,
    get_named_type,
    is_enum_type,
    parse,
)

from db.scope import Scope
from resolvers.context import Context
from tests.schema.reference import evidence, graph, links, owners, pages, search
from tests.schema.reference.query import Query
from tests.schema.reference.rows import Row, Rows
from tests.schema.world import World

TYPES: Mapping[str, type[Any]] = {
    "WikiPage": pages.Pages,
    "WikiAlias": pages.OnPage,
    "WikiChange": pages.Changes,
    "WikiRevision": pages.Revisions,
    "WikiLink": links.Links,
    "WikiBacklinkEdge": links.Backlinks,
    "WikiSpaceLink": links.SpaceLinks,
    "WikiSection": evidence.Sections,
    "WikiPromotion": evidence.Promotions,
    "WikiPassage": evidence.Passages,
    "WikiSource": evidence.Sources,
    "WikiOriginal": evidence.Originals,
    "WikiBlastRadius": evidence.BlastRadii,
    "WikiCitation": evidence.Citations,
    "WikiMention": evidence.Mentions,
    "WikiSupersededClaim": evidence.Claims,
    "WikiContradiction": evidence.Contradictions,
    "WikiProposal": evidence.Proposals,
    "WikiShareLink": evidence.ShareLinks,
    "WikiDecisionQuestion": evidence.Questions,
    "WikiGraph": graph.Graphs,
    "WikiNeighbourhood": graph.Neighbourhoods,
    "WikiGraphNode": graph.Nodes,
    "WikiGraphEdge": graph.Edges,
    "WikiOwner": owners.Owners,
    "WikiViewer": owners.Viewers,
    "WikiApiKey": owners.ApiKeys,
    "WikiTenant": owners.Tenants,
    "WikiSearchHit": search.Hits,
    "MobileWikiSearchHit": search.Hits,
    "WikiSearchEdge": search.Hits,
    "WikiContextItem": search.Hits,
    "WikiSearchAllHit": search.Hits,
    "WikiRelatedPage": search.Hits,
    "WikiNamedPage": search.Suggestions,
    "WikiSuggestion": search.Suggestions,
}


@cache
def contract(sdl: str) -> GraphQLSchema:
    """Build the schema of the references: all of them share it."""
    schema = build_schema(sdl)
    for name in ("Node", "_Entity"):
        abstract = schema.type_map[name]
        assert isinstance(abstract, GraphQLInterfaceType | GraphQLUnionType)
        abstract.resolve_type = lambda row, info, abstract: row["$kind"]
    return schema


OTHER_NAMES = {"user_id": "owner_id", "claimed_at": "started_at"}


class Reference:
    """Answers the operations of one caller."""

    def __init__(self, schema: GraphQLSchema, world: World, scope: Scope, context: Context) -> None:
        rows = Rows(world, scope)
        self.fields: dict[str, Any] = {name: type_(rows) for name, type_ in TYPES.items()}
        self.fields["Query"] = Query(rows, context)
        self.schema = schema

    async def execute(self, text: str, variables: dict[str, Any], name: str | None = None) -> dict[str, Any]:
        found = execute(
            self.schema, parse(text), None, None, variables, operation_name=name, field_resolver=self.resolve
        )
        result = await found if isawaitable(found) else found
        return dict(result.formatted)

    def resolve(self, row: Row, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        name = snake(info.field_name)
        method = getattr(self.fields.get(info.parent_type.name), name, None)
        if method is None:
            return shown(row[OTHER_NAMES.get(name, name)], info)
        found = method(row, **{snake(key): value for key, value in arguments.items()})
        return found if isawaitable(found) else shown(found, info)


def snake(name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)


def shown(value: Any, info: GraphQLResolveInfo[Any]) -> Any:
    """Convert a leaf to the form that clients get; rows stay unchanged."""
    if value is None:
        return None
    named = get_named_type(info.return_type)
    if is_enum_type(named):
        return [item.upper() for item in value] if isinstance(value, list) else value.upper()
    if named.name == "DateTime":
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return str(value) if isinstance(value, UUID) else value
