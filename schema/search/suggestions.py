"""Suggestions while typing, and the tags of a wiki."""

import strawberry

from db import relations
from db.access import IN_OWNER

from ..enums import WikiNameKind, WikiPageType
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from ..pages.pages import WikiPage

suggestions = relations.suggestions


@strawberry.type(description="A suggested name with its page.")
class WikiSuggestion:
    name: str = expression(suggestions.as_written, "Name as written.")
    kind: WikiNameKind = column("Kind of name.")
    page: WikiPage = relation(suggestions.page, "Page that it resolves to.")


@strawberry.type(description="A page that a name resolves to.")
class WikiNamedPage:
    kind: WikiNameKind = column("Kind of name that matched.")
    page: WikiPage = relation(suggestions.page, "The page.")


@strawberry.type
class SuggestionQueries:
    @source(
        suggestions.by_name,
        (
            "The pages that a name resolves to, as in a link: by slug, former slug, title or alias, "
            "ignoring case and accents. Active pages come first, then matches by slug."
        ),
        owner=IN_OWNER.owner,
        limit=5,
        max_limit=20,
    )
    def wiki_named_pages(
        name: str,
        type: WikiPageType | None = None,
        include_archived: bool = False,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiNamedPage]: ...

    @source(
        suggestions.by_prefix,
        (
            "Active pages for completing a name, ignoring case and accents: exact names first, then "
            "shorter names that start with the text, then names with a later word that starts with "
            "it. A trailing space ends the last word."
        ),
        limit=8,
        max_limit=20,
    )
    def wiki_suggest(
        prefix: str,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiSuggestion]: ...


@strawberry.type(description="A tag of a wiki.")
class WikiTag:
    tag: str = column("The tag.")
    count: int = column("Number of active pages with the tag.")


@strawberry.type
class TagQueries:
    @source(relations.pages.tag_counts, "The tags of a wiki, most used first.")
    def wiki_tags(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiTag]: ...
