"""Whatever has an id. Ids are one space: `node` finds a thing by its id alone, whatever it is."""

import strawberry

from db import relations
from db.access import BY_ID

from .fields import column, source


@strawberry.interface(name="Node", description="Whatever has an id.")
class Node:
    id: strawberry.ID = column("Of the thing, in the whole tenant: a UUID of version 7.")


@strawberry.type
class NodeQueries:
    @source(relations.nodes.one, "The thing of that id, or null.", access=BY_ID, variants=relations.nodes.VARIANTS)
    def node(id: strawberry.ID) -> Node | None: ...

    @source(
        relations.nodes.many,
        "The things of those ids in that order, null where there is none; 100 at most.",
        access=BY_ID,
        variants=relations.nodes.VARIANTS,
        limit=100,
    )
    def nodes(ids: list[strawberry.ID]) -> list[Node | None]: ...
