"""Merges an edit of the reader's form with a page that has changed since the form was opened."""

import re
from typing import Any

from content.edits.merging import merge_tags, merge_texts
from content.markdown.sections import parse

EDITED = ("body", "heading", "heading_before", "summary", "summary_before", "tags", "tags_before", "edit_summary")
"""The fields of the form. Those that end in `before` have the values with which the form was opened."""
TAG = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)')


def merge_edit(page: dict[str, Any], section: str, fields: dict[str, str]) -> tuple[dict[str, str], bool]:
    """Return the text before both edits, the one of the page, and the own one, and whether they could be merged.

    If so, the own text is the merged one.
    """
    base = page["base"]["bodyMd"] if page["base"] else ""
    if section:
        before = section_text(base, section, fields["heading_before"])
        theirs = section_text(page["bodyMd"], section, page["section"]["heading"]) if page["section"] else None
        merged = fields["body"] if before == theirs is not None else None
    else:
        before, theirs = base, page["bodyMd"]
        merged = merge_bodies(before, fields["body"], theirs)
    yours = fields["body"] if merged is None else merged
    return {"base": before or "", "yours": yours, "theirs": theirs or ""}, merged is not None


def merge_bodies(base: str, yours: str, theirs: str) -> str | None:
    """Merge two edits of a text section by section. Return None if both changed the same section."""
    merged = merge_texts(base, yours, theirs)
    return None if merged.conflicts else merged.body


def section_text(body: str, slug: str, heading: str) -> str | None:
    """Return the text of the section with this heading, or None if there is none.

    A section keeps its slug under a new heading; the slug tells sections with the same heading apart.
    """
    alike = [section for section in parse(body) if section.heading == heading]
    return next((section.body for section in alike if section.slug == slug or len(alike) == 1), None)


def conflicting_summary(page: dict[str, Any], fields: dict[str, str]) -> str | None:
    """Return the summary of the page if both edits changed it, in different ways, else None."""
    theirs = one_line(page["summary"])
    is_conflict = fields["summary_before"] not in (fields["summary"], theirs) and fields["summary"] != theirs
    return theirs if is_conflict else None


def merge_fields(page: dict[str, Any], fields: dict[str, str]) -> dict[str, str]:
    """Return the heading, the summary and the tags as an edit of the present page: what it did not change is theirs."""
    now = {"summary": one_line(page["summary"])}
    if page.get("section"):
        now["heading"] = page["section"]["heading"]
    was, mine = tags_of(fields["tags_before"]), tags_of(fields["tags"])
    tags = merge_tags(was, mine, page["tags"])
    merged = {"tags": format_tags(tags), "tags_before": format_tags(page["tags"]), "heading_before": ""}
    for name, value in now.items():
        merged |= {name: value if fields[name] == fields[f"{name}_before"] else fields[name], f"{name}_before": value}
    return merged


def one_line(summary: str | None) -> str:
    """Return a summary as a field of one line has it: browsers remove the line breaks of its value."""
    return " ".join((summary or "").split())


def tags_of(text: str) -> list[str]:
    """Return the tags of a field in which they are separated by commas. A tag in quotes is read as it is."""
    parts = (quoted.replace('""', '"') or plain.strip().removeprefix("#") for quoted, plain in TAG.findall(text))
    return list(filter(None, parts))


def format_tags(tags: list[str]) -> str:
    """Return the text of the field with these tags. Those that would be read differently are in quotes."""
    return ", ".join('"' + tag.replace('"', '""') + '"' if tags_of(tag) != [tag] else tag for tag in tags)
