"""Sections out of their cited sources, and out of nothing else.

A line that the sources could have made is the writer's own and is made anew. Every other line of the section is
somebody's: it stays, above ours, and a line that somebody changed takes the place of ours.
"""

import re
from collections.abc import Iterable, Sequence
from operator import attrgetter

from rapidfuzz import fuzz

from ..planner import SectionTask, SourceText
from .evidence import DEFINITION, EvidenceLine, Subject, entries, subject_of
from .quoting import MARK, bounded, kept_label, mark, marked_refs
from .sightings import reading_of
from .text import folded_name

ALIKE = 90  # per cent of the letters: the same said again
CHANGED = 60  # per cent: the same line, edited
COMPARED = 24  # lines that a new one is compared with
SHOWN = {"overview": 3, "summary": 3, "highlights": 6, "recent": 6}
SHOWN_OTHERWISE = 12
READ_MAX = 120  # sources read for one section: the newest
RELATED_MAX = 8
RELATED = frozenset({"related", "related_entities"})
NUMBER = re.compile(r"\d+")
CAPTURED = attrgetter("captured_at")
REST = re.compile(r"^- … \(\+\d+\)$")
RELATED_LINE = re.compile(
    r"^- (?:\[\*\*.{1,600}\*\*\]\([^()\s]{1,400}\)|\*\*.{1,600}\*\*)(?: ×\d+)?(?: \[\^[^\[\]\s^]+\])+$"
)


class ExtractiveWriter:
    """A `SectionWriter` of rules. The same set of sources gives the same text, in whatever order they come."""

    is_free = True
    sources_max = 60
    reads_again = True

    async def write(self, task: SectionTask) -> str:
        """Return the section's text, at most 6 kB beside what people wrote; without sources the present text."""
        if not task.sources:
            return task.body
        sources = _newest_first(task.sources)
        subject = subject_of(task.page_type, task.page_title, task.page_aliases)
        written = _related(task, sources) if task.slug in RELATED else _lines(task.slug, sources, subject)
        theirs = _theirs(task, sources, subject)
        ours = [line for line in written if not _is_replaced(line, theirs)] if theirs else written
        return "\n\n".join(filter(None, ["\n".join(theirs).strip("\n"), "\n".join(bounded(ours))]))


def _newest_first(sources: Iterable[SourceText]) -> list[SourceText]:
    """Return the sources, each once, the newest first; of one moment by their ids."""
    unique = {source.id.int: source for source in sources}
    return sorted(map(unique.__getitem__, sorted(unique)), key=CAPTURED, reverse=True)


def _lines(slug: str, sources: Sequence[SourceText], subject: Subject) -> list[str]:
    """Return the chosen lines; what there is no room for is counted."""
    limit = SHOWN.get(slug, SHOWN_OTHERWISE)
    if slug in ("overview", "summary"):
        return _definitions(sources, subject, limit)
    chosen: list[EvidenceLine] = []
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
    """Return the sentences that say what it is, the best first; the best other one where none does."""
    chosen: list[EvidenceLine] = []
    found = [entry for source in sources[:READ_MAX] for entry in entries("overview", reading_of(source), subject)]
    found.reverse()
    for entry in sorted(found, key=lambda entry: -entry.score):
        if (entry.score >= DEFINITION or not chosen) and _is_new(entry, chosen):
            chosen.append(entry)
    return [entry.line for entry in chosen[:limit]]


def _is_new(entry: EvidenceLine, chosen: list[EvidenceLine]) -> bool:
    """Return whether no chosen line said much the same before. A line with other numbers is another one."""
    return not any(
        fuzz.ratio(entry.key, other.key, score_cutoff=ALIKE) and NUMBER.findall(entry.key) == NUMBER.findall(other.key)
        for other in chosen[-COMPARED:]
    )


def _related(task: SectionTask, sources: Sequence[SourceText]) -> list[str]:
    """Return `- **Title** ×3 [^…] [^…] [^…]`: how many of the sources name it, and the newest of those."""
    own = folded_name(task.page_title)
    names = {title: folded_name(title) for title, _, _ in task.related}
    naming = _naming(sources[:READ_MAX], {name for name in names.values() if name.strip() and name != own})
    rows = sorted((-len(naming[name]), title) for title, name in names.items() if name in naming)
    return [_related_line(title, naming[names[title]]) for _, title in rows[:RELATED_MAX]]


def _related_line(title: str, near: Sequence[SourceText]) -> str:
    name = " ".join(title.split()).replace("**", "")
    return f"- **{name}** ×{len(near)} {' '.join(map(mark, near[:3]))}"


def _naming(sources: Iterable[SourceText], names: Iterable[str]) -> dict[str, list[SourceText]]:
    """Return each of these folded names that is said, with the sources that say it, or whose metadata do."""
    whole = {name: name.strip() for name in names if not name.isascii()}
    by_first: dict[str, list[str]] = {}
    for name in names:
        if name.isascii():
            by_first.setdefault(name.split(None, 1)[0], []).append(name)
    found: dict[str, list[SourceText]] = {}
    for source in sources:
        reading = reading_of(source)
        words = reading.all_words
        said = [name for name, inner in whole.items() if inner in words]
        said += [name for first in by_first.keys() & reading.vocabulary for name in by_first[first] if name in words]
        for name in said:
            found.setdefault(name, []).append(source)
    return found


def _theirs(task: SectionTask, sources: Iterable[SourceText], subject: Subject) -> list[str]:
    """Return the lines of the section that people wrote or changed."""
    lines = [line for line in task.body.splitlines() if not _is_form(line, task.slug)]
    cited = set(MARK.findall("\n".join(lines)))
    own = {
        entry.line
        for source in sources
        if cited and kept_label(source) in cited
        for entry in entries(task.slug, reading_of(source), subject)
    }
    return [line for line in lines if line not in own] if any(map(str.strip, lines)) else []


def _is_form(line: str, slug: str) -> bool:
    """Return whether only the writer has lines of this form."""
    return REST.match(line) is not None or (slug in RELATED and RELATED_LINE.match(line) is not None)


def _is_replaced(line: str, theirs: Iterable[str]) -> bool:
    """Return whether a person's line is this one, changed: it names the same source and says much the same."""
    cited = marked_refs(line)[:1]
    return any(
        cited == marked_refs(other)[:1] and fuzz.ratio(line, other) >= CHANGED for other in theirs if "[^" in other
    )
