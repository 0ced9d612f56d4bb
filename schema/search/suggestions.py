"""Suggestions while typing, and the tags of a wiki."""

import strawberry

from db import relations
from db.access import IN_OWNER

from ..enums import WikiNameKind, WikiPageType
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from ..pages.pages import WikiPage

suggestions = relations.suggestions


@strawberry.type(description="A name that begins as somebody types, and whose it is.")
class WikiSuggestion:
    name: str = expression(suggestions.as_written, "The name as it is written.")
    kind: WikiNameKind = column("What kind of name it is.")
    page: WikiPage = relation(suggestions.page, "The page that answers to it.")


@strawberry.type(description="A page that answers to a name.")
class WikiNamedPage:
    kind: WikiNameKind = column("As what it answers to the name.")
    page: WikiPage = relation(suggestions.page, "The page.")


@strawberry.type
class SuggestionQueries:
    @source(
        suggestions.by_name,
        "The pages that answer to a name as a link would mean it: by slug, by a slug that they had, by title or by "
        "another name, whatever its case and accents. Active pages come first, then slugs; each page comes once.",
        owner=IN_OWNER.owner,
        limit=5,
        most=20,
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
        "Active pages with a name that begins so, whatever its case and accents, each once by its best name: a whole "
        "name first, then the shorter ones, then names in which a later word begins so. A space ends the last word.",
        limit=8,
        most=20,
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
    count: int = column("How many active pages carry it.")


@strawberry.type
class TagQueries:
    @source(relations.pages.tag_counts, "The tags of a wiki, the most used first.")
    def wiki_tags(
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiTag]: ...
