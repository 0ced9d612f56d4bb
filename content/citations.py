"""The sources that a note names."""

import re
from dataclasses import dataclass
from typing import Any

from .fields import BadNote, Fields

LINES = re.compile(r"L?(\d{1,9})(?:\s*[-–]\s*L?(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Citation:
    """`section` is the slug or heading it was used for, None for the whole page; lines count from 1, both included."""

    ref: str
    kind: str | None = None
    section: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    summary: str | None = None


def citations(fields: Fields) -> tuple[Citation, ...]:
    """From `sources` (texts, or mappings with a ref or uri) and `source_refs` (texts)."""
    named = _listed(fields.values.pop("sources", None)) + _listed(fields.values.pop("source_refs", None))
    return tuple(dict.fromkeys(_citation(f"sources.{index}", item) for index, item in enumerate(named)))


def _listed(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _citation(where: str, item: Any) -> Citation:
    if isinstance(item, str) and item.strip():
        return Citation(item.strip())
    if not isinstance(item, dict):
        raise BadNote(f"{where} is neither a text nor a mapping: write `- uri: …`")
    source = Fields(item)
    try:
        ref, kind, section = source.text("ref", "uri"), source.text("kind"), source.text("section")
        summary = source.text("summary")
    except BadNote as error:
        raise BadNote(f"{where}: {error}") from error
    if ref is None:
        raise BadNote(f"{where} names no source: give its ref or uri")
    return Citation(ref, kind, section, *_line_range(where, source.values.get("lines")), summary)


def _line_range(where: str, lines: Any) -> tuple[int | None, int | None]:
    """`5`, `"3-9"` or `[3, 9]`."""
    if lines is None or lines == "":
        return None, None
    written = "-".join(map(str, lines)) if isinstance(lines, list) else str(lines)
    found = LINES.fullmatch(written.strip())
    start, end = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= start <= end:
        raise BadNote(f"{where}: {written[:40]!r} is no range of lines: write 5, or 3-9")
    return start, end
