"""Other names of the same thing: singular and plural, a part of a place's name, a city with its region."""

import re
from collections.abc import Iterator

from . import metadata
from .sightings import Reading, Sighting
from .stopwords import word_set

PLURAL_MIN = 4  # letters of a word that has a plural
NUMBERED = frozenset(
    {"link", "title", "tag", "bold", "work"}
)  # names marked so are words of the language; people's are not
GENERIC = word_set(
    """
    museum museu musee park parque parc market mercado marche markt cafe restaurant restaurante hotel bar pool
    club theatre theater teatro kino cinema station bahnhof gare platz plaza praca place library biblioteca
    bibliothek school hospital church kirche igreja eglise bridge ponte beach praia strand house casa haus
    maison tower torre hall garden jardim jardin garten bakery books shop store gallery airport
    """
)
# Of the United States: people write a city's first letter before them.
STATES = word_set(
    """
    al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok
    or pa ri sc sd tn tx ut vt va wa wv wi wy
    """
)


def other_number(key: str) -> str | None:
    """`callouts` ↔ `callout`, `properties` ↔ `property`; None where the last word has no such form."""
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


def short_forms(reading: Reading) -> Iterator[tuple[str, Sighting]]:
    """(place, sighting of a part of its name) where a source about a place calls it by that part alone."""
    others = reading.metadata.get("city", set()) | reading.metadata.get("person", set())
    for place in sorted(reading.metadata.get("place", ())):
        for sighting in reading.sightings.values():
            if sighting.key not in others and _is_part(sighting, place):
                yield place, sighting


def _is_part(sighting: Sighting, place: str) -> bool:
    key = sighting.key
    if key == place or not sighting.marks & {"name", "bare", "first", "open"} or key in GENERIC or len(key) < 3:
        return False
    return place.startswith(f"{key} ") or (" " in key and place.endswith(f" {key}"))


def city_names(reading: Reading) -> Iterator[tuple[str, str]]:
    """(city, another name of it) as the source writes them: `Austin, Texas`, `ATX`."""
    for city in sorted(reading.metadata.get("city", ())):
        for name in (*metadata.cities(reading.source.metadata), *_with_region(reading, city)):
            if "," in name:
                yield city, name
        for sighting in reading.sightings.values():
            if sighting.key[:1] == city[:1] and sighting.key[1:] in STATES and sighting.name.isupper():
                yield city, sighting.name


def _with_region(reading: Reading, city: str) -> Iterator[str]:
    pattern = None
    for sentence in reading.sentences:
        if "," in sentence.text and f" {city} " in sentence.words:
            pattern = pattern or re.compile(
                rf"\b{re.escape(city)}, [A-Z][a-z]+(?= is\b| was\b|\.|$|,? [a-z])", re.IGNORECASE
            )
            yield from (
                found[0] for found in pattern.finditer(sentence.text) if found[0].rpartition(" ")[2][0].isupper()
            )
