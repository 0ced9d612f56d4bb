"""Find the ends of sentences.

A full stop after an abbreviation, an initial or an ordinal before a month does not end a sentence, and neither does one
inside brackets.
"""

import re
from collections.abc import Iterator

from .normalization import whole_letters

SENTENCE_MAX = 160  # characters of a first sentence

# A full stop ends a sentence if a space and no small letter follow it. Full stops of CJK and Indic scripts always do.
END = re.compile(r"[.!?…؟۔]+[\"'”’»)\]*_]*(?=\s+[^\sa-zа-яα-ω])|[。！？．｡।॥።።]+[」』”’）]*")
BEFORE = r"(?:^|[\s(\"“‘„]|(?<!\w)')"
ABBREVIATION = re.compile(
    rf"{BEFORE}(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]"
    # titles
    r"|Dr|Dra|Mr|Mrs|Ms|Mx|Prof|St|Jr|Sr|Sra|Srta|Hr|Hrn|Fr|Frl|Mme|Mlle|Mgr|Dott|Sig|Rev|Capt|Sgt|Pfr|Ing|Vors"
    # English, Latin
    r"|vs|etc|approx|ca|cf|viz|incl|excl|Inc|Ltd|Corp"
    # German
    r"|Nr|bzw|usw|evtl|ggf|vgl|inkl|exkl|zzgl|abzgl|bzgl|einschl|sog|voraussichtl|urspr|insb|stv|stellv|einst|gegr|geb"
    r"|gest|verst|fam|gem|lt|rd"
    # French, Spanish, Portuguese, Italian
    r"|env|éd|réf|tél|aprox|núm|pág|págs|tel|Tel|avda|pag)\.$"
)
# Abbreviations before a number: `No. 5`, `Sat. 11 May`, `Hauptstr. 5`. Elsewhere they may end a sentence.
BEFORE_NUMBER = re.compile(
    rf"{BEFORE}(?:No|Nos|no|nos|Fig|Figs|fig|figs|pp|min|max|est|Abs|Art|art|Kap|Bd|Vol|vol|Ch|ch|Sec|sec|Std"
    r"|Jan|Feb|Mar|Mär|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Okt|Nov|Dec|Dez|Mon|Tue|Tues|Wed|Thu|Thurs|Fri|Sat|Sun|Mo|Di|Mi|Do"
    r"|Sa|So)\.$|str\.$"
)
NUMBER = re.compile(r"\s+\d")
# A German ordinal before a month: `am 20. Februar`.
ORDINAL = re.compile(r"\b\d{1,2}\.$")
MONTH = re.compile(r"\s+(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-zä]{0,6}\b", re.IGNORECASE)
REACH = 20  # characters before a full stop in which an abbreviation is looked for
BRACKETS_MAX = 200  # characters between brackets; a longer text between them is divided into sentences
IN_BRACKETS = re.compile(rf"(?<![:;=-])\([^()\n]{{1,{BRACKETS_MAX}}}\)|（[^（）\n]{{1,{BRACKETS_MAX}}}）")


def sentence_ends(text: str, limit: int | None = None) -> Iterator[int]:
    """Yield the position after each sentence except the last. Ends after the first `limit` characters are not found."""
    last = len(text) if limit is None else limit
    brackets = IN_BRACKETS.finditer(text, 0, last + BRACKETS_MAX) if "(" in text or "（" in text else iter(())
    inside = next(brackets, None)
    for end in END.finditer(text, 0, last):
        while inside and inside.end() < end.end():
            inside = next(brackets, None)
        is_inside = inside is not None and inside.start() < end.start() and end.end() < inside.end()
        if not is_inside and not _is_abbreviated(text, *end.span()):
            yield end.end()


def _is_abbreviated(text: str, start: int, end: int) -> bool:
    """Return whether the full stop at `start` ends an abbreviation or an ordinal, and not a sentence.

    `end` is the position after the closing quotation marks and brackets that follow the full stop.
    """
    if text[start] != ".":
        return False
    before = text[max(0, start - REACH) : start + 1]
    return bool(
        ABBREVIATION.search(before)
        or (BEFORE_NUMBER.search(before) and NUMBER.match(text, end))
        or (ORDINAL.search(before) and MONTH.match(text, end))
    )


def first_sentence(text: str, limit: int = SENTENCE_MAX) -> str:
    """Return the first sentence on one line, with at most `limit` characters.

    A longer sentence is cut, between words if possible, and ends in `…`.
    """
    words = " ".join(text.split())
    sentence = words[: next(sentence_ends(words, limit + 2), len(words))]
    if len(sentence) <= limit:
        return sentence
    room = sentence[:limit]
    whole = room[:-1].rpartition(" ")[0] if " " in room[limit // 2 : -1] else room[: whole_letters(room, limit - 1)]
    return whole.rstrip(" ,;:—–-") + "…"
