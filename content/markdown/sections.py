"""Split a page's body into sections, and join sections into a body.

A line `## Heading` outside code and HTML starts a section. The text before the first heading is the lead, a section
whose heading is "".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise

from ..limits import HEADING, quoted
from ..names import numbered_section, section_slug
from ..sensitivity import has_mark, strip_level
from .prose import blocks, lines

BLANK = " \t\r\n"
# A body with marks of code, HTML or indented blocks needs the markdown parser. Any other body is scanned for headings
# line by line, a hundred times as fast.
INTRICATE = re.compile(r"[`<\t\0]|~~~| {4}|(?:\A|[\r\n]) {1,3}##")


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page; `body` is the text under the heading, without blank lines at its ends."""

    slug: str
    heading: str
    body: str


# A section that is rendered after a text under test, to see whether the text would swallow it.
NEXT = Section("next", "The next section", "")


def parse(body: str) -> list[Section]:
    """Split a body into its sections, in order.

    Only blank lines around the texts and the markup of headings are dropped.
    """
    rows = lines(body)
    found = _headings(body)
    ends = [row for row, _ in found[1:]] + [len(rows)]
    texts = [trim("".join(rows[row + 1 : end])) for (row, _), end in zip(found, ends, strict=False)]
    headings = [heading for _, heading in found]
    lead = trim("".join(rows[: found[0][0]] if found else rows))
    if lead:
        headings, texts = ["", *headings], [lead, *texts]
    return [Section(*parts) for parts in zip(slugs(headings), headings, texts, strict=True)]


def render(sections: Iterable[Section]) -> str:
    """Join sections into a body: `## Heading`, a blank line and the text of each, with a blank line between
    sections."""
    parts = (
        part
        for section in sections
        for part in (f"## {section.heading}" if section.heading else "", trim(section.body))
    )
    return "\n\n".join(filter(None, parts))


def trim(text: str) -> str:
    """Strip blank lines at both ends, as a section's text is stored. The first line keeps its indentation."""
    start, end = len(text) - len(text.lstrip(BLANK)), len(text.rstrip(BLANK))
    if start >= end:
        return ""
    start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    rest = text[end:]
    return text[start : end + len(rest) - len(rest.lstrip(" \t"))]


def slugs(headings: Sequence[str]) -> list[str]:
    """Return a unique slug for each heading of a page, in order. The heading "" is that of the lead."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    named = [
        _unique(section_slug(strip_level(heading) or heading), taken, counts) if heading else "" for heading in headings
    ]
    numbered = (numbered_section("lead", n) for n in count(2))
    lead = next(slug for slug in chain(("overview", "lead"), numbered) if slug not in taken)
    return [slug or lead for slug in named]


def problem(section: Section) -> str | None:
    """Return an error message with the reason why a page cannot have this section and the remedy; None if it can."""
    heading, text = section.heading, trim(section.body)
    if "\0" in heading or "\0" in text:
        return "the heading or the text has a NUL character: leave it out"
    if "\n" in heading or "\r" in heading:
        return "the heading has a line break: write it on one line"
    if len(heading) > HEADING.maximum:
        return f"the heading has {len(heading)} characters: at most {HEADING.maximum} are allowed"
    if not heading and not text:
        return "the section has neither heading nor text: give it one, or leave it out"
    if heading and [found.heading for found in parse(f"## {heading}")] != [heading]:
        return "the heading begins or ends with a space or is closed by #: write it without"
    return _text_problem(text)


def check(sections: Sequence[Section]) -> str | None:
    """Return an error message if parsing the rendered sections would give other sections; None otherwise."""
    if parse(render(sections)) == list(sections):
        return None
    for section in sections:
        if reason := problem(section):
            return f"section {section.slug}: {reason}"
    if any(not section.heading for section in sections[1:]):
        return "only the first section may be without a heading: give the others one"
    if any(section.body != trim(section.body) for section in sections):
        return "a section's text begins or ends with blank lines: trim it"
    expected = ", ".join(slugs([section.heading for section in sections]))
    return f"the slugs do not follow from the headings: {expected} would"


def mark_problem(text: str) -> str | None:
    """Return an error message if a heading with the mark of a level is too long to start a section; None otherwise.

    The mark would hide nothing.
    """
    for _, title in _titles(text) if has_mark(text) else ():
        if len(title) > HEADING.maximum and has_mark(title):
            return (
                f"the heading {quoted(title)} has {len(title)} characters, so that its sensitivity would hide nothing: "
                f"at most {HEADING.maximum} are allowed"
            )
    return None


def _headings(body: str) -> list[tuple[int, str]]:
    """Return (row, heading) for each line that starts a section."""
    return [(row, title) for row, title in _titles(body) if 0 < len(title) <= HEADING.maximum]


def _titles(body: str) -> Iterable[tuple[int, str]]:
    """Return (row, text) for each heading of level 2, however long it is."""
    if "##" not in body:
        return ()
    return _parse_headings(body) if INTRICATE.search(body) else _scan_headings(body)


def _parse_headings(body: str) -> Iterator[tuple[int, str]]:
    for token, title in pairwise(blocks(body)):
        if token.type == "heading_open" and token.tag == "h2" and token.level == 0 and token.map:
            yield token.map[0], title.content


def _scan_headings(body: str) -> Iterator[tuple[int, str]]:
    """Yield (row, heading) for a body in which every line that begins with ## is a heading."""
    for row, line in enumerate(lines(body)):
        if line.startswith("##") and line[2:3] in ("", " ", "\r", "\n"):
            title = line[2:].rstrip(" \r\n")
            bare = title.rstrip("#")
            yield row, (bare if bare.endswith(" ") else title).strip()


def _text_problem(text: str) -> str | None:
    """Return an error message if the text would swallow the next section or split in two; None otherwise."""
    headings = [section.heading for section in parse(render([Section("", "", text), NEXT])) if section.heading]
    if not headings or headings[-1] != NEXT.heading:
        return "the text leaves a code fence or an HTML block open, which would swallow the next section: close it"
    if len(headings) > 1:
        return f"the text holds the level-2 heading {quoted(headings[0])}: make it a section of its own, or write ###"
    return None


def _unique(slug: str, taken: set[str], counts: dict[str, int]) -> str:
    candidate = slug
    while candidate in taken:
        counts[slug] = counts.get(slug, 1) + 1
        candidate = numbered_section(slug, counts[slug])
    taken.add(candidate)
    return candidate
