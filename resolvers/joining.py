"""The sections of two pages, as those of one."""

from dataclasses import dataclass, replace

from content.sections import Section

from . import outline
from .outline import Outline


@dataclass(frozen=True, slots=True)
class Joined:
    """The sections of both pages; `places` says where the sections of the second went, slug by slug."""

    sections: Outline
    places: dict[str, str]


def join(sections: Outline, others: Outline) -> Joined:
    """Texts under the same heading, or the same slug, are put one behind the other; the rest joins at the end."""
    found = {section.slug: section for section in sections}
    by_heading = {section.heading: section.slug for section in reversed(sections)}
    places: dict[str, str] = {}
    added: list[Section] = []
    for other in others:
        slug = by_heading.get(other.heading) or (other.slug if other.slug in found and other.heading else None)
        if slug:
            places[other.slug] = slug
            found[slug] = replace(found[slug], body=both(found[slug].body, other.body))
        else:
            added.append(other)
    return arranged([*found.values()], added, places, sections)


def arranged(sections: list[Section], added: list[Section], places: dict[str, str], current: Outline) -> Joined:
    """A text without a heading stands first; whose slug is taken gets the next one."""
    taken = {section.slug for section in sections}
    for other in added:
        slug = outline.unused(other.slug, taken)
        taken.add(slug)
        places[other.slug] = slug
        own = replace(other, slug=slug)
        sections = [own, *sections] if not own.heading else [*sections, own]
    return Joined(outline.standing(sections, "fromPageId", current), places)


def both(text: str, other: str) -> str:
    """Whole lines that stand there already are not said twice: a word of them may be in any text."""
    if f"\n{other.strip()}\n" in f"\n{text}\n":
        return text
    return f"{text}\n\n{other}" if text.strip() else other
