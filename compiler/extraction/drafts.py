"""A page that a batch has something to say about, there already or earned just now."""

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from content.names import normalise

from ..planner import PageCard, PageName
from .evidence import Subject, subject_of
from .sightings import Reading

ALIASES_MAX = 12


@dataclass(slots=True, eq=False)
class Draft:
    """A draft of a page: `card` is the page if it is there, `names` are normalised, `readings` the sources about it."""

    type: str
    title: str
    names: set[str]
    card: PageCard | None = None
    readings: dict[UUID, Reading] = field(default_factory=dict)
    aliases: dict[str, None] = field(default_factory=dict)
    tags: Counter[str] = field(default_factory=Counter)
    promotes: dict[str, None] = field(default_factory=dict)
    linking: dict[UUID, None] = field(default_factory=dict)
    """The sources that set it in relation to another page."""

    @property
    def name(self) -> PageName:
        return PageName(id=self.card.id) if self.card else PageName(type=self.type, title=self.title)

    def is_same(self, other: "Draft") -> bool:
        """Return whether both drafts are about the page of one name."""
        if self.card or other.card:
            return self.card is not None and other.card is not None and self.card.id == other.card.id
        return (self.type, self.title) == (other.type, other.title)

    @property
    def subject(self) -> Subject:
        return subject_of(self.type, self.title, frozenset(self.names))

    def add_alias(self, name: str) -> None:
        """Add one more name, as it is written."""
        key = normalise(name)
        if key and key not in self.names and len(self.aliases) < ALIASES_MAX:
            self.aliases[name] = None
            self.names.add(key)

    @property
    def oldest_first(self) -> list[Reading]:
        return sorted(self.readings.values(), key=lambda one: (one.source.captured_at, one.source.id.int))
