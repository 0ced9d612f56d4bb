"""Read and write the citations, superseded claims and contradictions in the header of a note."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from ..limits import quoted
from ..values import BadNote, Fields, format_moment, parse_time
from .plain import excerpt

T = TypeVar("T")
NAMES = ("sources", "source_refs")
LINES = re.compile(r"L?(\d{1,9})(?:\s*[-–]\s*L?(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A citation in a note. Its lines count from 1, and both ends are included.

    `section` is the slug or heading of the section that the source supports, None for the whole page. `version` is the
    version of the source, None for the newest.
    """

    ref: str
    kind: str | None = None
    section: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    summary: str | None = None
    version: int | None = None

    def fields(self) -> dict[str, Any]:
        """Return the citation as a mapping for the header of a note."""
        lines = None if self.line_start is None else f"{self.line_start}-{self.line_end}"
        values = {
            "ref": self.ref, "kind": self.kind, "version": self.version, "section": self.section, "lines": lines,
            "summary": self.summary,
        }  # fmt: skip
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ClaimMark:
    """A superseded claim in a note. `stated_by` and `overridden_by` are the kind and ref of a source, if known.

    A kind of None stands for the only source with this ref.
    """

    fact: str
    replacement: str
    superseded_on: datetime
    section: str | None = None
    heading: str | None = None
    stated_by: tuple[str | None, str] | None = None
    overridden_by: tuple[str, str] | None = None

    def fields(self) -> dict[str, Any]:
        """Return the claim as a mapping for the header of a note."""
        values = {
            "fact": self.fact, "replacement": self.replacement, "superseded_on": format_moment(self.superseded_on),
            "section": self.section, "heading": self.heading,
            **{
                name: {"kind": source[0], "ref": source[1]}
                for name, source in (("stated_by", self.stated_by), ("overridden_by", self.overridden_by))
                if source
            },
        }  # fmt: skip
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class StatedMark:
    """One of the two claims of a contradiction in a note. `source` is the kind and ref of its source, if known."""

    claim: str
    on: datetime
    section: str | None = None
    support: int = 1
    source: tuple[str, str] | None = None

    def fields(self) -> dict[str, Any]:
        """Return the claim as a mapping for the header of a note."""
        source = {"kind": self.source[0], "ref": self.source[1]} if self.source else None
        values = {
            "claim": self.claim, "on": format_moment(self.on), "section": self.section, "support": self.support,
            "source": source,
        }  # fmt: skip
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ContradictionMark:
    """Two claims of a page in a note that cannot both hold, and the decision between them, if there is one."""

    older: StatedMark
    newer: StatedMark
    resolution: str | None = None
    reason: str | None = None
    resolved_at: datetime | None = None

    def fields(self) -> dict[str, Any]:
        """Return the contradiction as a mapping for the header of a note."""
        decided = self.resolved_at and format_moment(self.resolved_at)
        values = {
            "older": self.older.fields(), "newer": self.newer.fields(), "resolution": self.resolution,
            "reason": self.reason, "resolved_at": decided,
        }  # fmt: skip
        return {name: value for name, value in values.items() if value is not None}


RESOLUTIONS = ("keep_newer", "keep_older", "both_hold")


def take_contradictions(fields: Fields) -> tuple[ContradictionMark, ...]:
    """Remove the field `contradictions`, a list of mappings, and return its contradictions.

    A field of this name with other content is left in place.
    """
    return _take_all(fields, "contradictions", _contradiction)


def _take_all(fields: Fields, name: str, read: Callable[[Any], T | None]) -> tuple[T, ...]:
    """Remove a field and return its items, each once; return none if `read` returns None for one of them."""
    found = [read(item) for item in _as_list(fields.values.get(name))]
    if None in found:
        return ()
    fields.values.pop(name, None)
    return tuple(dict.fromkeys(filter(None, found)))


def _contradiction(item: Any) -> ContradictionMark | None:
    """Read a contradiction; return None if the item is not one."""
    if not isinstance(item, dict):
        return None
    older, newer = _stated(item.get("older")), _stated(item.get("newer"))
    if older is None or newer is None:
        return None
    resolution, reason, at = (item.get(name) for name in ("resolution", "reason", "resolved_at"))
    if resolution is None:
        return ContradictionMark(older, newer)
    resolved_at = parse_time(at) if isinstance(at, str) else None
    if resolution not in RESOLUTIONS or not isinstance(reason, str) or resolved_at is None:
        return None
    return ContradictionMark(older, newer, resolution, reason, resolved_at)


def _stated(item: Any) -> StatedMark | None:
    claim, on, section, support = (
        [item.get(name) for name in ("claim", "on", "section", "support")] if isinstance(item, dict) else [None] * 4
    )
    at = parse_time(on) if isinstance(on, str) else None
    if not isinstance(claim, str) or not claim.strip() or at is None or not isinstance(section, str | None):
        return None
    count = support if isinstance(support, int) and 0 < support < 1_000_000 else 1
    return StatedMark(claim, at, section, int(count), _named_source(item.get("source")))


def take_superseded(fields: Fields, body: str) -> tuple[ClaimMark, ...]:
    """Remove the field `superseded`, a list of mappings, and return its claims. Add those of the field `supersedes`.

    A field of this name with other content is left in place. The claims of `supersedes` (seed 001) name no replacement:
    it is the first paragraph of the note's body. That field stays, because the wiki may lack the sources that it names.
    """
    claims = _take_all(fields, "superseded", _claim)
    blocks = (block for block in body.split("\n\n") if block.strip() and not block.lstrip().startswith("#"))
    known, now = {claim.fact for claim in claims}, excerpt(next(blocks, ""))
    former = [_former_claim(item, now) for item in _as_list(fields.values.get("supersedes"))]
    if None in former:
        return claims
    return (*claims, *(claim for claim in former if claim and claim.fact not in known))


def _former_claim(item: Any, now: str) -> ClaimMark | None:
    """Read a claim `{fact, supersededOn, source}` that `now` supersedes; return None if the item is not one."""
    if not isinstance(item, dict) or not now:
        return None
    fact, on, source = (item.get(name) for name in ("fact", "supersededOn", "source"))
    at = parse_time(on) if isinstance(on, str) else None
    if not isinstance(fact, str) or not fact.strip() or at is None:
        return None
    return ClaimMark(fact, now, at, stated_by=(None, source) if isinstance(source, str) and source else None)


def _claim(item: Any) -> ClaimMark | None:
    """Read a superseded claim; return None if the item is not one."""
    if not isinstance(item, dict):
        return None
    texts = [item.get(name) for name in ("fact", "replacement", "superseded_on", "section", "heading")]
    if not all(isinstance(text, str) and text.strip() for text in texts[:3]):
        return None
    at = parse_time(str(texts[2]))
    if at is None or not all(text is None or isinstance(text, str) for text in texts[3:]):
        return None
    fact, replacement, _, section, heading = texts
    stated_by, overridden_by = (_named_source(item.get(name)) for name in ("stated_by", "overridden_by"))
    return ClaimMark(str(fact), str(replacement), at, section, heading, stated_by, overridden_by)


def _named_source(item: Any) -> tuple[str, str] | None:
    kind, ref = (item.get("kind"), item.get("ref")) if isinstance(item, dict) else (None, None)
    return (kind, ref) if isinstance(kind, str) and isinstance(ref, str) else None


def take_citations(fields: Fields) -> tuple[CitationMark, ...]:
    """Remove the fields `sources` (texts, or mappings with a ref or uri) and `source_refs` (texts), and return the
    citations in them.

    If one of the two has other content, both are left in place.
    """
    named = [item for name in NAMES for item in _as_list(fields.values.get(name))]
    found = [_citation(f"sources.{index}", item) for index, item in enumerate(named)]
    if None in found:
        return ()
    for name in NAMES:
        fields.values.pop(name, None)
    return tuple(dict.fromkeys(filter(None, found)))


def _as_list(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _citation(where: str, item: Any) -> CitationMark | None:
    """Read a citation; return None if the item names no source, as in a field of this name with another meaning."""
    if isinstance(item, str) and item.strip():
        return CitationMark(item.strip())
    if not isinstance(item, dict):
        return None
    source = Fields(item)
    try:
        ref, kind, section = source.text("ref", "uri"), source.text("kind"), source.text("section")
        summary = _summary(source)
    except BadNote as error:
        raise BadNote(f"{where}: {error}") from error
    if ref is None:
        return None
    lines, version = _line_range(where, source.values.get("lines")), _version(where, source.values.get("version"))
    return CitationMark(ref, kind, section, *lines, summary, version)


def _summary(source: Fields) -> str | None:
    """Return the summary, which may have several lines."""
    value = source.values.get("summary")
    return value.strip() or None if isinstance(value, str) else source.text("summary")


def _version(where: str, version: Any) -> int | None:
    if version is None or (isinstance(version, int) and not isinstance(version, bool) and version >= 1):
        return version
    raise BadNote(f"{where}: {quoted(str(version), 40)} is no version: write 1, 2, …")


def _line_range(where: str, lines: Any) -> tuple[int | None, int | None]:
    """Read a range of lines: `5`, `"3-9"` or `[3, 9]`."""
    if lines is None or lines == "":
        return None, None
    written = "-".join(map(str, lines)) if isinstance(lines, list) else str(lines)
    found = LINES.fullmatch(written.strip())
    start, end = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= start <= end:
        raise BadNote(f"{where}: {quoted(written, 40)} is no range of lines: write 5, or 3-9")
    return start, end
