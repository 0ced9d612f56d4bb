"""What a page points at."""

from schema.enums import WikiPageType

from .shown import Listed, Shown


class Link(Shown):
    """What a page's text, or who wrote it, points at. `broken`: nobody answers to it yet."""

    slug: str
    title: str
    type: WikiPageType | None
    broken: bool


class Links(Listed):
    items: list[Link]
