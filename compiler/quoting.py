"""Quotes of sources in markdown, the footnote marks that cite sources, and the maximum length of a section."""

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from urllib.parse import quote, unquote
from uuid import UUID

from content.claims.claims import CITATION_MARK
from content.sentences import first_sentence

from .planner import SourceText

REF_MAX = 200
SENTENCE_MAX = 300  # characters of a quote
SAFE = re.compile(r"[\w./:@+=,;~$!-]+")


def mark(source: SourceText) -> str:
    """Return the footnote mark that cites a source: `[^j029]`"""
    return f"[^{mark_label(source)}]"


def mark_label(source: SourceText) -> str:
    """Return the label inside the brackets of a source's mark."""
    return label_of(source.id, source.ref)


def label_of(id: UUID, ref: str) -> str:
    """Return the label of the source with this id and ref: the escaped ref, or the id if the ref is too long."""
    return _escape(ref) if 0 < len(ref) <= REF_MAX else str(id)


def find_refs(text: str) -> list[str]:
    """Return the refs (or ids) of the sources that a text cites, in order, each once."""
    return list(dict.fromkeys(map(unquote, CITATION_MARK.findall(text))))


@lru_cache(maxsize=10_000)
def _escape(ref: str) -> str:
    """Return a ref in which everything that could be markup or white space is percent-encoded."""
    parts = re.split(f"({SAFE.pattern})", ref)
    return "".join(part if SAFE.fullmatch(part) else quote(part, safe="") for part in parts)


# Characters that markdown, wiki links, footnotes, HTML or formulas could interpret.
MARKUP = re.compile(r"[\\`*\[\]<>|~$]|(?<!\w)_|_(?!\w)|(?<=\w)_(?=_)|&(?=#?\w{1,30};)|(?<=:)//(?=wiki)")
INVISIBLE = re.compile("[\u200b\u2028\u2029\u2060\ufeff]")


def quoted(text: str) -> str:
    """Return the text in quotation marks: `“Last table at Taberna.”`. A text that is cut ends in `…`."""
    return f"“{literal(text)}”"


def literal(text: str) -> str:
    """Return the text, cut to SENTENCE_MAX characters, with a backslash before everything that would be markup."""
    text = (
        first_sentence(INVISIBLE.sub("", text), SENTENCE_MAX) if len(text) > SENTENCE_MAX else INVISIBLE.sub("", text)
    )
    return MARKUP.sub(lambda found: "\\" + found[0], text)


def bullet(source: SourceText, texts: tuple[str, ...], about: str = "", day: date | None = None) -> str:
    """Return a line that quotes a source, with `day` or else the source's: `- 2026-04-03 — Lisbon: “…” “…” [^ref]`"""
    written = (day or source.captured_at.date()).isoformat()
    lead = f"{written} — {literal(about)}" if about else written
    return f"- {lead}: {' '.join(map(quoted, texts))} {mark(source)}"


CHARACTERS_MAX = 6_000  # of one section


def fit_lines(lines: Sequence[str]) -> list[str]:
    """Return as many of the first lines as fit into a section."""
    fitting, size = [], 0
    for line in lines:
        size += len(line) + 1
        if size > CHARACTERS_MAX:
            break
        fitting.append(line)
    return fitting
