"""Suggestions while somebody types: names alone, in one quick statement."""

import strawberry

from db import relations

from .enums import WikiNameKind
from .fields import column, expression, relation, source
from .pages import WikiPage

suggestions = relations.suggestions


@strawberry.type(description="A name that begins as somebody types, and whose it is.")
class WikiSuggestion:
    name: str = expression(suggestions.as_written, "The name as it is written.")
    kind: WikiNameKind = column("What kind of name it is.")
    page: WikiPage = relation(suggestions.page, "The page that answers to it.")


@strawberry.type
class SuggestionQueries:
    @source(
        suggestions.suggested,
        "Active pages with a name that begins so, whatever its case and accents, each once by its best name: a whole "
        "name first, then the shorter ones.",
        limit=8,
        most=20,
    )
    def wiki_suggest(
        prefix: str,
        tenant_id: strawberry.ID | None = None,
        owner_id: strawberry.ID | None = None,
        user_id: strawberry.ID | None = None,
        agent_id: strawberry.ID | None = None,
    ) -> list[WikiSuggestion]: ...
