"""Names that have not earned a page yet."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiMentionStatus, WikiPageType
from ..fields import Connection, Node, OlderOwner, OwnerName, column, relation, source
from ..sources import WikiSource
from .pages import WikiPage

mentions = relations.mentions


@strawberry.type(description="A quote in which a name was seen.")
class WikiMentionContext:
    quote: str = column("The words around it.")
    source_id: strawberry.ID | None = column("The source it was seen in.", name="sourceId")
    at: datetime | None = column("When that source is from.")


@strawberry.type(description="A name seen in sources that has not earned a page yet.")
class WikiMention(Node):
    name: str = column("As it was first seen.")
    alias: str = column("Normalised: what is compared.")
    status: WikiMentionStatus = column("Open, promoted or ignored.")
    mention_count: int = column("In how many sources it was seen.")
    suggested_type: WikiPageType | None = column("The type of page it would make.")
    first_seen_at: datetime = column("When the first of its sources is from.")
    last_seen_at: datetime = column("When the last of its sources is from.")
    contexts: list[WikiMentionContext] = relation(
        mentions.contexts, "Up to five quotes, newest first.", limit=5, most=5
    )

    @relation(mentions.promoted_page, "The page it became; an archived one only with `includeArchived`.")
    def promoted_page(include_archived: bool = False) -> WikiPage | None: ...

    sources: Connection[WikiSource] = relation(mentions.seen_sources, "Where it was seen, newest first.")


@strawberry.type
class MentionQueries:
    @source(mentions.listed, "The names that a wiki holds, last seen first.")
    def wiki_mentions(
        status: WikiMentionStatus | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiMention]: ...
