"""Sections out of their cited sources, and out of nothing else.

A line that the sources could have made is the writer's own and is made anew. Every other line of the section is
somebody's: it stays, above ours, and a line that somebody changed takes the place of ours.
"""

import re
from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz

from ..planner import SectionTask, SourceText
from .bounds import bounded
from .citing import mark, marked_refs
from .evidence import DEFINITION, Entry, Subject, entries
from .readings import reading_of
from .sightings import Reading
from .text import folded

ALIKE = 90  # per cent of the letters: the same said again
CHANGED = 60  # per cent: the same line, edited
COMPARED = 24  # lines that a new one is compared with
SHOWN = {"overview": 3, "summary": 3, "highlights": 6, "recent": 6}
SHOWN_OTHERWISE = 12
READ_MAX = 120  # sources read for one section: the newest
RELATED_MAX = 8
RELATED = frozenset({"related", "related_entities"})
NUMBER = re.compile(r"\d+")
REST = re.compile(r"^- … \(\+\d+\)$")
RELATED_LINE = re.compile(
    r"^- (?:\[\*\*.{1,600}\*\*\]\([^()\s]{1,400}\)|\*\*.{1,600}\*\*)(?: ×\d+)?(?: \[\^[^\[\]\s^]+\])+$"
)


class ExtractiveWriter:
    """A `SectionWriter` of rules. The same set of sources gives the same text, in whatever order they come."""

    is_free = True
    sources_max = 60

    async def write(self, task: SectionTask) -> str:
        """The section's text, at most 6 kB beside what people wrote; without sources what stands there."""
        sources = sorted({source.id: source for source in task.sources}.values(), key=_newest_first)
        if not sources:
            return task.body
        subject = Subject(task.page_type, task.page_title, task.page_aliases)
        written = _related(task, sources) if task.slug in RELATED else _lines(task.slug, sources, subject)
        theirs = _theirs(task, sources, subject)
        ours = [line for line in written if not _is_replaced(line, theirs)]
        return "\n\n".join(filter(None, ["\n".join(theirs).strip("\n"), "\n".join(bounded(ours))]))


def _newest_first(source: SourceText) -> tuple[float, str]:
    return -source.captured_at.timestamp(), str(source.id)


def _lines(slug: str, sources: Sequence[SourceText], subject: Subject) -> list[str]:
    """The chosen lines; what there is no room for is counted."""
    limit = SHOWN.get(slug, SHOWN_OTHERWISE)
    if slug in ("overview", "summary"):
        return _definitions(sources, subject, limit)
    chosen: list[Entry] = []
    for count, source in enumerate(sources[:READ_MAX]):
        if len(chosen) >= limit and slug != "highlights":
            return [*(entry.line for entry in chosen), f"- … (+{len(sources) - count})"]
        chosen += [entry for entry in entries(slug, reading_of(source), subject) if _is_new(entry, chosen)]
    if slug == "highlights":
        best = sorted(chosen, key=lambda entry: -entry.score)[:limit]
        chosen = [entry for entry in chosen if entry in best]
    if slug in ("decision", "context", "rationale"):
        chosen.reverse()
    return [entry.line for entry in chosen]


def _definitions(sources: Sequence[SourceText], subject: Subject, limit: int) -> list[str]:
    """The sentences that say what it is, the best first; the best other one where none does."""
    chosen: list[Entry] = []
    found = [entry for source in sources[:READ_MAX] for entry in entries("overview", reading_of(source), subject)]
    found.reverse()
    for entry in sorted(found, key=lambda entry: -entry.score):
        if (entry.score >= DEFINITION or not chosen) and _is_new(entry, chosen):
            chosen.append(entry)
    return [entry.line for entry in chosen[:limit]]


def _is_new(entry: Entry, chosen: list[Entry]) -> bool:
    """Whether nobody said much the same before. Other numbers are another thing."""
    return not any(
        fuzz.ratio(entry.key, other.key, score_cutoff=ALIKE) and NUMBER.findall(entry.key) == NUMBER.findall(other.key)
        for other in chosen[-COMPARED:]
    )


def _related(task: SectionTask, sources: Sequence[SourceText]) -> list[str]:
    """`- **Title** ×3 [^…] [^…] [^…]`: how many of the sources name it, and the newest of those."""
    readings = [reading_of(source) for source in sources[:READ_MAX]]
    own = folded(task.page_title)
    rows = []
    for title in dict.fromkeys(title for title, _, _ in task.related):
        name = folded(title)
        near = _naming(readings, name) if name.strip() else []
        if near and name != own:
            rows.append((-len(near), title, near))
    return [_related_line(title, near) for _, title, near in sorted(rows, key=lambda row: row[:2])[:RELATED_MAX]]


def _related_line(title: str, near: Sequence[SourceText]) -> str:
    name = " ".join(title.split()).replace("**", "")
    return f"- **{name}** ×{len(near)} {' '.join(map(mark, near[:3]))}"


def _naming(readings: Sequence[Reading], name: str) -> list[SourceText]:
    """The sources that say a folded name, or whose metadata do."""
    if not name.isascii():
        return [reading.source for reading in readings if name.strip() in reading.all_words]
    first = name.split()[0]
    return [reading.source for reading in readings if first in reading.vocabulary and name in reading.all_words]


def _theirs(task: SectionTask, sources: Sequence[SourceText], subject: Subject) -> list[str]:
    """The lines of the section that people wrote or changed."""
    if not task.body.strip():
        return []
    cited = set(marked_refs(task.body))
    by_mark = {mark(source): source for source in sources if source.ref in cited or str(source.id) in cited}
    own: set[str] = set()
    for source in by_mark.values():
        own.update(entry.line for entry in entries(task.slug, reading_of(source), subject))
    return [line for line in task.body.splitlines() if not _is_own(line, own, task.slug)]


def _is_own(line: str, own: set[str], slug: str) -> bool:
    return line in own or REST.match(line) is not None or (slug in RELATED and RELATED_LINE.match(line) is not None)


def _is_replaced(line: str, theirs: Iterable[str]) -> bool:
    """Whether somebody's line is this one, changed: it names the same source and says much the same."""
    cited = marked_refs(line)[:1]
    return any(
        cited == marked_refs(other)[:1] and fuzz.ratio(line, other) >= CHANGED for other in theirs if "[^" in other
    )
