"""Cairn as a subgraph of Apollo Federation 2. Every object with an id is an entity with the key `id`.

`_entities` is like `nodes` with a type for each id. It shows nothing that `nodes` would not show, and executes one
statement for all representations. `_service` returns the schema with the directives of federation, which the public
schema does not have.
"""

import asyncio
from functools import cache
from typing import Annotated, Any, NamedTuple, Union

import strawberry
from graphql import REMOVE, FieldDefinitionNode, GraphQLError, TypeDefinitionNode, Visitor, parse, print_ast, visit

from db import relations
from db.access import BY_ID
from selection.compile.parameters import identifier

from .fields import source
from .lint import WikiLintReport
from .owners import WikiOwner
from .pages.claims import WikiContradiction, WikiSupersededClaim
from .pages.links import WikiLink
from .pages.mentions import WikiMention
from .pages.pages import WikiAlias, WikiPage
from .pages.revisions import WikiRevision
from .pages.sections import WikiSection
from .sources import WikiCitation, WikiSource

ENTITIES = relations.pages.ENTITIES
EXTENSIONS = (
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@shareable"])',
    "extend type PageInfo @shareable",
    *(f'extend type {name} @key(fields: "id")' for name in ENTITIES),
)


class Representation(NamedTuple):
    """An object as a gateway refers to it: by its type and its id."""

    kind: str
    id: str


def read_representation(value: Any) -> Representation:
    """Read the type and the id. The id may be missing, as when a document with a variable is validated."""
    match value:
        case {"__typename": str(kind)} if kind in ENTITIES:
            return Representation(kind, str(identifier(str(value.get("id")))))
    kinds = ", ".join(ENTITIES)
    raise GraphQLError(f"A representation is an object with an id and a __typename, which is one of {kinds}.")


REPRESENTATION = strawberry.scalar(
    name="_Any",
    description="Federation: an entity by its __typename and id.",
    specified_by_url="https://specs.apollo.dev/federation/v2.0/#scalar-_Any",
    serialize=lambda value: value,
    parse_value=read_representation,
)

Entity = Annotated[
    Union[  # noqa: UP007  Strawberry reads unions of this form alone
        WikiPage,
        WikiSection,
        WikiSource,
        WikiMention,
        WikiAlias,
        WikiLink,
        WikiCitation,
        WikiRevision,
        WikiOwner,
        WikiSupersededClaim,
        WikiContradiction,
        WikiLintReport,
    ],
    strawberry.union("_Entity", description="Federation: entities that other subgraphs can refer to by id."),
]


@strawberry.type(name="_Service", description="Federation: this service as a subgraph.")
class Service:
    sdl: str = strawberry.field(description="The schema with the directives of federation.")


@cache
def subgraph(schema: strawberry.Schema) -> str:
    """Return the schema without the types and fields that federation adds to every subgraph itself."""
    document = visit(parse(schema.as_str()), WithoutFederation())
    return "\n\n".join((*EXTENSIONS, print_ast(document))) + "\n"


class WithoutFederation(Visitor):
    """A visitor that removes types and fields whose names begin with an underscore, which federation reserves."""

    def enter_field_definition(self, node: FieldDefinitionNode | TypeDefinitionNode, *_: Any) -> Any:
        return REMOVE if node.name.value.startswith("_") else None

    enter_object_type_definition = enter_scalar_type_definition = enter_field_definition
    enter_union_type_definition = enter_field_definition


@strawberry.type
class FederationQueries:
    @strawberry.field(name="_service", description="Federation: this service as a subgraph.")
    async def service(self, info: strawberry.Info) -> Service:
        """Return the schema for federation. Printing it is slow, so it is done once, in a thread."""
        return Service(sdl=await asyncio.to_thread(subgraph, info.schema))

    @source(
        relations.pages.by_representation,
        "Federation: the entities of the representations, in the same order. Null if there is none.",
        access=BY_ID,
        variants=ENTITIES,
        each_of="representations",
        graphql_name="_entities",
    )
    def entities(representations: list[Representation]) -> list[Entity | None]: ...
