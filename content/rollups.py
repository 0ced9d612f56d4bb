"""Write the lines of a rollup section, and find the first sentence of a text."""

import re

from .markdown.links import title_link

SENTENCE_MAX = 160  # characters

# A full stop ends a sentence if a space and no small letter follow it. Full stops of CJK and Indic scripts always do.
SENTENCE_END = re.compile(r"[.!?…؟۔][\"'”’»)\]*_]*(?=\s+[^\sa-zа-яα-ω])|[。！？．｡।॥።។][」』”’）]*")
ABBREVIATION = re.compile(
    r"(?:^|[\s(\"“‘]|(?<!\w)')(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|No|vs|etc|approx|ca|cf|Inc|Ltd)\.$"
)
# A German ordinal before a month: `am 20. Februar`.
ORDINAL = re.compile(r"\b\d{1,2}\.$")
MONTH = re.compile(r"\s+(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-zä]{0,6}\b", re.IGNORECASE)


def is_no_end(text: str, start: int, end: int) -> bool:
    """Return whether the full stop at `start` ends an abbreviation or an ordinal, and not a sentence.

    `end` is the position after the closing quotation marks and brackets that follow the full stop.
    """
    before = text[max(0, start - 20) : start + 1]
    return bool(ABBREVIATION.search(before) or (ORDINAL.search(before) and MONTH.match(text, end)))


def rollup_line(title: str, type: str, slug: str, summary: str | None) -> str:
    """Return `- [**Title**](/wiki/type/slug) — First sentence of the summary.`; no dash without a summary."""
    link = title_link(" ".join(title.split()), type, slug)
    sentence = first_sentence(summary or "")
    return f"- {link} — {sentence}" if sentence else f"- {link}"


def first_sentence(text: str, limit: int = SENTENCE_MAX) -> str:
    """Return the first sentence on one line, with at most `limit` characters.

    A longer sentence is cut, between words if possible, and ends in `…`.
    """
    words = " ".join(text.split())
    sentence = words[: _sentence_end(words, limit)]
    if len(sentence) <= limit:
        return sentence
    room = sentence[:limit]
    return (room[:-1].rpartition(" ")[0] if " " in room[limit // 2 : -1] else room[:-1]).rstrip(" ,;:—–-") + "…"


def _sentence_end(text: str, limit: int) -> int:
    """Return the end of the first sentence, or of the text if no sentence ends within the limit."""
    for end in SENTENCE_END.finditer(text, 0, limit + 2):
        if not is_no_end(text, *end.span()):
            return end.end()
    return len(text)
