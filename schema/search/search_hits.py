"""The fields of a page that a search found."""

import strawberry

from db import relations

from ..fields import column, expression, relation, whole
from ..pages.pages import WikiPage
from ..pages.sections import WikiSection

search = relations.search


@strawberry.type(description="A matching part of a snippet, in Unicode code points of its text.")
class WikiHighlight:
    start: int = column("Start, counted from 0.")
    length: int = column("Length.")


@strawberry.type(description="Most relevant part of a page.")
class WikiSnippet:
    text: str = column("Snippet as plain text.")
    html: str = column("Snippet as safe HTML, with a <mark> around each highlight. Everything else is escaped.")
    highlights: list[WikiHighlight] = whole(
        search.highlights, "Matches to mark in the text, in order and without overlaps."
    )


@strawberry.type
class Match:
    """The fields that a hit and an edge share about their page."""

    score: float = column("Relevance score. Comparable within one search only.")
    matched_alias: str | None = column("Alias that matched, if any.")
    section: WikiSection | None = relation(search.section, "Section of the snippet.")
    snippet: WikiSnippet | None = relation(search.snippet, "Where its text says it best; null when only a name does.")


@strawberry.type(description="A page that a search found.")
class WikiSearchHit(Match):
    page: WikiPage = relation(search.page, "The page.")
    score: float = column("Relevance score. Comparable within one search only.")
    matched_alias: str | None = column("Alias that matched, if any.")
    section: WikiSection | None = relation(search.section, "Section of the snippet.")
    snippet: WikiSnippet | None = relation(
        search.snippet,
        "Most relevant part of the text, or its beginning if only the name matches. Null without text.",
    )


@strawberry.type(description="Search hit in the format of mobile clients.")
class MobileWikiSearchHit:
    page: WikiPage = relation(search.page, "The page.")
    score: float = column("Relevance score. Comparable within one search only.")
    matching_memory_ids: list[str] = expression(
        search.matching_refs,
        "Refs of the cited sources that contain words of the query, newest first, 20 at most.",
    )


@strawberry.type(description="A part of a score.")
class WikiScorePart:
    name: str = column("Name of the part.")
    value: float = column("Value of the part.")


@strawberry.type(description="A word of the query with its weight.")
class WikiSearchTerm:
    word: str = column("Word as written in the query.")
    lexeme: str = column("Stem that was looked up.")
    pages: int = column("Number of pages that contain it.")
    weight: float = column("Weight of the word. Rare words have a higher weight.")


@strawberry.type(description="Explanation of a score as a sum of parts. There are none if the query has no words.")
class WikiSearchExplanation:
    parts: list[WikiScorePart] = whole(search.score_parts, "Parts of the score.")
    terms: list[WikiSearchTerm] = whole(search.score_terms, "Words of the query.")


@strawberry.type(description="A found page with its cursor and score.")
class WikiSearchEdge(Match):
    cursor: str = column("Cursor of the page in these results.")
    score: float = column("Relevance score. Comparable within one search only.")
    matched_alias: str | None = column("Alias that matched, if any.")
    section: WikiSection | None = relation(search.section, "Section of the snippet.")
    snippet: WikiSnippet | None = relation(
        search.snippet,
        "Most relevant part of the text, or its beginning if only the name matches. Null without text.",
    )
    explanation: WikiSearchExplanation | None = relation(
        search.explanation, "Explanation of the score. Null without `explain`."
    )
    node: WikiPage = relation(search.page, "The page.")
