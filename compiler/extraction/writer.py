"""Sections out of their cited sources, and out of nothing else.

A line that the sources could have made is the writer's own and is made anew. Every other line of the section is
somebody's: it stays, above ours, and a line that somebody changed takes the place of ours.
"""

import re
from collections.abc import Iterable, Sequence
from operator import attrgetter

from rapidfuzz import fuzz

from ..planner import LEADING, SectionTask, SourceText
from ..quoting import MARK, find_refs, fit_lines, mark, mark_label
from .evidence import EvidenceLine, Subject, entries, former_lines, subject_of
from .reading_cache import load_words_of, reading_of
from .texts.sentence_scores import DEFINITION
from .texts.text import folded_name

ALIKE = 90  # per cent of the letters: the same said again
CHANGED = 60  # per cent: the same line, edited
DEFINITIONS_MAX = 2
SHOWN = {"highlights": 6, "recent": 6}
SHOWN_OTHERWISE = 16
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
        for source in (*sources, *(one for _, earlier in task.earlier for one in earlier)):
            await load_words_of(reading_of(source))
        subject = subject_of(task.page_type, task.page_title, task.page_aliases)
        written = _related(task, sources) if task.slug in RELATED else _lines(task, sources, subject)
        theirs = _theirs(task, sources, subject)
        ours = [line for line in written if not _is_replaced(line, theirs)] if theirs else written
        return "\n\n".join(filter(None, ["\n".join(theirs).strip("\n"), "\n".join(fit_lines(ours))]))


def _newest_first(sources: Iterable[SourceText]) -> list[SourceText]:
    """Return the sources, each once, the newest first; of one moment by their ids."""
    unique = {source.id.int: source for source in sources}
    return sorted(map(unique.__getitem__, sorted(unique)), key=CAPTURED, reverse=True)


def _lines(task: SectionTask, sources: Sequence[SourceText], subject: Subject) -> list[str]:
    """Return the chosen lines, none of which says what stands before; what there is no room for is counted."""
    said: list[EvidenceLine] = []
    for slug, earlier in task.earlier:
        said += _chosen(slug, _newest_first(earlier), subject, said)[0]
    chosen, left = _chosen(task.slug, sources, subject, said)
    return [*(entry.line for entry in chosen), *([f"- … (+{left})"] if left else [])]


def _chosen(
    slug: str, sources: Sequence[SourceText], subject: Subject, said: Sequence[EvidenceLine]
) -> tuple[list[EvidenceLine], int]:
    """Return the lines of a section, and the number of sources for which there is no room."""
    if slug in LEADING:
        return lead_of(sources, subject), 0
    limit = SHOWN.get(slug, SHOWN_OTHERWISE)
    found = [entries(slug, reading_of(source), subject) for source in sources[:READ_MAX]]
    if slug in ("notes", "visits") and any(entry.score >= 0 for lines in found for entry in lines):
        found = [tuple(entry for entry in lines if entry.score >= 0) for lines in found]
    chosen: list[EvidenceLine] = []
    left = len(sources[READ_MAX:])
    for lines in found:
        new = [entry for entry in lines if is_new(entry, [*said, *chosen])]
        if len(chosen) >= limit and slug != "highlights":
            left += bool(new)
        else:
            chosen += new if slug == "highlights" else new[: limit - len(chosen)]
    chosen.sort(key=lambda entry: entry.day, reverse=True)  # one source may have entries of several days
    if slug == "highlights":
        best = sorted(chosen, key=lambda entry: -entry.score)[:limit]
        return [entry for entry in chosen if entry in best], 0
    if slug in ("decision", "context", "rationale"):
        chosen.reverse()
    return chosen, left


def lead_of(sources: Sequence[SourceText], subject: Subject) -> list[EvidenceLine]:
    """Return what says what it is, the best and of equals the newest first, and then how it is now.

    Where nothing defines it, the sentence stands first that says most.
    """
    found = [entry for source in sources[:READ_MAX] for entry in entries("overview", reading_of(source), subject)]
    chosen: list[EvidenceLine] = []
    for entry in sorted(found, key=lambda entry: -int(2 * entry.score)):
        is_lead = entry.score >= DEFINITION if chosen else not entry.is_now or len(found) == 1
        if is_lead and len(chosen) < DEFINITIONS_MAX and is_new(entry, chosen):
            chosen.append(entry)
    now = next((entry for entry in found if entry.is_now and is_new(entry, chosen)), None)
    return [*chosen, now] if now else chosen


def is_new(entry: EvidenceLine, chosen: Sequence[EvidenceLine]) -> bool:
    """Return whether no chosen line said much the same before. A line with other numbers is another one."""
    key = entry.key
    least, most = len(key) / 2, 2 * len(key)  # others are far too long or short to be the same
    return not any(_is_same(key, other.key) for other in chosen if least <= len(other.key) <= most)


def _is_same(key: str, other: str) -> bool:
    shorter, longer = (key, other) if len(key) <= len(other) else (other, key)
    if shorter in longer and 2 * len(shorter) > len(longer):
        return True
    return bool(fuzz.ratio(key, other, score_cutoff=ALIKE)) and NUMBER.findall(key) == NUMBER.findall(other)


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
        line
        for source in sources
        if cited and mark_label(source) in cited
        for line in (
            *(entry.line for entry in entries(task.slug, reading_of(source), subject)),
            *former_lines(task.slug, reading_of(source), subject),
        )
    }
    return [line for line in lines if line not in own] if any(map(str.strip, lines)) else []


def _is_form(line: str, slug: str) -> bool:
    """Return whether only the writer has lines of this form."""
    return REST.match(line) is not None or (slug in RELATED and RELATED_LINE.match(line) is not None)


def _is_replaced(line: str, theirs: Iterable[str]) -> bool:
    """Return whether a person's line is this one, changed: it names the same source and says much the same."""
    cited = find_refs(line)[:1]
    return any(
        cited == find_refs(other)[:1] and fuzz.ratio(line, other) >= CHANGED for other in theirs if "[^" in other
    )
