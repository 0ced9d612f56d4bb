"""Names and tags in the metadata of a source. Metadata is untrusted: values of an unexpected form are ignored."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from content.limits import NAME, TAG

from ...planner import SourceText
from .language import SPACELESS, word_set
from .text import normalised

NAMED = ("place", "city", "person", "project", "journal")
TAGS, CATEGORIES = ("tags", "tag", "keywords"), ("categories", "category")  # fields, also those of blog generators
LABELS = word_set(
    """
    misc miscellaneous general uncategorized other personal daily everyday journal diary notes blog post posts meta
    random thoughts tech allgemein sonstiges verschiedenes tagebuch notizen divers général varios otros geral outros
    diversos varie generale 日常 生活 随笔 隨筆 杂谈 其他 未分类 日记 日記 雑記 その他
    """
)
TAGS_MAX = 20
VALUES_MAX = 20
ADDRESS_MAX = 500
# `26110 Vinsobres`, `1100-148 Lisboa`, `SE-411 04 Göteborg`: a postcode and then the town.
TOWN_AFTER = re.compile(r"(?:[A-Z]{1,3}-)?(?:\d{4}[ -](?:\d{3}|[A-Z]{2})|\d{4,6}|\d{2,3}[ -]\d{2,3}) ([^\d,]+)")
# `London NW1 6XE`, `Austin TX 78702`, `Sydney NSW 2000`: the town, optionally its region, and a postcode.
TOWN_BEFORE = re.compile(
    r"([^\d,]+?)(?: [A-Z]{2,3})? (?:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]\d[A-Z] \d[A-Z]\d|\d{4,6}(?:-\d{3,4})?)"
)
# `TX 78702`, `ON M5V 2T6`, `01310-100`: a postcode, optionally with a region. The town is the part before.
POSTCODE = re.compile(
    r"(?:[A-Z]{2,3} )?(?:\d{4,6}(?:-\d{3,4})?|[A-Z]\d[A-Z] \d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})"
)
REGION = re.compile(r"(?: -|) [A-Z]{2}$")
STREET = re.compile(
    r"\b(?:ave|avenue|blvd|boulevard|court|ct|drive|dr|highway|hwy|lane|ln|parkway|place|plaza|road|rd|square|st|street|"
    r"way)\.?(?: [NSEW]{1,2})?$",
    re.IGNORECASE,
)
ENDING = r"\.(?:md|mdx|markdown|txt)$"
FILE_TITLE = re.compile(rf"(?:^|/)(?:\d{{4}}-\d{{2}}-\d{{2}}[ _-]+)?(?=[^/]*[^\W\d_a-zß-ÿ])([^/]+?){ENDING}")
FILE_NAME = re.compile(rf"(?:^|/)(?!\d{{4}}-\d{{2}}|\d{{8}})([^/]*[^\W\d_]{{2}}[^/]*?){ENDING}")


def named_things(source: SourceText) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) for the places, cities, people, projects, journals, tags and the title of a source."""
    for kind in NAMED:
        names = cities(source.metadata) if kind == "city" else texts(source.metadata, kind)
        yield from ((kind, name) for name in names)
    yield from (("journal", name) for name in texts(source.metadata, "journal_id") if not is_number(name))
    yield from (("person", name) for name in texts(source.metadata, "people"))
    yield from (("tag", tag) for tag in tags(source))
    if title := short_name(source.title):
        yield "title", title


def texts(metadata: Mapping[str, Any], key: str) -> list[str]:
    """Return the names in a field, whose value is a text, a mapping with a `name`, or a list of these."""
    value = metadata.get(key)
    values = value[:VALUES_MAX] if isinstance(value, list | tuple) else [value]
    return [name for item in values if (name := short_name(item.get("name") if isinstance(item, Mapping) else item))]


def cities(metadata: Mapping[str, Any]) -> list[str]:
    """Return the cities of a source: from the city fields, or else the town in the address of its place."""
    place = metadata.get("place")
    within = place if isinstance(place, Mapping) else {}
    city_fields = (metadata, "city"), (metadata, "place_city"), (within, "city"), (metadata, "place.city")
    for fields, key in city_fields:
        if found := texts(fields, key):
            return found
    for fields, key in ((metadata, "place_address"), (within, "address"), (metadata, "address")):
        address = fields.get(key)
        if isinstance(address, str) and (town := town_in(address)):
            return [town]
    return []


def town_in(address: str) -> str | None:
    """Return the town of an address: `26110 Vinsobres, France` → `Vinsobres`.

    Without a postcode None is returned, because only a postcode shows which part is the town.
    """
    if len(address) > ADDRESS_MAX:
        return None
    parts = [" ".join(part.split()) for part in re.split(r"[,\n]", address)]
    parts = [part for part in parts if part]
    for place in reversed(range(len(parts))):
        if POSTCODE.fullmatch(parts[place]):
            return town_named(parts[place - 1]) if place else None
        found = TOWN_AFTER.fullmatch(parts[place]) or TOWN_BEFORE.fullmatch(parts[place])
        if found and not STREET.search(found[1]):
            return town_named(found[1])
    return None


def town_named(text: str) -> str | None:
    """Return the name of a town without its region: `São Paulo - SP` → `São Paulo`. None for a text with digits."""
    name = REGION.sub("", text)
    return short_name(name) if name and not any(map(str.isdigit, name)) else None


def tags(source: SourceText) -> list[str]:
    return tags_in(source.metadata)


def labels(source: SourceText, language: str) -> list[str]:
    """Return those tags that sort sources rather than name what they are about: categories, usual labels of blogs and
    diaries, and tags in Latin letters of a text in a script without spaces."""
    tags = tags_in(source.metadata, TAGS)
    usual = [tag for tag in tags if normalised(tag) in LABELS or (language in SPACELESS and tag.isascii())]
    return usual + [name for name in tags_in(source.metadata, CATEGORIES) if name not in tags]


def tags_in(metadata: Mapping[str, Any], fields: Iterable[str] = (*TAGS, *CATEGORIES)) -> list[str]:
    """Return the tags and categories as they are written, each once. The text `a, b` is two tags."""
    written = (metadata.get(field) for field in fields)
    lists = (field.split(",") if isinstance(field, str) else field for field in written)
    values = [value for values in lists if isinstance(values, list | tuple) for value in values]
    found = (value.strip().lstrip("#") for value in values[:TAGS_MAX] if isinstance(value, str))
    return list(dict.fromkeys(tag for tag in found if tag and len(tag) <= TAG.maximum and normalised(tag)))


def short_name(value: object) -> str | None:
    """Return the value on one line if it is a text that can be a name, or else None."""
    name = " ".join(value.split()) if isinstance(value, str) else ""
    return name if name and len(name) <= NAME.maximum and normalised(name) else None


def is_number(name: str) -> bool:
    """Return whether the name is an identifier with digits rather than a title."""
    return any(map(str.isdigit, name)) and " " not in name


def file_title(ref: str) -> str | None:
    """Return the title in the name of a file, after a date if it begins with one: `2026-03-02 Roof of the hall.md`.

    A name in small letters is no title.
    """
    found = FILE_TITLE.search(ref)
    return short_name(found[1]) if found else None


def file_name(ref: str) -> str | None:
    """Return the name of a file without its ending, unless it begins with a date, as those of diaries do."""
    found = FILE_NAME.search(ref)
    return short_name(found[1]) if found else None
