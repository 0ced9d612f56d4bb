"""Read the memories and insights that an agent stored as files. Each file becomes a page."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..limits import SUMMARY, TITLE
from ..markdown.sections import Section, parse
from ..names import NoSlug, slugify
from ..sentences import first_sentence
from ..templates import TEMPLATES
from .dates import date_of
from .frontmatter import BadFrontmatter, split_any

TYPES = {"user": "entity", "feedback": "concept", "project": "project", "reference": "reference"}
"""Prefix of a memory's file name → type of its page."""
NAMED = re.compile(rf"({'|'.join(TYPES)})_(.+)\.md", re.IGNORECASE)
INSIGHT = "theme"
PARTS = {"why": re.compile(r"^\*\*Why:?\*\*:?[ \t]*", re.MULTILINE | re.IGNORECASE),
         "how_to_apply": re.compile(r"^\*\*How to apply:?\*\*:?[ \t]*", re.MULTILINE | re.IGNORECASE)}  # fmt: skip
HEADING = re.compile(r"\A\s*#\s+(.+?)\s*#*\s*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class Memory:
    """The page that a file becomes. `sections` are those with a text, in the order of the file."""

    type: str
    slug: str
    title: str
    summary: str | None
    sections: tuple[Section, ...]
    fields: dict[str, Any]
    captured_at: datetime | None


def memory_of(name: str, text: str) -> Memory | None:
    """Read a memory, such as `feedback_small-batches.md`; return None if the file has another name or makes no page."""
    found = NAMED.fullmatch(name)
    return read(TYPES[found[1].lower()], found[2], name, text) if found else None


def insight_of(name: str, text: str) -> Memory | None:
    """Read a file of insights as a page of the type theme; return None if the file makes no page."""
    return read(INSIGHT, name.removesuffix(".md"), name, text)


def read(type: str, topic: str, name: str, text: str) -> Memory | None:
    """Return the page of a file; None if the file is empty, or if no slug can be made from its topic."""
    try:
        fields, body = split_any(text)
    except BadFrontmatter:
        fields, body = {}, text
    heading = HEADING.match(body)
    if heading:
        body = body[heading.end() :]
    title_text = fields.get("name") or fields.get("title") or (heading and heading[1]) or title_of_topic(topic)
    title = " ".join(str(title_text).split())
    try:
        slug = slugify(topic)
    except NoSlug:
        return None
    sections = split_sections(type, body.strip())
    if not sections:
        return None
    summary = " ".join(str(fields.get("description") or "").split()) or first_sentence(sections[0].body)
    metadata = {
        key: value for key, value in fields.items() if key in ("confidence", "sensitivity", "owner", "expires_at")
    }
    return Memory(type, slug, title[: TITLE.maximum], summary[: SUMMARY.maximum] or None, sections, metadata,
                  date_of(fields, name, text))  # fmt: skip


def title_of_topic(topic: str) -> str:
    return topic.replace("_", " ").replace("-", " ").strip().capitalize()


def split_sections(type: str, body: str) -> tuple[Section, ...]:
    """Return the sections of a text that are not empty.

    Headings of level 2 begin sections. In the text before them, `**Why:**` and `**How to apply:**` do, too, if the type
    has these sections.
    """
    template = dict(TEMPLATES[type])
    parsed = parse(body)
    lead = parsed[0].body if parsed and not parsed[0].heading else ""
    found = {slug: Section(slug, template[slug], text) for slug, text in split_lead(lead, list(template)).items()}
    for section in parsed:
        if section.heading and section.body:
            above = found.get(section.slug)
            joined = f"{above.body}\n\n{section.body}" if above else section.body
            found[section.slug] = replace(above or section, body=joined)
    return tuple(found.values())


def split_lead(text: str, slugs: list[str]) -> dict[str, str]:
    """Return the parts of a text by section slug. The part before `**Why:**` and `**How to apply:**` is the first."""
    marks = sorted(
        (found.start(), found.end(), slug)
        for slug, mark in PARTS.items()
        if slug in slugs and (found := mark.search(text))
    )
    ends = [*(start for start, _, _ in marks[1:]), len(text)][: len(marks)]
    parts = {slugs[0]: text[: marks[0][0]].strip() if marks else text}
    parts |= {slug: text[end:last].strip() for (_, end, slug), last in zip(marks, ends, strict=True)}
    return {slug: part for slug, part in parts.items() if part}
