"""A sentence as it stands on a page: between quotation marks, every letter as in the source, no mark of it alive."""

import re

from content.rollups import first_sentence

from ..planner import SourceText
from .citing import mark
from .text import SENTENCE_MAX

# Whatever markdown, wiki links, footnotes, HTML or formulas could take for theirs.
MARKUP = re.compile(r"[\\`*\[\]<>|~$]|(?<!\w)_|_(?!\w)|(?<=\w)_(?=_)|&(?=#?\w{1,30};)|(?<=:)//(?=wiki)")
INVISIBLE = re.compile("[\u200b\u2028\u2029\u2060\ufeff]")


def quoted(text: str) -> str:
    """`“Last table at Taberna.”`; what is cut ends in `…`."""
    return f"“{literal(text)}”"


def literal(text: str) -> str:
    """The text with a backslash before all that would be markup."""
    text = (
        first_sentence(INVISIBLE.sub("", text), SENTENCE_MAX) if len(text) > SENTENCE_MAX else INVISIBLE.sub("", text)
    )
    return MARKUP.sub(lambda found: "\\" + found[0], text)


def bullet(source: SourceText, texts: tuple[str, ...], about: str = "") -> str:
    """`- 2026-04-03 — Lisbon: “…” “…” [^ref]`"""
    day = source.captured_at.date().isoformat()
    lead = f"{day} — {literal(about)}" if about else day
    return f"- {lead}: {' '.join(map(quoted, texts))} {mark(source)}"
