"""The fields that a search shows of each page that it found."""

import strawberry

from db import relations

from ..fields import column, expression, relation, whole
from ..pages.pages import WikiPage
from ..pages.sections import WikiSection

search = relations.search


@strawberry.type(description="A stretch of a snippet that says what was asked for, in Unicode code points of its text.")
class WikiHighlight:
    start: int = column("Where it begins, from 0.")
    length: int = column("How long it is.")


@strawberry.type(description="The part of a page that answers best.")
class WikiSnippet:
    text: str = column("The text as plain text.")
    html: str = column("The same as safe HTML: everything is escaped but the <mark> around each highlight.")
    highlights: list[WikiHighlight] = whole(search.highlights, "What to mark in the text, in order and apart.")


@strawberry.type
class Match:
    """The fields that a hit and an edge share about their page."""

    score: float = column("How well it matches: comparable within one search only.")
    matched_alias: str | None = column("The name that matched, when one did that is not the title.")
    section: WikiSection | None = relation(search.section, "The section that the snippet is of.")
    snippet: WikiSnippet | None = relation(search.snippet, "Where its text says it best; null when only a name does.")


@strawberry.type(description="A page that a search found.")
class WikiSearchHit(Match):
    page: WikiPage = relation(search.page, "The page.")
    score: float = column("How well it matches: comparable within one search only.")
    matched_alias: str | None = column("The name that matched, when one did that is not the title.")
    section: WikiSection | None = relation(search.section, "The section that the snippet is of.")
    snippet: WikiSnippet | None = relation(
        search.snippet, "Where its text says it best; its beginning when only its name does, null without text."
    )


@strawberry.type(description="A page that a search found, in the shape that mobile clients know.")
class MobileWikiSearchHit:
    page: WikiPage = relation(search.page, "The page.")
    score: float = column("How well it matches: comparable within one search only.")
    matching_memory_ids: list[str] = expression(
        search.matching_refs,
        "The refs of the sources that the page cites and that say words of the query, the newest first, 20 at most.",
    )


@strawberry.type(description="A part of a score.")
class WikiScorePart:
    name: str = column("What it is for.")
    value: float = column("How much it gave.")


@strawberry.type(description="A word of a search as it was looked up.")
class WikiSearchTerm:
    word: str = column("As it was asked for.")
    lexeme: str = column("As it was looked up.")
    pages: int = column("How many pages of the wiki have it.")
    weight: float = column("What it counts: the rarer, the more.")


@strawberry.type(
    description="Why a page stands where it does. The sum of the parts is its score; a list without words has none."
)
class WikiSearchExplanation:
    parts: list[WikiScorePart] = whole(search.score_parts, "What its score is made of.")
    terms: list[WikiSearchTerm] = whole(search.score_terms, "The words that were looked up.")


@strawberry.type(description="A found page, its place, and why it stands there.")
class WikiSearchEdge(Match):
    cursor: str = column("The place of the page in these results.")
    score: float = column("How well it matches: comparable within one search only.")
    matched_alias: str | None = column("The name that matched, when one did that is not the title.")
    section: WikiSection | None = relation(search.section, "The section that the snippet is of.")
    snippet: WikiSnippet | None = relation(
        search.snippet, "Where its text says it best; its beginning when only its name does, null without text."
    )
    explanation: WikiSearchExplanation | None = relation(
        search.explanation, "Why it stands where it does; null unless `explain` was asked for."
    )
    node: WikiPage = relation(search.page, "The page.")
