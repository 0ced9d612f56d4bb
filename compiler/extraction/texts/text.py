"""A source's text as sentences: markup, code and tables taken out, so that what is left can be read and quoted.

Every pattern looks ahead a bounded way: a hostile note costs no more than an honest one of its length.
"""

import re
from collections import Counter
from collections.abc import Iterator, Set
from datetime import date
from functools import lru_cache
from itertools import chain, combinations, islice
from typing import NamedTuple

from content.markdown.plain import plain
from content.names import normalise
from content.normalization import INVISIBLE
from content.notes.dates import STAMP, heading_day, is_month_first, turn_day
from content.notes.fields import NO_RECORD, record_of
from content.notes.mail import mail_of
from content.search.passages import turn_of
from content.search.snippets import CONTROL
from content.search.words import LETTER, SPACELESS
from content.sentences import END, sentence_ends
from content.text_cache import TextCache, cache_short

from .language import word_set
from .markup import CUT, INDENTED, OWN, hidden, visible_text, without_cuts

LINE_MAX = 2_000  # of a line without any full stop: what lies beyond is read as another sentence
TOKENS_MAX = 20_000  # words of a source that are looked up
READ_MAX = 200_000  # characters of a source that are read: what lies beyond is kept with it, but makes no pages
SHORT_MAX, LONG_MAX = 2_000, 50_000  # characters: the sentences of short texts and some long ones are kept for a while
LONG_KEPT = 1_500_000  # characters of all these long ones
FORMER_ENDS_MAX = 4  # full stops inside of a sentence
LONGEST_NAME, LONGEST_WORD = 200, 50  # characters of what is kept

# Left open, a direction would turn around what stands after a quote.
UNREAD = re.compile(f"[\u202a-\u202e\u2066-\u2069{OWN}]")
# A line that begins otherwise is prose, and one without a mark, too, is as it stands.
CAREFUL = frozenset(("", *" \t\x0b\x0c`~#|<%$[:;=-!{'*"))
LISTED = frozenset(" \t-+>0123456789:;")
CODE_OF_MDX = re.compile(
    r"import\s[^\n]{0,200}['\"][\w@./-]+['\"];?\s*$|export\s+(?:const|default|function|let|async)\b"
)

FENCE = re.compile(r"[ \t]{0,8}(```|~~~)")
NO_PROSE = re.compile(
    r"[ \t]*(?:\||<[A-Za-z/!]|%%|\$\$|\[\^?[^\[\]\n]{1,80}\]:|:::|={3,}|-{3,}|!\[|:[A-Z]{3,20}:[ \t]*$|CLOCK:[ \t])"
)
PROPERTY = re.compile(r"[ \t]*(?:[-*][ \t]+)?[\w-]{1,40}::(?:[ \t]|$)")  # of Logseq and Dataview
HEADING = re.compile(
    r"[ \t]{0,3}(?:#{1,6}[ \t]+(?P<text>.*?)[ \t#]*$|(?P<marks>={1,6})(?P<wiki>[^=\n]+)(?P=marks)[ \t]*$)"
)
HEADING_MAX = 200
# The number of an item on an agenda, which is no name: `TOP 3`, `Item 2:`.
AGENDA = re.compile(
    r"(?P<before>[ \t]{0,8}(?:[-*+] +)?)(?:\*\*|__)?"
    r"(?:(?:TOP|Top|Tagesordnungspunkt|Traktandum) ?\d{1,2}[a-z]?(?:\.\d{1,2})?(?:\*\*|__)?[.:)–—-]?"
    r"|(?:Agenda item|Item|Point|Punkt|Punto|Ponto|Agendapunkt) ?\d{1,2}(?:\*\*|__)? ?[.:)–—-])"
    r"(?:\*\*|__)?\s+(?=\S)"
)
# What reaches over several lines and is no prose, by how it begins and ends.
OPENING = re.compile(
    r"[ \t]{0,8}(?:(?P<liquid>\{%-?\s*(?:highlight|raw|comment)\b)|(?P<hugo>\{\{[<%]\s*(?:highlight|code|mermaid)\b)"
    r"|(?P<table>\{\|)|(?P<template>\{\{(?![<%]))|(?P<comment><!--)|(?P<script><(?:script|style|svg|pre)\b)"
    r"|(?P<tag><[A-Za-z][\w.-]{0,60}(?=[\s]|$)))"
)
CLOSING = {
    "liquid": re.compile(r"\{%-?\s*end(?:highlight|raw|comment)\b"),
    "hugo": re.compile(r"\{\{[<%]\s*/\s*(?:highlight|code|mermaid)\b"),
    "table": re.compile(r"^[ \t]{0,8}\|\}"),
    "template": re.compile(r"\}\}"),
    "comment": re.compile("-->"),
    "script": re.compile("</(?:script|style|svg|pre)>"),
    "tag": re.compile(">"),
}
BLOCK_LINES_MAX = 200  # lines that such a thing has: what is longer was no such thing, or is left for good
HEADER = re.compile(r"\ufeff?(?P<marks>---|\+\+\+)[ \t]*$")
HEADER_LINE = re.compile(r"\s*(?:[\w\"'. -]{1,80}\s?[:=]|[-#\]}]|\[)|\s+\S|$")
# What a messenger writes into the export of a chat in place of what somebody said.
NOTICE = re.compile(
    r"\W*(?:<[^<>]{0,60}>|(?:image|video|audio|sticker|gif|document|contact card|media) omitted"
    r"|(?:this message was|you) deleted(?: this message)?|missed (?:voice|video) call\b.{0,60}"
    r"|\S{1,80} \((?:file attached|datei angehängt|fichier joint|archivo adjunto|arquivo anexado)\)"
    r"|waiting for this message\b.{0,60}|messages and calls are end-to-end encrypted\b.{0,200}"
    r"|(?:bild|video|audio|sticker|medien) (?:weggelassen|ausgeschlossen)|diese nachricht wurde gelöscht"
    r"|nachrichten und anrufe sind ende-zu-ende-verschlüsselt\b.{0,200}|null"
    r"|\S{1,40} (?:created|left|joined)(?: this| the)? group\b.{0,60})\W*",
    re.IGNORECASE,
)
TURNS_MIN = 3
FIRST_LINES = 20  # of a conversation: one of them has a speaker
TIMED = frozenset("[0123456789")  # a line with a time before the speaker begins so
# Who speaks for no person, and what stands before a colon without speaking.
NO_SPEAKERS = word_set(
    """
    assistant user system human ai bot chatgpt claude model tool question answer date time title status author note
    notes todo tags source url ps edit update context summary
    """
)
OWN_WORDS = re.compile(
    " (?:i|i'm|i've|i'd|i'll|im|my|me|we|we're|our|us|ich|mein|meine|meinen|meiner|mir|mich|wir|unser|unsere|je|j'|mon"
    "|ma|mes|nous|notre|yo|mi|mis|eu|meu|minha|nos|io|mio|mia"
    # Where the verb alone says who does it.
    r"|he(?= \w+(?:ado|ido|cho|sto|rto) )|hemos|voy|vamos|estoy|estamos|tengo|tenemos|soy|somos|puedo|podemos|quiero"
    "|queremos|creo|llevo|llevamos|hago|digo|dije|fui|fuimos|vou|estou|tenho|temos|sou|posso|quero|acho|fomos|vado"
    "|andiamo|siamo|abbiamo|voglio) "
    "|我|私|僕|俺"
)
MARK = re.compile(r"[`*_\[\]<>~#\\{]|''|(?<=- )(?:TODO|DOING|DONE|NOW|LATER|WAITING|CANCEL)")
WORD = re.compile(rf"{LETTER}+(?:['’\-]{LETTER}+)*")
SPACELESS_LETTER = SPACELESS.pattern.removesuffix("+")
LATIN = re.compile("[A-Za-z]")
BEFORE_LATIN = re.compile(f"({SPACELESS_LETTER})([A-Za-z])")
AFTER_LATIN = re.compile(f"([A-Za-z][0-9]*)({SPACELESS_LETTER})")
PLAIN_WORD = re.compile(r"[a-z0-9]+(?:['\-][a-z0-9]+)*")  # of a text in ASCII and small letters, as it is normalised
ELISION = re.compile(r"(?<= )((?:[ldjnstmc]|qu)')(?=\w\w)")


class Sentence(NamedTuple):
    """One sentence as it may be quoted; `words` are its normalised words between spaces, for looking up names.

    In a conversation it has a speaker, whose name is among the words where it speaks of the speaker. `day` is that of
    its turn or of the heading above it, where one source has entries of several days.
    """

    text: str
    words: str
    speaker: str = ""
    day: date | None = None


class TextLine(NamedTuple):
    """One line of prose: as written less what is no prose, its sentences, and the heading above it."""

    raw: str
    sentences: tuple[Sentence, ...]
    heading: str = ""


def lines(text: str) -> tuple[TextLine, ...]:
    """Return the lines of prose; headings, code and tables are none."""
    return _short(text) if len(text) <= SHORT_MAX else _long(text) if len(text) <= LONG_MAX else _lines(text)


def fold_text(text: str) -> str:
    """Return normalised words between spaces: ` taberna dos mercadores `, so that a name is looked for with its spaces.

    A possessive is a word of its own, and so are an elided article and what is in Latin letters beside others without
    spaces: `sofia 's`, `l' ile`, `用 hugo 写`.
    """
    if text.isascii():
        words = " ".join(PLAIN_WORD.findall(text.lower()))
    else:
        words = " ".join(filter(None, map(normalised, WORD.findall(parted(INVISIBLE.sub("", text))))))
    if "'" not in words:
        return f" {words} "
    return ELISION.sub(r"\1 ", f" {words} ".replace("'s ", " 's "))


@cache_short(10_000, LONGEST_NAME)
def folded_name(name: str) -> str:
    """Return the folded words of a title, which is asked for again and again."""
    return fold_text(name)


@cache_short(10_000, LONGEST_NAME)
def padded(name: str) -> str:
    """Return a normalised name as it stands in a sentence's words; without spaces around it if its script has none."""
    return parted(name) if SPACELESS.search(name) else fold_text(name)


def parted(text: str) -> str:
    """Return a text with a space between Latin letters and those of scripts without spaces: `用Hugo写`, `B站`."""
    if text.isascii() or not LATIN.search(text):
        return text
    return AFTER_LATIN.sub(r"\1 \2", BEFORE_LATIN.sub(r"\1 \2", text))


@cache_short(20_000, LONGEST_WORD)
def normalised(word: str) -> str:
    return normalise(word)


def clean(line: str) -> str:
    """Return the text of a line, without marks."""
    return visible_text(hidden(line)) if MARK.search(line) else _unmarked(line)


def _unmarked(line: str) -> str:
    text = plain(INDENTED.sub("", line)) if line[:1] in LISTED else " ".join(line.split())
    return line if text == line else text  # kept once


@lru_cache(maxsize=1_000)
def _short(text: str) -> tuple[TextLine, ...]:
    return _lines(text)


def _lines(text: str) -> tuple[TextLine, ...]:
    text = CONTROL.sub(" ", text[:READ_MAX])
    text = text if text.isascii() else UNREAD.sub("", text)
    written = text.splitlines()
    mail = mail_of(written)
    record = NO_RECORD if mail else record_of(written)
    if record.lines:
        speakers = _speakers([line for at, line in enumerate(written) if at not in record.lines], are_comments=True)
        written = ["" if at in record.dropped else line for at, line in enumerate(written)]
    else:
        speakers = frozenset[str]() if mail else _speakers(written)
    stamps = list(filter(None, map(STAMP.match, written))) if speakers else []
    by_month = is_month_first(stamps)
    found = []
    for line, heading, above in _prose(mail.said, mail.subject[:HEADING_MAX]) if mail else _prose(written):
        is_own = bool(record.lines)
        read = _turn(line, heading, speakers, is_own=is_own) if speakers else _line(line, heading)
        if mail and mail.sender:
            read = _spoken(read, mail.sender)
        if day := (stamps and turn_day(line, is_month_first=by_month)) or above:
            read = read._replace(sentences=tuple(one._replace(day=day) for one in read.sentences))
        found += [read] if read.sentences else []
    return tuple(found)


_long = TextCache(_lines, LONG_KEPT)


def _prose(written: list[str], heading: str = "") -> Iterator[tuple[str, str, date | None]]:
    """Yield the lines of prose, each with the heading above it and the day that this or one above it says."""
    fence, day, level = None, None, 0
    for line in _outside(written):
        if line[:1] not in CAREFUL and fence is None:
            if not (line.startswith(("import ", "export ")) and CODE_OF_MDX.match(line)) and not PROPERTY.match(line):
                yield line, heading, day
            continue
        mark = FENCE.match(line)
        if mark:
            fence = None if fence == mark[1] else fence or mark[1]
        elif fence is None and (found := HEADING.match(line)):
            heading = AGENDA.sub("", (found["text"] or found["wiki"] or "").strip()[:HEADING_MAX], count=1)
            own, depth = heading_day(heading), len(line) - len(line.lstrip(" \t#="))
            if own or depth <= level:
                day, level = own, depth
        elif fence is None and line.strip() and not NO_PROSE.match(line) and not PROPERTY.match(line):
            yield line, heading, day


def _outside(written: list[str]) -> Iterator[str]:
    """Yield the lines that are no part of a header or of what reaches over several lines and is no prose."""
    at = _after_header(written)
    while at < len(written):
        line = written[at]
        opening = OPENING.match(line) if line[:1] in "{< \t" else None
        end = _end_of(written, at, CLOSING[opening.lastgroup], opening.end()) if opening and opening.lastgroup else None
        if end is None:
            yield line
        at = at + 1 if end is None else end + 1


def _end_of(written: list[str], at: int, closing: re.Pattern[str], start: int) -> int | None:
    """Return the line that ends what begins in a line; None where that line ends it itself, or none does."""
    if closing.search(written[at], start):
        return None
    near = range(at + 1, min(at + BLOCK_LINES_MAX, len(written)))
    return next((line for line in near if closing.search(written[line])), None)


def _after_header(written: list[str]) -> int:
    """Return the number of lines of the header that the text begins with, in YAML or TOML."""
    opening = HEADER.match(written[0]) if written else None
    for number, line in enumerate(written[1:BLOCK_LINES_MAX] if opening else (), 1):
        if opening and line.rstrip() == opening["marks"]:
            return number + 1
        if not HEADER_LINE.match(line):
            break
    return 0


def _speakers(lines: list[str], *, are_comments: bool = False) -> frozenset[str]:
    """Return who speaks in a conversation: most of its lines are turns, with times or of somebody who speaks again.

    In the comments of a record each line with a date and a time is a turn.
    """
    if are_comments and (dated := [line for line in lines if STAMP.match(line)]):
        return frozenset(turn.speaker for line in dated if (turn := turn_of(line)) and _may_speak(turn.speaker))
    if not any(":" in line for line in lines[:FIRST_LINES]):
        return frozenset()
    written = [line for line in lines if line.strip() and not HEADING.match(line)]
    turns = Counter(turn.speaker for line in written if (turn := turn_of(line)) and _may_speak(turn.speaker))
    again = turns and (max(turns.values()) > 1 or sum(line.lstrip()[:1] in TIMED for line in written) >= TURNS_MIN)
    are_enough = again and sum(turns.values()) >= TURNS_MIN
    return frozenset(turns) if are_enough and 2 * sum(turns.values()) >= len(written) else frozenset()


def _may_speak(name: str) -> bool:
    is_written = name[:1].isupper() or not name[:1].isascii()
    return is_written and len(name) > 1 and name.lower() not in NO_SPEAKERS and not name.lower().startswith("speaker ")


def _turn(line: str, heading: str, speakers: Set[str], *, is_own: bool) -> TextLine:
    """Return a line of a conversation without the speaker's name before it, which its sentences know.

    `is_own` says that each tells what the speaker did, as comments do: `Raised the limit.`
    """
    turn = turn_of(line)
    if turn is None or turn.speaker not in speakers:
        return TextLine("", ()) if turn is None and STAMP.match(line) else _line(line, heading)
    said = line[turn.length :]
    if NOTICE.fullmatch(said):
        return TextLine("", ())
    return _spoken(_line(said, heading), turn.speaker, is_own=is_own)


def _spoken(line: TextLine, speaker: str, *, is_own: bool = False) -> TextLine:
    """Return a line with the one who says or writes it, who is named where the sentence speaks of oneself."""
    name = fold_text(speaker).rstrip()
    return line._replace(
        sentences=tuple(
            Sentence(one.text, f"{name}{one.words}" if is_own or OWN_WORDS.search(one.words) else one.words, speaker)
            for one in line.sentences
        )
    )


def _line(line: str, heading: str) -> TextLine:
    if item := AGENDA.match(line):
        line = f"{item['before']}{line[item.end() :]}"
    if not MARK.search(line):
        return TextLine(line, _sentences(_unmarked(line)), heading)
    raw, line = without_cuts(line), hidden(line)
    text = visible_text(without_cuts(line))
    if CUT not in text:
        return TextLine(raw, _sentences(text), heading)
    return TextLine(raw, tuple(chain.from_iterable(_sentences(part.strip()) for part in text.split(CUT))), heading)


def _sentences(text: str) -> tuple[Sentence, ...]:
    return tuple(Sentence(one, fold_text(one)) for one in split(text) if len(one) > 1)


def split(text: str) -> list[str]:
    """Split a text into sentences."""
    start, found = 0, []
    for end in sentence_ends(text):
        found.append(text[start:end].strip())
        start = end
    found.append(text[start:].strip())
    pieces = found if len(text) <= LINE_MAX else chain.from_iterable(map(_pieces, found))
    return [one for one in pieces if one]


def former_pieces(sentence: str) -> Iterator[str]:
    """Yield what former versions may have taken for sentences: they also split behind abbreviations and in brackets."""
    ends = [0, *islice((end.end() for end in END.finditer(sentence)), FORMER_ENDS_MAX), len(sentence)]
    for start, end in combinations(ends, 2):
        yield sentence[start:end].strip()


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + LINE_MAX] for start in range(0, len(text), LINE_MAX))
