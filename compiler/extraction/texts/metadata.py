"""Names and tags in a source's metadata. It comes from outside: a value that fits no use is ignored."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from content.limits import NAME, TAG

from ...planner import SourceText
from .text import normalised

NAMED = ("place", "city", "person", "project", "journal")
TAGGED = ("tags", "tag", "categories", "category", "keywords")  # as generators of blogs call them
TAGS_MAX = 20
VALUES_MAX = 20
ADDRESS_MAX = 500
# `26110 Vinsobres`, `1100-148 Lisboa`, `SE-411 04 Göteborg`: a postcode, and the town behind it.
TOWN_BEHIND = re.compile(r"(?:[A-Z]{1,3}-)?(?:\d{4}[ -](?:\d{3}|[A-Z]{2})|\d{4,6}|\d{2,3}[ -]\d{2,3}) ([^\d,]+)")
# `London NW1 6XE`, `Austin TX 78702`, `Sydney NSW 2000`: the town, perhaps its region, and a postcode.
TOWN_BEFORE = re.compile(
    r"([^\d,]+?)(?: [A-Z]{2,3})? (?:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]\d[A-Z] \d[A-Z]\d|\d{4,6}(?:-\d{3,4})?)"
)
# `TX 78702`, `ON M5V 2T6`, `01310-100`: a postcode, perhaps with a region; the town is the part before.
POSTCODE = re.compile(
    r"(?:[A-Z]{2,3} )?(?:\d{4,6}(?:-\d{3,4})?|[A-Z]\d[A-Z] \d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})"
)
REGION = re.compile(r"(?: -|) [A-Z]{2}$")
STREET = re.compile(
    r"\b(?:ave|avenue|blvd|boulevard|court|ct|drive|dr|highway|hwy|lane|ln|parkway|place|plaza|road|rd|square|st|street|"
    r"way)\.?(?: [NSEW]{1,2})?$",
    re.IGNORECASE,
)


def named_things(source: SourceText) -> Iterator[tuple[str, str]]:
    """Yield (kind, name): place, city, person, project, journal, tag and title."""
    for kind in NAMED:
        said = cities(source.metadata) if kind == "city" else texts(source.metadata, kind)
        yield from ((kind, name) for name in said)
    yield from (("journal", name) for name in texts(source.metadata, "journal_id") if not is_number(name))
    yield from (("person", name) for name in texts(source.metadata, "people"))
    yield from (("tag", tag) for tag in tags(source))
    if title := short_name(source.title):
        yield "title", title


def texts(metadata: Mapping[str, Any], key: str) -> list[str]:
    """Return the texts of a field: a text, a list of them, or a mapping with a name."""
    value = metadata.get(key)
    values = value[:VALUES_MAX] if isinstance(value, list | tuple) else [value]
    return [name for one in values if (name := short_name(one.get("name") if isinstance(one, Mapping) else one))]


def cities(metadata: Mapping[str, Any]) -> list[str]:
    """Return the city that a source names: as such, as that of its place, or else in the address of its place."""
    place = metadata.get("place")
    within = place if isinstance(place, Mapping) else {}
    known = (metadata, "city"), (metadata, "place_city"), (within, "city"), (metadata, "place.city")
    for given, key in known:
        if found := texts(given, key):
            return found
    for given, key in ((metadata, "place_address"), (within, "address"), (metadata, "address")):
        address = given.get(key)
        if isinstance(address, str) and (town := town_in(address)):
            return [town]
    return []


def town_in(address: str) -> str | None:
    """Return the town of an address: `26110 Vinsobres, France` → `Vinsobres`.

    Nothing is returned where no postcode says which part is the town.
    """
    if len(address) > ADDRESS_MAX:
        return None
    parts = [" ".join(part.split()) for part in re.split(r"[,\n]", address)]
    parts = [part for part in parts if part]
    for place in reversed(range(len(parts))):
        if POSTCODE.fullmatch(parts[place]):
            return town_named(parts[place - 1]) if place else None
        found = TOWN_BEHIND.fullmatch(parts[place]) or TOWN_BEFORE.fullmatch(parts[place])
        if found and not STREET.search(found[1]):
            return town_named(found[1])
    return None


def town_named(text: str) -> str | None:
    """Return the name of a town without its region: `São Paulo - SP`."""
    name = REGION.sub("", text)
    return short_name(name) if name and not any(map(str.isdigit, name)) else None


def tags(source: SourceText) -> list[str]:
    return tags_in(source.metadata)


def tags_in(metadata: Mapping[str, Any]) -> list[str]:
    """Return the tags and categories as they are written, each once; `a, b` is two."""
    given = (metadata.get(field) for field in TAGGED)
    listed = (one.split(",") if isinstance(one, str) else one for one in given)
    values = [one for some in listed if isinstance(some, list | tuple) for one in some]
    found = (one.strip().lstrip("#") for one in values[:TAGS_MAX] if isinstance(one, str))
    return list(dict.fromkeys(tag for tag in found if tag and len(tag) <= TAG.most and normalised(tag)))


def short_name(value: object) -> str | None:
    """Return a text of one line that can be a name."""
    name = " ".join(value.split()) if isinstance(value, str) else ""
    return name if name and len(name) <= NAME.most and normalised(name) else None


def is_number(name: str) -> bool:
    """Return whether it is an identifier that nobody would read as a title."""
    return any(map(str.isdigit, name)) and " " not in name
