"""Merge two edited versions of a text section by section, and of a list of tags."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from ..markdown.sections import Section, parse, render
from ..names import numbered_section

Sections = dict[str, Section]


@dataclass(frozen=True, slots=True)
class MergedText:
    """The merged text. `conflicts` are the slugs of sections that both versions changed differently, where the own text
    is used."""

    body: str
    conflicts: tuple[str, ...]


def merge_texts(base: str, own: str, other: str) -> MergedText:
    """Return the base with the changed sections of both versions. Conflicting changes keep the text of `own`."""
    if base == own:
        return MergedText(other, ())
    if other in (base, own):
        return MergedText(own, ())
    was = {section.slug: section for section in parse(base)}
    mine, theirs = (by_slug(parse(text), was) for text in (own, other))
    merged: Sections = {}
    conflicts: list[str] = []
    for slug in merge_order(list(was), list(mine), list(theirs)):
        before, here, there = was.get(slug), mine.get(slug), theirs.get(slug)
        if there not in (before, here) and here != before:
            conflicts.append(slug)
        chosen = there if here == before else here
        if chosen is not None:
            merged[slug] = chosen
    lead = [section for section in merged.values() if not section.heading]
    return MergedText(render([*lead, *(section for section in merged.values() if section.heading)]), tuple(conflicts))


def merge_tags(base: Sequence[str], own: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the other version of the tags, without those that the own version removed and with those it added."""
    left = [tag for tag in other if tag in own or tag not in base]
    return [*left, *(tag for tag in own if tag not in base and tag not in left)]


def by_slug(sections: Sequence[Section], was: Sections) -> Sections:
    """Return the sections of a version by slug. One of several with the same heading has the slug of the one with its
    text in the base, if there is one, so that a removed section does not give its slug to the next."""
    slugs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for section in reversed(was.values()):
        slugs[section.heading, section.body].append(section.slug)
    same = [slugs[key].pop() if slugs[key := (section.heading, section.body)] else None for section in sections]
    taken = set(filter(None, same))
    free: dict[str, list[str]] = defaultdict(list)
    for section in reversed(was.values()):
        if section.slug not in taken:
            free[section.heading].append(section.slug)
    found: Sections = {}
    for section, slug in zip(sections, same, strict=True):
        numbered = (numbered_section(section.slug, number) for number in count(2))
        wanted = chain([slug] if slug else reversed(free[section.heading]), [section.slug], numbered)
        chosen = next(name for name in wanted if name == slug or (name not in taken and name not in found))
        found[chosen] = replace(section, slug=chosen)
    return found


def merge_order(was: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return all slugs in the order of the version that moved sections, or of `mine` if both did.

    Each slug that only the other version has comes after the slug that precedes it there.
    """
    common = [slug for slug in mine if slug in was]
    is_moved = common != [slug for slug in was if slug in mine]
    first, second = (mine, theirs) if is_moved else (theirs, mine)
    slugs = list(first)
    for place, slug in enumerate(second):
        if slug not in slugs:
            slugs.insert(slugs.index(second[place - 1]) + 1 if place else 0, slug)
    return slugs
