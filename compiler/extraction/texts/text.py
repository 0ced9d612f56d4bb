"""Splitting the text of a source into sentences that can be quoted, without markup, code and tables.

Every pattern looks ahead a bounded number of characters, so that a hostile text costs no more than any other of its
length.
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
from .wrapping import unwrapped

LINE_MAX = 2_000  # characters of a sentence; a longer one is divided
TOKENS_MAX = 20_000  # words of a source that are looked up
READ_MAX = 200_000  # characters of a source that are read; the rest is stored, but makes no pages
SHORT_MAX, LONG_MAX = 2_000, 50_000  # characters of short and long texts, whose sentences are cached separately
LONG_CACHE_MAX = 1_500_000  # characters of all cached long texts
FORMER_ENDS_MAX = 4  # full stops inside a sentence at which former versions may have split it
LONGEST_NAME, LONGEST_WORD = 200, 50  # characters of cached names and words

# Characters that set the direction of text, which would also reverse the text after a quote, and those of this package.
UNREAD = re.compile(f"[\u202a-\u202e\u2066-\u2069{OWN}]")
# First characters of lines that may be no prose, with an empty line. All other lines are prose.
CAREFUL = frozenset(("", *" \t\x0b\x0c`~#|<%$[:;=-!{'*"))
LISTED = frozenset(" \t-+>0123456789:;")
CODE_OF_MDX = re.compile(
    r"import\s[^\n]{0,200}['\"][\w@./-]+['\"];?\s*$|export\s+(?:const|default|function|let|async)\b"
)

FENCE = re.compile(r"[ \t]{0,8}(```(?=`*[^`]*$)|~~~)")  # a line of code between fences is prose
NO_PROSE = re.compile(
    r"[ \t]*(?:\||<[A-Za-z/!]|%%|\$\$|\[\^?[^\[\]\n]{1,80}\]:|:::|={3,}|-{3,}|!\[|:[A-Z]{3,20}:[ \t]*$|CLOCK:[ \t])"
)
PROPERTY = re.compile(r"[ \t]*(?:[-*][ \t]+)?[\w-]{1,40}::(?:[ \t]|$)")  # a property of Logseq or Dataview
HEADING = re.compile(
    r"[ \t]{0,3}(?:#{1,6}[ \t]+(?P<text>.*?)[ \t#]*$|(?P<marks>={1,6})(?P<wiki>[^=\n]+)(?P=marks)[ \t]*$)"
)
HEADING_MAX = 200
# The number of an agenda item, which is not part of its text: `TOP 3`, `Item 2:`.
AGENDA = re.compile(
    r"(?P<before>[ \t]{0,8}(?:[-*+] +)?)(?:\*\*|__)?"
    r"(?:(?:TOP|Top|Tagesordnungspunkt|Traktandum) ?\d{1,2}[a-z]?(?:\.\d{1,2})?(?:\*\*|__)?[.:)–—-]?"
    r"|(?:Agenda item|Item|Point|Punkt|Punto|Ponto|Agendapunkt) ?\d{1,2}(?:\*\*|__)? ?[.:)–—-])"
    r"(?:\*\*|__)?\s+(?=\S)"
)
# The beginnings of blocks of several lines that are no prose; CLOSING has the end of each kind.
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
BLOCK_LINES_MAX = 200  # lines of a block or a header; a longer one is read as prose
HEADER = re.compile(r"\ufeff?(?P<marks>---|\+\+\+)[ \t]*$")
HEADER_LINE = re.compile(r"\s*(?:[\w\"'. -]{1,80}\s?[:=]|[-#\]}]|\[)|\s+\S|$")
# Notices that a messenger writes into the export of a chat in place of a message.
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
TURNS_MIN = 3  # turns of a conversation
FIRST_LINES = 20  # lines of which at least one in a conversation has a speaker
TIMED = frozenset("[0123456789")  # first characters of a line with a time before the speaker
# Words before a colon that are no person who speaks.
NO_SPEAKERS = word_set(
    """
    assistant user system human ai bot chatgpt claude model tool question answer date time title status author note
    notes todo tags source url ps edit update context summary
    """
)
OWN_WORDS = re.compile(
    " (?:i|i'm|i've|i'd|i'll|im|my|me|we|we're|our|us|ich|mein|meine|meinen|meiner|mir|mich|wir|unser|unsere|je|j'|mon"
    "|ma|mes|nous|notre|yo|mi|mis|eu|meu|minha|nos|io|mio|mia"
    # Verbs in the first person without a pronoun.
    r"|he(?= \w+(?:ado|ido|cho|sto|rto) )|hemos|voy|vamos|estoy|estamos|tengo|tenemos|soy|somos|puedo|podemos|quiero"
    "|queremos|creo|llevo|llevamos|hago|digo|dije|fui|fuimos|vou|estou|tenho|temos|sou|posso|quero|acho|fomos|vado"
    "|andiamo|siamo|abbiamo|voglio) "
    "|我|私|僕|俺"
)
MARK = re.compile(r"[`*_\[\]<>~#\\{]|''|(?<=- )(?:TODO|DOING|DONE|NOW|LATER|WAITING|CANCEL)|&#?\w{1,31};")
WORD = re.compile(rf"{LETTER}+(?:['’\-]{LETTER}+)*")
SPACELESS_LETTER = SPACELESS.pattern.removesuffix("+")
LATIN = re.compile("[A-Za-z]")
BEFORE_LATIN = re.compile(f"({SPACELESS_LETTER})([A-Za-z])")
AFTER_LATIN = re.compile(f"([A-Za-z][0-9]*)({SPACELESS_LETTER})")
PLAIN_WORD = re.compile(r"[a-z0-9]+(?:['\-][a-z0-9]+)*")  # a word of an ASCII text in small letters, already normalised
ELISION = re.compile(r"(?<= )((?:[ldjnstmc]|qu)')(?=\w\w)")


class Sentence(NamedTuple):
    """One sentence that can be quoted."""

    text: str
    words: str
    """The normalised words (`fold_text`), with the speaker's name before them if the sentence is about the speaker."""
    speaker: str = ""
    """The speaker in a conversation, or the sender of a mail."""
    day: date | None = None
    """The day of its turn, or in the heading above it, if the source has entries of several days."""


class TextLine(NamedTuple):
    """One line of prose."""

    raw: str
    """The line with its markup, but without parts that are no prose."""
    sentences: tuple[Sentence, ...]
    heading: str = ""
    """The heading above the line."""


def lines(text: str) -> tuple[TextLine, ...]:
    """Return the lines of prose in a text, without headings, code and tables."""
    return _short(text) if len(text) <= SHORT_MAX else _long(text) if len(text) <= LONG_MAX else _lines(text)


def unjoined_lines(text: str) -> tuple[TextLine, ...]:
    """Return the lines as former versions read them: wrapped lines apart, references and marks of notes as written."""
    return _lines(text.replace("&", "\\&").replace("[^", "\\[^"), joins=False)


def fold_text(text: str) -> str:
    """Return the normalised words with a space before and after each: ` taberna dos mercadores `.

    So a name with its spaces is found only as whole words. Words of their own are also possessives (`sofia 's`), elided
    articles (`l' ile`), and Latin letters beside scripts without spaces (`用 hugo 写`).
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
    """Return the folded words of a title, from a cache."""
    return fold_text(name)


@cache_short(10_000, LONGEST_NAME)
def padded(name: str) -> str:
    """Return a normalised name as it occurs in `words` of sentences: between spaces, unless its script has no
    spaces."""
    return parted(name) if SPACELESS.search(name) else fold_text(name)


def parted(text: str) -> str:
    """Return a text with spaces between Latin letters and scripts without spaces: `用Hugo写` → `用 Hugo 写`."""
    if text.isascii() or not LATIN.search(text):
        return text
    return AFTER_LATIN.sub(r"\1 \2", BEFORE_LATIN.sub(r"\1 \2", text))


@cache_short(20_000, LONGEST_WORD)
def normalised(word: str) -> str:
    return normalise(word)


def clean(line: str) -> str:
    """Return the text of a line without markup."""
    return visible_text(hidden(line)) if MARK.search(line) else _unmarked(line)


def _unmarked(line: str) -> str:
    """Return the text of a line without inline markup."""
    text = plain(INDENTED.sub("", line)) if line[:1] in LISTED else " ".join(line.split())
    return line if text == line else text  # the same object, to save memory


@lru_cache(maxsize=1_000)
def _short(text: str) -> tuple[TextLine, ...]:
    return _lines(text)


def _lines(text: str, *, joins: bool = True) -> tuple[TextLine, ...]:
    """Return the lines of prose with their sentences. Mails, records and conversations get their speakers and days."""
    text = CONTROL.sub(" ", text[:READ_MAX])
    text = text if text.isascii() else UNREAD.sub("", text)
    written = text.splitlines()
    mail = mail_of(written)
    record = NO_RECORD if mail else record_of(written)
    if record.lines:
        speakers = _speakers([line for at, line in enumerate(written) if at not in record.lines], are_comments=True)
        written = ["" if at in record.dropped else line for at, line in enumerate(written)]
    elif mail:
        speakers, mail = frozenset[str](), mail._replace(said=unwrapped(mail.said) if joins else mail.said)
    elif not (speakers := _speakers(written)) and joins:
        header = _after_header(written)
        written = [*written[:header], *unwrapped(written[header:])]
    stamps = list(filter(None, map(STAMP.match, written))) if speakers else []
    by_month = is_month_first(stamps)
    found = []
    for line, heading, above in _prose(mail.said, mail.subject[:HEADING_MAX]) if mail else _prose(written):
        is_own = bool(record.lines)
        read = _turn(line, heading, speakers, is_own=is_own) if speakers else _line(line, heading)
        if mail and mail.sender:
            read = _spoken(read, mail.sender)
        if day := (stamps and turn_day(line, is_month_first=by_month)) or above:
            read = read._replace(sentences=tuple(sentence._replace(day=day) for sentence in read.sentences))
        found += [read] if read.sentences else []
    return tuple(found)


_long = TextCache(_lines, LONG_CACHE_MAX)


def _prose(written: list[str], heading: str = "") -> Iterator[tuple[str, str, date | None]]:
    """Yield the lines of prose, each with the heading above it and the day in this heading or in a higher one."""
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
    """Yield the lines outside of the header and of blocks that are no prose."""
    at = _after_header(written)
    while at < len(written):
        line = written[at]
        opening = OPENING.match(line) if line[:1] in "{< \t" else None
        end = _end_of(written, at, CLOSING[opening.lastgroup], opening.end()) if opening and opening.lastgroup else None
        if end is None:
            yield line
        at = at + 1 if end is None else end + 1


def _end_of(written: list[str], at: int, closing: re.Pattern[str], start: int) -> int | None:
    """Return the index of the line that ends a block, or None if it ends on its first line or not at all."""
    if closing.search(written[at], start):
        return None
    near = range(at + 1, min(at + BLOCK_LINES_MAX, len(written)))
    return next((line for line in near if closing.search(written[line])), None)


def _after_header(written: list[str]) -> int:
    """Return the number of lines of the YAML or TOML header at the beginning of the text, or 0."""
    opening = HEADER.match(written[0]) if written else None
    for number, line in enumerate(written[1:BLOCK_LINES_MAX] if opening else (), 1):
        if opening and line.rstrip() == opening["marks"]:
            return number + 1
        if not HEADER_LINE.match(line):
            break
    return 0


def _speakers(lines: list[str], *, are_comments: bool = False) -> frozenset[str]:
    """Return the speakers of a conversation, none if the text is no conversation.

    In a conversation, at least half of the lines are turns, and turns have times or a speaker speaks several times. In
    the comments of a record, each line with a date and a time is a turn.
    """
    if are_comments and (dated := [line for line in lines if STAMP.match(line)]):
        return frozenset(turn.speaker for line in dated if (turn := turn_of(line)) and _may_speak(turn.speaker))
    if not any(":" in line for line in lines[:FIRST_LINES]):
        return frozenset()
    written = [line for line in lines if line.strip() and not HEADING.match(line)]
    turns = Counter(turn.speaker for line in written if (turn := turn_of(line)) and _may_speak(turn.speaker))
    is_dialogue = turns and (
        max(turns.values()) > 1 or sum(line.lstrip()[:1] in TIMED for line in written) >= TURNS_MIN
    )
    has_enough = is_dialogue and sum(turns.values()) >= TURNS_MIN
    return frozenset(turns) if has_enough and 2 * sum(turns.values()) >= len(written) else frozenset()


def _may_speak(name: str) -> bool:
    """Return whether the text before a colon can be the name of a person who speaks."""
    is_written = name[:1].isupper() or not name[:1].isascii()
    return is_written and len(name) > 1 and name.lower() not in NO_SPEAKERS and not name.lower().startswith("speaker ")


def _turn(line: str, heading: str, speakers: Set[str], *, is_own: bool) -> TextLine:
    """Return a line of a conversation without the speaker's name, which is stored with its sentences.

    With `is_own`, each sentence is about the speaker, as in comments: `Raised the limit.`
    """
    turn = turn_of(line)
    if turn is None or turn.speaker not in speakers:
        return TextLine("", ()) if turn is None and STAMP.match(line) else _line(line, heading)
    said = line[turn.length :]
    if NOTICE.fullmatch(said):
        return TextLine("", ())
    return _spoken(_line(said, heading), turn.speaker, is_own=is_own)


def _spoken(line: TextLine, speaker: str, *, is_own: bool = False) -> TextLine:
    """Return a line with its speaker. The words of a sentence in the first person get the speaker's name."""
    name = fold_text(speaker).rstrip()
    sentences = []
    for sentence in line.sentences:
        words = sentence.words
        if is_own or OWN_WORDS.search(words):
            words = f"{name}{words}"
        sentences.append(Sentence(sentence.text, words, speaker))
    return line._replace(sentences=tuple(sentences))


def _line(line: str, heading: str) -> TextLine:
    """Return a line of prose with its sentences."""
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
    return tuple(Sentence(sentence, fold_text(sentence)) for sentence in split(text) if len(sentence) > 1)


def split(text: str) -> list[str]:
    """Split a text into sentences, but not after abbreviations such as `Dr.` or inside brackets."""
    start, found = 0, []
    for end in sentence_ends(text):
        found.append(text[start:end].strip())
        start = end
    found.append(text[start:].strip())
    pieces = found if len(text) <= LINE_MAX else chain.from_iterable(map(_pieces, found))
    return [piece for piece in pieces if piece]


def former_pieces(sentence: str) -> Iterator[str]:
    """Yield the texts that former versions may have quoted of a sentence, which they also split after abbreviations."""
    ends = [0, *islice((end.end() for end in END.finditer(sentence)), FORMER_ENDS_MAX), len(sentence)]
    for start, end in combinations(ends, 2):
        yield sentence[start:end].strip()


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + LINE_MAX] for start in range(0, len(text), LINE_MAX))
