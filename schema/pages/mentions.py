"""Mentions, which are names in sources that have no page yet."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiMentionStatus, WikiPageType
from ..fields import Connection, Node, OlderOwner, OwnerName, column, relation, source
from ..sources import WikiSource
from .pages import WikiPage

mentions = relations.mentions


@strawberry.type(description="A quote that contains the name.")
class WikiMentionContext:
    quote: str = column("Text of the quote.")
    source_id: strawberry.ID | None = column("Id of the source.", name="sourceId")
    at: datetime | None = column("Capture time of the source.")


@strawberry.type(description="A mention: a name seen in sources that has no page yet.")
class WikiMention(Node):
    name: str = column("Name as it was first seen.")
    alias: str = column("Normalized form, which is used for matching.")
    status: WikiMentionStatus = column("Status: open, promoted or ignored.")
    mention_count: int = column("Number of sources that contain it.")
    suggested_type: WikiPageType | None = column("Suggested type of its page.")
    first_seen_at: datetime = column("Capture time of the first source.")
    last_seen_at: datetime = column("Capture time of the last source.")
    contexts: list[WikiMentionContext] = relation(
        mentions.contexts, "Quotes from sources, newest first.", limit=5, max_limit=5
    )

    @relation(mentions.promoted_page, "Page to which it was promoted. Archived pages need `includeArchived`.")
    def promoted_page(include_archived: bool = False) -> WikiPage | None: ...

    sources: Connection[WikiSource] = relation(mentions.seen_sources, "Sources that contain it, newest first.")


@strawberry.type
class MentionQueries:
    @source(mentions.listed, "The mentions of a wiki, last seen first.")
    def wiki_mentions(
        status: WikiMentionStatus | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiMention]: ...
