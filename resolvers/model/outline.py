"""Outlines: the sections of a page in their order, as immutable values. Each function returns a new outline."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, count

from content.limits import BODY, HEADING, SECTIONS, SLUG
from content.markdown.sections import Section, mark_problem, parse, problem, render
from content.names import numbered_section, section_slug
from content.sensitivity import stricter_heading
from content.templates import TEMPLATES

from .. import validation
from ..errors import BadInput, NotFound
from ..validation import UNSET, Given, value_or
from .drafts import SectionDraft

Outline = tuple[Section, ...]
LEAD = "overview"


def template_sections(page_type: str) -> Outline:
    """Return the empty sections of a new page of this type."""
    return tuple(Section(slug, heading, "") for slug, heading in TEMPLATES[page_type])


def size(*outlines: Iterable[Section | SectionDraft]) -> int:
    """Return the number of characters of the sections, headings included."""
    return sum(len(section.heading or "") + len(section.body) for section in chain(*outlines))


def from_body(body: str, current: Outline = (), *, restored: bool = False) -> Outline:
    """Parse a body. Sections that the current outline has keep their slugs. Raises BadInput."""
    body = validation.text(body, "bodyMd", BODY.limit(restored=restored))
    if reason := mark_problem(body):
        raise BadInput(f"The page cannot stand like this: {reason}.", "bodyMd")
    return keep_identities(checked_outline(parse(body), "bodyMd", restored=restored), current)


def keep_identities(sections: Outline, current: Outline, *, in_order: bool = False) -> Outline:
    """Return the sections, with the slug of the current section that has the same heading, if there is one.

    A section whose heading is new keeps the slug of the only section with its text whose heading is gone, and so its
    citations. With `in_order`, sections whose heading and text are new keep the slugs of the sections that are gone,
    in their order, if there are as many. The other sections get the slug of their heading, numbered if it is taken.
    """
    slugs_by_heading: dict[str, list[str]] = {}
    for section in current:
        slugs_by_heading.setdefault(section.heading, []).append(section.slug)
    kept = [slugs_by_heading[s.heading].pop(0) if slugs_by_heading.get(s.heading) else None for s in sections]
    renamed = find_renamed(
        [section for section, slug in zip(sections, kept, strict=True) if section.heading and slug is None],
        [section for section in current if section.heading and section.slug not in kept],
    )
    kept = [slug or (s.heading and renamed.get(s.body)) or None for slug, s in zip(kept, sections, strict=True)]
    gone = [section.slug for section in current if section.slug not in kept]
    if in_order and len(gone) == kept.count(None):
        rewritten = iter(gone)
        kept = [slug or next(rewritten) for slug in kept]
    taken = {slug for slug in kept if slug}
    result = []
    for slug, section in zip(kept, sections, strict=True):
        result.append(replace(section, slug=slug or next_free_slug(section.slug, taken)))
        taken.add(result[-1].slug)
    return tuple(result)


def find_renamed(new: Sequence[Section], gone: Sequence[Section]) -> dict[str, str]:
    """Return, by text, the slug of each gone section whose text one new section has, and no other section of both."""
    counts = [Counter(section.body for section in sections) for sections in (new, gone)]
    is_renamed = {body for body in counts[0] if body.strip() and all(count[body] == 1 for count in counts)}
    return {section.body: section.slug for section in gone if section.body in is_renamed}


def keep_marks(sections: Outline, current: Outline) -> Outline:
    """Return the sections, each with the mark of the current section of the same slug if that is stricter."""
    headings = {section.slug: section.heading for section in current}
    return tuple(
        replace(section, heading=stricter_heading(section.heading, headings.get(section.slug, "")))
        for section in sections
    )


def rename_slugs(sections: Outline, slugs: Sequence[str]) -> Outline | None:
    """Return the sections with these slugs, or None if their number differs or they are not valid, distinct slugs."""
    fits = len(slugs) == len(sections) and len(set(slugs)) == len(slugs) and all(s == section_slug(s) for s in slugs)
    return tuple(replace(section, slug=slug) for section, slug in zip(sections, slugs, strict=True)) if fits else None


def merge_drafts(page_type: str, current: Outline, drafts: Sequence[SectionDraft]) -> Outline:
    """Return the outline with the drafts: each replaces the section with its slug, or is appended. Raises BadInput."""
    sections = {section.slug: section for section in current}
    seen: set[str] = set()
    for n, draft in enumerate(drafts):
        section = draft_section(page_type, draft, sections, f"sections.{n}")
        if section.slug in seen:
            raise BadInput(f'The section "{section.slug}" is given twice.', f"sections.{n}.sectionSlug")
        seen.add(section.slug)
        sections[section.slug] = section
    return checked_outline(sections.values(), "sections", current)


def draft_section(page_type: str, draft: SectionDraft, sections: dict[str, Section], field: str) -> Section:
    """Return a draft as a section, with the slug and heading that follow from the page's other sections."""
    slug, heading = draft.slug, draft.heading
    if heading is not None:
        heading = clean_heading(heading, f"{field}.heading")
    if slug is None and heading:
        slug = section_slug(heading)
    if slug is None and sections and next(iter(sections)) != LEAD:
        raise BadInput("A section needs a slug or a heading.", f"{field}.sectionSlug")
    if slug is None:
        slug, heading = LEAD, heading or ""
    if slug not in sections:
        check_slug(slug, f"{field}.sectionSlug")
    if heading is None:
        heading = sections[slug].heading if slug in sections else default_heading(page_type, slug)
    return check_section(
        Section(slug, heading, validation.text(draft.body, f"{field}.bodyMd", BODY.maximum)),
        f"{field}.bodyMd",
        sections.get(slug),
    )


def patch_section(page_type: str, current: Outline, slug: str, body: Given[str], heading: Given[str]) -> Outline:
    """Return the outline with one section changed. A section that does not exist yet is appended."""
    old = next((section for section in current if section.slug == slug), None)
    if old is None:
        check_slug(slug, "sectionSlug")
        old = Section(slug, default_heading(page_type, slug), "")
    new = check_section(
        replace(
            old,
            heading=old.heading if heading is UNSET else clean_heading(heading, "heading"),
            body=old.body if body is UNSET else validation.text(value_or(body, ""), "bodyMd", BODY.maximum),
        ),
        "bodyMd" if heading is UNSET else "heading",
        old,
    )
    sections = {section.slug: section for section in current}
    sections[slug] = new
    return checked_outline(sections.values(), "bodyMd", current)


def remove_section(current: Outline, slug: str) -> Outline:
    """Return the outline without a section. Raises NotFound if there is no such section."""
    section_index(current, slug)
    return checked_outline([section for section in current if section.slug != slug], "sectionSlug", current)


def move_section(current: Outline, slug: str, position: int) -> Outline:
    """Return the outline with a section moved to a position, counted from 0. Raises BadInput, NotFound."""
    if not 0 <= position < len(current):
        raise BadInput(f"The position must lie between 0 and {len(current) - 1}.", "position")
    sections = list(current)
    sections.insert(position, sections.pop(section_index(current, slug)))
    return checked_outline(sections, "position", current)


def section_index(current: Outline, slug: str) -> int:
    for place, section in enumerate(current):
        if section.slug == slug:
            return place
    raise NotFound(f'The page has no section "{slug}".')


def checked_outline(
    sections: Iterable[Section], field: str, current: Outline = (), *, restored: bool = False
) -> Outline:
    """Return the outline as it is when its rendered body is parsed again.

    Raises BadInput if parsing finds other sections, because an open code fence would swallow the next section, if a
    section after the first has no heading, and if a limit is exceeded. A page that exceeds a limit which was lowered
    since can be written as long as it does not grow.
    """
    outline = tuple(section for section in sections if section.heading or section.body.strip())
    if any(not section.heading for section in outline[1:]):
        raise BadInput("The text without a heading has to stay first. Give its section a heading.", field)
    max_sections = SECTIONS.limit(restored=restored)
    if len(outline) > max(max_sections, len(current)):
        raise BadInput(f"A page can have {max_sections:,} sections, not {len(outline):,}.", field)
    body = render(outline)
    max_length = BODY.limit(restored=restored)
    if len(body) > max_length:
        max_length = max(max_length, len(render(current)))
    body = validation.text(body, field, max_length)
    parsed = parse(body)
    if [section.heading for section in parsed] != [section.heading for section in outline]:
        raise BadInput("A section holds an open code fence or comment that swallows what follows. Close it.", field)
    return tuple(replace(section, body=same.body) for section, same in zip(outline, parsed, strict=True))


def check_section(section: Section, field: str, old: Section | None) -> Section:
    """Return the section, or raise BadInput if a page cannot have it. An empty lead is valid: it is left out later.

    A mark that hides nothing may stay if the `old` section has one, so that sources can be removed from its text.
    """
    reason = problem(section) if section.heading or section.body.strip() else None
    if reason is None and not (old and mark_problem(old.body)):
        reason = mark_problem(section.body)
    if reason:
        raise BadInput(f'The section "{section.slug}" cannot stand like this: {reason}.', field)
    return section


def clean_heading(heading: str, field: str) -> str:
    """Return the heading on one line. The lead, the text before the first heading, has an empty heading."""
    return " ".join(validation.text(heading, field, HEADING.maximum).split())


def default_heading(page_type: str, slug: str) -> str:
    """Return the heading of a slug in the template of the page type, or the slug in words."""
    return dict(TEMPLATES[page_type]).get(slug) or slug.replace("_", " ").capitalize()


def check_slug(slug: str, field: str) -> None:
    if slug != section_slug(validation.line(slug, field, SLUG.maximum)):
        raise BadInput(f'Write the slug of a section like "{section_slug(slug)}".', field)


def next_free_slug(slug: str, taken: set[str]) -> str:
    """Return the slug, or the slug with the first number that makes it free."""
    numbers = (numbered_section(slug, n) for n in count(2))
    return next(free for free in chain([slug], numbers) if free not in taken)
