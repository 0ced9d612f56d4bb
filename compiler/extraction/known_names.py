"""What the wiki has of the names that a batch says: pages, and names that are held or that nobody wants."""

from collections.abc import Mapping, Sequence
from operator import itemgetter

from content.names import normalise

from ..planner import MentionCard, PageCard
from .variants import other_number


class KnownNames:
    """By normalised name. `decisions` are pages of their own: other names lead past them where they can."""

    def __init__(self) -> None:
        self.pages: dict[str, PageCard] = {}
        self.decisions: dict[str, PageCard] = {}
        self.held: Mapping[str, MentionCard] = {}

    def add_pages(self, found: Mapping[str, Sequence[PageCard]]) -> None:
        for alias, cards in sorted(found.items(), key=itemgetter(0)):
            decisions = [card for card in cards if card.type == "decision"]
            for card in decisions:
                if normalise(card.title) == alias:
                    self.decisions.setdefault(alias, card)
            if (page := _meant(alias, [card for card in cards if card.type != "decision"] or decisions)) is not None:
                self.pages[alias] = page

    def page(self, key: str) -> PageCard | None:
        """By the name, or by its plural where the page is about a word."""
        page = self.pages.get(key)
        other = other_number(key) if page is None else None
        found = self.pages.get(other) if other else None
        return page or (found if found and found.type != "entity" else None)

    def is_ignored(self, key: str) -> bool:
        card = self.held.get(key)
        return card is not None and card.status == "ignored"


def _meant(alias: str, cards: Sequence[PageCard]) -> PageCard | None:
    """The page that a name leads to: the only one, else the one of that very title, else none of them."""
    active = [card for card in cards if not card.is_archived] or list(cards)
    titled = [card for card in active if normalise(card.title) == alias]
    return active[0] if len(active) == 1 else titled[0] if titled else None
