"""Tags and how often they are used."""

import strawberry

from db import relations

from .connections import Connection
from .fields import OlderOwner, OwnerName, column, source


@strawberry.type(description="A tag of a wiki.")
class WikiTag:
    tag: str = column("The tag.")
    count: int = column("How many active pages carry it.")


@strawberry.type
class TagQueries:
    @source(relations.tags.counted, "The tags of a wiki, the most used first.")
    def wiki_tags(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiTag]: ...
