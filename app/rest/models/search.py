"""What a search found, and where."""

from .pages import PageItem
from .shown import Listed, Shown


class Highlight(Shown):
    """A stretch of a text that says what was asked for, in Unicode code points."""

    start: int
    length: int


class Snippet(Shown):
    text: str
    highlights: list[Highlight]


class SectionName(Shown):
    slug: str
    heading: str


class Hit(PageItem):
    """A page that a search found. Scores are comparable within one search."""

    score: float
    matched_alias: str | None
    section: SectionName | None
    snippet: Snippet | None


class Hits(Listed):
    """`did_you_mean` is what was searched for instead, when a word had to be corrected."""

    items: list[Hit]
    did_you_mean: str | None
