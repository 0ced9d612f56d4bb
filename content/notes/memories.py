"""Read the memories and insights that an agent stored as files. Each file becomes a page."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..limits import SUMMARY, TITLE
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
    """The page that a file becomes. `sections` are its texts by section slugs of its type."""

    type: str
    slug: str
    title: str
    summary: str | None
    sections: dict[str, str]
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
    if not any(sections.values()):
        return None
    summary = " ".join(str(fields.get("description") or "").split()) or first_sentence(next(iter(sections.values())))
    metadata = {
        key: value for key, value in fields.items() if key in ("confidence", "sensitivity", "owner", "expires_at")
    }
    return Memory(type, slug, title[: TITLE.maximum], summary[: SUMMARY.maximum] or None, sections, metadata,
                  date_of(fields, name, text))  # fmt: skip


def title_of_topic(topic: str) -> str:
    return topic.replace("_", " ").replace("-", " ").strip().capitalize()


def split_sections(type: str, body: str) -> dict[str, str]:
    """Return the text by section slug.

    `**Why:**` and `**How to apply:**` begin sections of their own if the type has them.
    """
    first = TEMPLATES[type][0][0]
    known = {slug for slug, _ in TEMPLATES[type]}
    marks = sorted(
        (found.start(), found.end(), slug)
        for slug, mark in PARTS.items()
        if slug in known and (found := mark.search(body))
    )
    ends = [*(start for start, _, _ in marks[1:]), len(body)][: len(marks)]
    parts = {first: body[: marks[0][0]].strip() if marks else body}
    return parts | {slug: body[end:last].strip() for (_, end, slug), last in zip(marks, ends, strict=True)}
