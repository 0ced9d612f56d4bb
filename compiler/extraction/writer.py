"""The rule-based section writer, which writes a section from its cited sources and from nothing else.

A line of the present text that the cited sources produce is the writer's own, and is written again. All other lines
were written by people: they stay, above the writer's lines, and an edited line replaces the line from which it was
made.
"""

import re
from collections.abc import Iterable, Sequence
from operator import attrgetter

from rapidfuzz import fuzz

from content.claims.claims import CITATION_MARK

from ..planner import LEADING, SectionTask, SourceText
from ..quoting import find_refs, fit_lines, mark, mark_label
from .evidence import EvidenceLine, Subject, entries, former_lines, subject_of
from .reading_cache import load_words_of, reading_of
from .texts.sentence_scores import DEFINITION
from .texts.text import folded_name

ALIKE = 90  # per cent of equal letters, from which on two lines say the same
CHANGED = 60  # per cent of equal letters, from which on a person's line is an edited line of the writer
DEFINITIONS_MAX = 2
LINES_MAX = {"highlights": 6, "recent": 6}  # lines of these sections
DEFAULT_LINES_MAX = 16  # lines of all other sections
READ_MAX = 120  # newest sources that are read for one section
RELATED_MAX = 8
RELATED = frozenset({"related", "related_entities"})
NUMBER = re.compile(r"\d+")
CAPTURED = attrgetter("captured_at")
REST = re.compile(r"^- … \(\+\d+\)$")
RELATED_LINE = re.compile(
    r"^- (?:\[\*\*.{1,600}\*\*\]\([^()\s]{1,400}\)|\*\*.{1,600}\*\*)(?: ×\d+)?(?: \[\^[^\[\]\s^]+\])+$"
)


class ExtractiveWriter:
    """A rule-based `SectionWriter`. The same set of sources gives the same text, in any order."""

    is_free = True
    sources_max = 60
    reads_again = True

    async def write(self, task: SectionTask) -> str:
        """Return the text of the section, which is the present text if there are no sources.

        It has at most 6,000 characters besides the lines of people.
        """
        if not task.sources:
            return task.body
        sources = _newest_first(task.sources)
        for source in (*sources, *(source for _, earlier in task.earlier for source in earlier)):
            await load_words_of(reading_of(source))
        subject = subject_of(task.page_type, task.page_title, task.page_aliases)
        written = _related(task, sources) if task.slug in RELATED else _lines(task, sources, subject)
        peoples_lines = _lines_of_people(task, sources, subject)
        new_lines = [line for line in written if not _is_replaced(line, peoples_lines)] if peoples_lines else written
        return "\n\n".join(filter(None, ["\n".join(peoples_lines).strip("\n"), "\n".join(fit_lines(new_lines))]))


def _newest_first(sources: Iterable[SourceText]) -> list[SourceText]:
    """Return the sources, each once, the newest first, and those of the same time by id."""
    unique = {source.id.int: source for source in sources}
    return sorted(map(unique.__getitem__, sorted(unique)), key=CAPTURED, reverse=True)


def _lines(task: SectionTask, sources: Sequence[SourceText], subject: Subject) -> list[str]:
    """Return the lines of a section that do not repeat earlier sections, and a line that counts omitted sources."""
    previous: list[EvidenceLine] = []
    for slug, earlier in task.earlier:
        previous += _chosen(slug, _newest_first(earlier), subject, previous)[0]
    chosen, left = _chosen(task.slug, sources, subject, previous)
    return [*(entry.line for entry in chosen), *([f"- … (+{left})"] if left else [])]


def _chosen(
    slug: str, sources: Sequence[SourceText], subject: Subject, previous: Sequence[EvidenceLine]
) -> tuple[list[EvidenceLine], int]:
    """Return the lines of a section that are not in `previous`, and the number of sources that are omitted."""
    if slug in LEADING:
        return lead_of(sources, subject), 0
    limit = LINES_MAX.get(slug, DEFAULT_LINES_MAX)
    found = [entries(slug, reading_of(source), subject) for source in sources[:READ_MAX]]
    if slug in ("notes", "visits") and any(entry.score >= 0 for lines in found for entry in lines):
        found = [tuple(entry for entry in lines if entry.score >= 0) for lines in found]
    chosen: list[EvidenceLine] = []
    left = len(sources[READ_MAX:])
    for lines in found:
        new = [entry for entry in lines if is_new(entry, [*previous, *chosen])]
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
    """Return the lines of a first section: the best definitions of the subject, and then how it is now.

    Of equal definitions, the newest comes first. If there is none, the line with the highest score takes its place.
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
    """Return whether no chosen line says nearly the same."""
    key = entry.key
    min_length, max_length = len(key) / 2, 2 * len(key)  # lines of other lengths cannot say the same
    return not any(_is_same(key, other.key) for other in chosen if min_length <= len(other.key) <= max_length)


def _is_same(key: str, other: str) -> bool:
    """Return whether two lines say nearly the same. Lines with different numbers do not."""
    shorter, longer = (key, other) if len(key) <= len(other) else (other, key)
    if shorter in longer and 2 * len(shorter) > len(longer):
        return True
    return bool(fuzz.ratio(key, other, score_cutoff=ALIKE)) and NUMBER.findall(key) == NUMBER.findall(other)


def _related(task: SectionTask, sources: Sequence[SourceText]) -> list[str]:
    """Return a line for each related page that sources name, the most named first: `- **Title** ×3 [^…] [^…] [^…]`.

    The number counts all sources that name it, of which the newest are cited.
    """
    page_name = folded_name(task.page_title)
    names = {title: folded_name(title) for title, _, _ in task.related}
    naming = _naming(sources[:READ_MAX], {name for name in names.values() if name.strip() and name != page_name})
    rows = sorted((-len(naming[name]), title) for title, name in names.items() if name in naming)
    return [_related_line(title, naming[names[title]]) for _, title in rows[:RELATED_MAX]]


def _related_line(title: str, near: Sequence[SourceText]) -> str:
    name = " ".join(title.split()).replace("**", "")
    return f"- **{name}** ×{len(near)} {' '.join(map(mark, near[:3]))}"


def _naming(sources: Iterable[SourceText], names: Iterable[str]) -> dict[str, list[SourceText]]:
    """Return the sources whose text or metadata contains each of these folded names, by name."""
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


def _lines_of_people(task: SectionTask, sources: Iterable[SourceText], subject: Subject) -> list[str]:
    """Return the lines of the present text that people wrote or changed."""
    lines = [line for line in task.body.splitlines() if not _is_writers(line, task.slug)]
    cited = set(CITATION_MARK.findall("\n".join(lines)))
    writers = {
        line
        for source in sources
        if cited and mark_label(source) in cited
        for line in (
            *(entry.line for entry in entries(task.slug, reading_of(source), subject)),
            *former_lines(task.slug, reading_of(source), subject),
        )
    }
    return [line for line in lines if line not in writers] if any(map(str.strip, lines)) else []


def _is_writers(line: str, slug: str) -> bool:
    """Return whether the line has a form that only the writer uses: a count of sources, or a related page."""
    return REST.match(line) is not None or (slug in RELATED and RELATED_LINE.match(line) is not None)


def _is_replaced(line: str, peoples_lines: Iterable[str]) -> bool:
    """Return whether a person's line is an edited version of this line: similar, with the same first citation."""
    cited = find_refs(line)[:1]
    return any(
        cited == find_refs(other)[:1] and fuzz.ratio(line, other) >= CHANGED for other in peoples_lines if "[^" in other
    )
