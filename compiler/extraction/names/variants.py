"""Different forms of the same name, and the names of stored pages and mentions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from content.names import normalise

from ...planner import MentionCard, PageCard
from ..readings import Reading
from ..texts import metadata
from ..texts.language import KINDS, word_set
from .capitals import HONORIFICS
from .sightings import Sighting

# Titles before a surname, with their abbreviations, and the reverse.
ABBREVIATED = {"frau": "fr", "herr": "hr", "madame": "mme", "senor": "sr", "senora": "sra"}
TITLES = ABBREVIATED | {short: title for title, short in ABBREVIATED.items()}
PLURAL_MIN = 4  # letters of a word that has a plural
# Marks that ordinary words have as well, whose plural means the same. People's names have none of them.
NUMBERED = frozenset({"link", "title", "tag", "bold", "work", "term"})
# The states of the USA, whose codes people join with a city's first letter: `ATX`.
STATES = word_set(
    """
    al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok
    or pa ri sc sd tn tx ut vt va wa wv wi wy
    """
)


def is_plural_acronym(form: str) -> bool:
    """Return whether it is the plural of an acronym: `GAMMs`."""
    return len(form) >= PLURAL_MIN and form[:-1].isupper() and form.endswith("s")


def other_number(key: str) -> str | None:
    """Return the plural of a singular name or the reverse: `callouts` ↔ `callout`, `properties` ↔ `property`.

    None is returned if the last word has no such form.
    """
    head, _, last = key.rpartition(" ")
    if len(last) < PLURAL_MIN or not last.isascii() or not last.isalpha():
        return None
    if last.endswith("ies"):
        other = f"{last[:-3]}y"
    elif last.endswith(("sses", "xes", "ches", "shes")):
        other = last[:-2]
    elif last.endswith("s"):
        other = "" if last.endswith(("ss", "us", "is")) else last[:-1]
    elif last.endswith("y") and last[-2] not in "aeiou":
        other = f"{last[:-1]}ies"
    else:
        other = f"{last}es" if last.endswith(("x", "ch", "sh")) else f"{last}s"
    return f"{head} {other}".strip() if other else None


def other_spelling(key: str) -> str | None:
    """Return the name with hyphens in place of its spaces, or the reverse: `refactoring-english`.

    A name with a title gets the other form of the title instead: `Fr. Brandt` and `Frau Brandt`.
    """
    title, _, rest = key.partition(" ")
    if rest and title in TITLES:
        return f"{TITLES[title]} {rest}"
    if "-" in key and " " not in key:
        return key.replace("-", " ")
    return key.replace(" ", "-") if " " in key and "-" not in key and "'" not in key else None


def other_forms(key: str) -> list[str]:
    """Return the other number and the other spelling of a name, if it has them."""
    return [form for form in (other_number(key), other_spelling(key)) if form]


SHORT = re.compile(r" \(([^\W\d_][\w.+-]{1,11})\)")
BEFORE_SHORT = re.compile(r"[^\W\d_][\w.+-]*(?: [\w.+-]+){0,5}$")
# `So Matilda is Aunt Tilda.`
TITLED = re.compile(r"\b([A-Z]\w+) is (?=(\w+))([A-Z]\w+ [A-Z]\w+)(?=[.,;!?)]|$)")
BEFORE_MAX = 100  # characters before a short form in which its long form is looked for
NICKNAME_MIN = 2  # letters of a short form of a first name
ACRONYM_MIN = 3  # letters of an acronym that stands for a name in the same source without being introduced


def find_introductions(reading: Reading) -> Iterator[tuple[str, Sighting]]:
    """Yield (name, sighting of its shorter form) if the source says that both mean the same.

    `JavaScript (JS)` introduces a short form, and `Matilda is Aunt Tilda` another name. An acronym stands for the only
    name in the source with its initials: `WPL` for `Workplace parking levy`. In a conversation, a nickname belongs to
    the only speaker whose first name begins with it: `Deb` to Deborah.
    """
    sightings = reading.sightings
    acronyms = list(_acronyms(sightings))
    yield from acronyms
    for sentence in reading.sentences if " is " in reading.source.content else ():
        for found in TITLED.finditer(sentence.text):
            named = sightings.get(normalise(found[1]))
            if named and found[2].lower() in HONORIFICS and normalise(found[3]) in sightings:
                yield normalise(found[3]), named
    for sentence in reading.sentences if "(" in reading.source.content else ():
        for found in SHORT.finditer(sentence.text):
            short = sightings.get(normalise(found[1]))
            before = BEFORE_SHORT.search(sentence.text[max(0, found.start() - BEFORE_MAX) : found.start()])
            long = _long_form(before[0].split(), found[1]) if before and short else None
            if long and short and normalise(long) != short.key and (normalise(long), short) not in acronyms:
                yield normalise(long), short
    speakers = {normalise(sentence.speaker) for sentence in reading.sentences if sentence.speaker}
    firsts = {speaker: speaker.split()[0] for speaker in speakers if speaker}
    for key, sighting in sightings.items() if firsts else ():
        if len(key) >= NICKNAME_MIN and " " not in key and key not in firsts.values():
            speakers_meant = [speaker for speaker, first in firsts.items() if first.startswith(key)]
            if len(speakers_meant) == 1:
                yield speakers_meant[0], sighting


def _acronyms(sightings: Mapping[str, Sighting]) -> Iterator[tuple[str, Sighting]]:
    """Yield (name, sighting of the acronym of its initials), unless several names have these initials."""
    acronyms = [
        sighting for key, sighting in sightings.items() if len(key) >= ACRONYM_MIN and key.upper() == sighting.name
    ]
    if not acronyms:
        return
    named: dict[str, list[str]] = {}
    for key in sightings:
        if len(words := key.split()) >= ACRONYM_MIN:
            named.setdefault("".join(word[0] for word in words), []).append(key)
    for acronym in acronyms:
        if len(names := named.get(acronym.key, [])) == 1:
            yield names[0], acronym


def _long_form(words: Sequence[str], short: str) -> str | None:
    """Return the words before a short form for which it stands, or None.

    Its letters must be the initials of the last words, or letters of the last word in their order.
    """
    letters = [letter for letter in short.lower() if letter.isalnum()]
    last = words[-len(letters) :]
    if len(letters) > 1 and [word[0].lower() for word in last] == letters:
        return " ".join(last)
    rest = iter(words[-1].lower())
    is_within = words[-1][0].lower() == letters[0] and all(letter in rest for letter in letters)
    return words[-1] if is_within and words[-1][0].isupper() and len(words[-1]) > len(short) else None


def short_forms(reading: Reading) -> Iterator[tuple[str, Sighting]]:
    """Yield (place, sighting of a part of its name) if a source about a place calls it by that part alone."""
    others = reading.metadata.get("city", set()) | reading.metadata.get("person", set())
    for place in sorted(reading.metadata.get("place", ())):
        for sighting in reading.sightings.values():
            if sighting.key not in others and _is_part(sighting, place):
                yield place, sighting


def _is_part(sighting: Sighting, place: str) -> bool:
    key = sighting.key
    if key == place or not sighting.marks & {"name", "bare", "first", "open"} or key in KINDS or len(key) < 3:
        return False
    return place.startswith(f"{key} ") or (" " in key and place.endswith(f" {key}"))


def city_names(reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield (city, another name of the city) as the source writes it: `Austin, Texas` or `ATX`."""
    for city in sorted(reading.metadata.get("city", ())):
        for name in (*metadata.cities(reading.source.metadata), *_with_region(reading, city)):
            if "," in name:
                yield city, name
        for sighting in reading.sightings.values():
            if sighting.key[:1] == city[:1] and sighting.key[1:] in STATES and sighting.name.isupper():
                yield city, sighting.name


def _with_region(reading: Reading, city: str) -> Iterator[str]:
    """Yield the city with a region after a comma, as the sentences of the source write it."""
    pattern = None
    for sentence in reading.sentences:
        if "," in sentence.text and f" {city} " in sentence.words:
            pattern = pattern or re.compile(
                rf"\b{re.escape(city)}, [A-Z][a-z]+(?= is\b| was\b|\.|$|,? [a-z])", re.IGNORECASE
            )
            yield from (
                found[0] for found in pattern.finditer(sentence.text) if found[0].rpartition(" ")[2][0].isupper()
            )


class KnownNames:
    """The stored pages and mentions by normalised name.

    A name leads to a decision only if there is no page of another type with this name.
    """

    def __init__(self) -> None:
        self.pages: dict[str, PageCard] = {}
        """The page to which each name leads."""
        self.decisions: dict[str, PageCard] = {}
        """The decision with each title."""
        self.held: Mapping[str, MentionCard] = {}
        """The mention of each name."""

    def add_pages(self, found: Mapping[str, Sequence[PageCard]]) -> None:
        """Add the pages that were looked up by name."""
        for alias, cards in sorted(found.items(), key=itemgetter(0)):
            decisions = [card for card in cards if card.type == "decision"]
            for card in decisions:
                if normalise(card.title) == alias:
                    self.decisions.setdefault(alias, card)
            if (page := _page_for(alias, [card for card in cards if card.type != "decision"] or decisions)) is not None:
                self.pages[alias] = page

    def page(self, key: str) -> PageCard | None:
        """Return the page of the name in either spelling, or the page of its other number unless that is an entity."""
        page = self.pages.get(key)
        other = other_number(key) if page is None else None
        found = self.pages.get(other) if other else None
        spelt = other_spelling(key) if page is None else None
        return page or (found if found and found.type != "entity" else self.pages.get(spelt) if spelt else None)

    def redirect(self, duplicate: PageCard, into: PageCard) -> None:
        """Make all names of a page lead to another page."""
        self.pages.update((name, into) for name, page in self.pages.items() if page.id == duplicate.id)

    def is_ignored(self, key: str) -> bool:
        card = self.held.get(key)
        return card is not None and card.status == "ignored"


def _page_for(alias: str, cards: Sequence[PageCard]) -> PageCard | None:
    """Return the page to which a name leads: the only one, or else the one with that title, or else None.

    Archived pages count only if there is no active one.
    """
    active = [card for card in cards if not card.is_archived] or list(cards)
    titled = [card for card in active if normalise(card.title) == alias]
    return active[0] if len(active) == 1 else titled[0] if titled else None
