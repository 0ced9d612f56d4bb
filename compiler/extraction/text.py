"""A source's text as sentences: markup, code and tables taken out, so that what is left can be read and quoted.

Every pattern looks ahead a bounded way: a hostile note costs no more than an honest one of its length.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from content.markdown.plain import EMPHASIS, LINE_MARK, plain
from content.names import normalise
from content.normalization import INVISIBLE
from content.rollups import ABBREVIATION
from content.search.snippets import CONTROL
from content.search.words import LETTER, SPACELESS

CUT = "\ue002"  # where an image or a comment was: no quote reaches across
# What could be taken for a mark, and what stands for it as long as marks are looked for.
MARKS = "\\`*_[]<>#~|%!$&()"
HIDE = str.maketrans(MARKS, "".join(chr(0xE010 + number) for number in range(len(MARKS))))
SHOW = {hidden: mark for mark, hidden in HIDE.items()}
OWN = "\ue000-\ue02f"  # of sources these characters are not read: they would be taken for ours

TICKS = re.compile("(`+)")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# An address in angle brackets is shown, a tag is not. None reaches across what is hidden.
ANGLED = re.compile(
    r"<((?:https?://|mailto:)[^<>\s]{1,500}|[^<>\s@]{1,64}@[^<>\s@]{1,250})>" rf"|</?[A-Za-z][^<>\n{OWN}]{{0,200}}>"
)
WIKI_LINK = re.compile(rf"!?\[\[(?:[^\[\]|\n{OWN}]{{0,300}}\|)?([^\[\]|\n]{{0,300}})\]\]")
NO_BRACKET = f"[^()\n{'()'.translate(HIDE)}]"
LINK = re.compile(rf"!?\[([^\[\]\n]{{0,300}})\]\((?:{NO_BRACKET}|\({NO_BRACKET}{{0,200}}\)){{0,500}}\)")
REFERENCE = re.compile(rf"(?<![\w\]!])\[([^\[\]\n]{{1,300}})\]\[[^\[\]\n{OWN}]{{0,60}}\](?!\()")
CALLOUT = re.compile(r"\[![\w-]{1,20}\][+-]?")
CHECKBOX = re.compile(r"^[ \t]*[-*+][ \t]+\[[ xX]\][ \t]+")
EMBED = re.compile(r"!\[\[[^\[\]\n]{0,300}\]\]|!\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,60}\])")
COMMENT = re.compile(r"<!--[^<>]{0,500}-->|%%[^%\n]{0,500}%%")
CUTS = ((CALLOUT, CUT), (CHECKBOX, "- "), (EMBED, CUT), (COMMENT, CUT))


def without_cuts(line: str) -> str:
    """Return the line as it is written, with CUT in place of what is no part of its sentences."""
    for pattern, instead in CUTS:
        line = pattern.sub(instead, line)
    return line


def hidden(line: str) -> str:
    """Return the line with nothing in its code, and nothing that is escaped, that could be taken for a mark."""
    if "`" in line:
        line = _with_hidden_code(line)
    return ESCAPED.sub(_hidden_mark, line) if "\\" in line else line


def shown(line: str) -> str:
    """Return the text of a line whose code is `hidden`: without marks, targets of links and tags.

    Each kind of mark is looked for once, before the kinds that it can stand in: what is left of one is never taken for
    another.
    """
    line = LINE_MARK.sub("", line)
    if "<" in line:
        line = ANGLED.sub(_address, line)
    if "[" in line:
        line = REFERENCE.sub(r"\1", WIKI_LINK.sub(r"\1", line))
        line = LINK.sub(r"\1", LINK.sub(r"\1", line))  # twice: a link around an image
    text = " ".join(EMPHASIS.sub("", line).split())
    return text if text.isascii() else text.translate(SHOW)


def _with_hidden_code(line: str) -> str:
    """Hide the marks in code.

    Code ends at the next run of as many backticks as it began with; where there is none, it is no code.
    """
    parts = TICKS.split(line)
    following: dict[int, int] = {}
    ends = [0] * len(parts)
    for index in range(len(parts) - 2, 0, -2):
        ends[index] = following.get(len(parts[index]), 0)
        following[len(parts[index])] = index
    found, index = [], 0
    while index < len(parts):
        if index % 2 and ends[index]:
            found.append("".join(parts[index + 1 : ends[index]]).translate(HIDE))
            index = ends[index]
        else:
            found.append(parts[index])
        index += 1
    return "".join(found)


def _hidden_mark(escaped: re.Match[str]) -> str:
    return escaped[1].translate(HIDE)


def _address(angled: re.Match[str]) -> str:
    return angled[1].translate(HIDE) if angled[1] else " "


SENTENCE_MAX = 300  # characters of a quote
LINE_MAX = 2_000  # of a line without any full stop: what lies beyond is read as another sentence
TOKENS_MAX = 20_000  # words of a source that are looked up
READ_MAX = 200_000  # characters of a source that are read: what lies beyond is kept with it, but makes no pages
SHORT_MAX, LONG_MAX = 2_000, 50_000  # characters: the sentences of short texts and some long ones are kept for a while

# Left open, a direction would turn around what stands after a quote.
UNREAD = re.compile(f"[\u202a-\u202e\u2066-\u2069{OWN}]")
# A line that begins otherwise is prose, and one without a mark, too, is as it stands.
CAREFUL = frozenset(("", *" \t\x0b\x0c`~#|<%$[:=-!"))
LISTED = frozenset(" \t-+>0123456789")

FENCE = re.compile(r"[ \t]{0,8}(```|~~~)")
NO_PROSE = re.compile(r"[ \t]*(?:\||<[A-Za-z/!]|%%|\$\$|\[\^?[^\[\]\n]{1,80}\]:|:::|={3,}|-{3,}|!\[)")
HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
MARK = re.compile(r"[`*_\[\]<>~#\\]")
END = re.compile(r"[.!?…؟۔]+[\"'”’»)\]]*(?=\s+[^\sa-zа-яα-ω])|[。！？।॥]+[」』”’）]*")
WORD = re.compile(rf"{LETTER}+(?:['’\-]{LETTER}+)*")
PLAIN_WORD = re.compile(r"[a-z0-9]+(?:['\-][a-z0-9]+)*")  # of a text in ASCII and small letters, as it is normalised
ELISION = re.compile(r"(?<= )((?:[ldjnstmc]|qu)')(?=\w\w)")
ABBREVIATED = re.compile(r"(?:^|[\s(])(?:Hr|Fr|Sra?|Dra|Mme|Mlle|bzw|usw|evtl|e\.g|i\.e|z\.B|p|Nr)\.$")


class Sentence(NamedTuple):
    """One sentence as it may be quoted; `words` are its normalised words between spaces, for looking up names."""

    text: str
    words: str


class TextLine(NamedTuple):
    """One line of prose: as written less what is no prose, and its sentences."""

    raw: str
    sentences: tuple[Sentence, ...]


def lines(text: str) -> tuple[TextLine, ...]:
    """Return the lines of prose; headings, code and tables are none."""
    return _short(text) if len(text) <= SHORT_MAX else _long(text) if len(text) <= LONG_MAX else _lines(text)


def folded(text: str) -> str:
    """Return normalised words between spaces: ` taberna dos mercadores `, so that a name is looked for with its spaces.

    A possessive is a word of its own, and so is an elided article: `sofia 's`, `l' ile`.
    """
    if text.isascii():
        words = " ".join(PLAIN_WORD.findall(text.lower()))
    else:
        words = " ".join(filter(None, map(normalised, WORD.findall(INVISIBLE.sub("", text)))))
    if "'" not in words:
        return f" {words} "
    return ELISION.sub(r"\1 ", f" {words} ".replace("'s ", " 's "))


@lru_cache(maxsize=10_000)
def folded_name(name: str) -> str:
    """Return the folded words of a title, which is asked for again and again."""
    return folded(name)


@lru_cache(maxsize=10_000)
def padded(name: str) -> str:
    """Return a normalised name as it stands in a sentence's words; without spaces around it if its script has none."""
    return name if SPACELESS.search(name) else folded(name)


@lru_cache(maxsize=100_000)
def normalised(word: str) -> str:
    return normalise(word)


def clean(line: str) -> str:
    """Return the text of a line, without marks."""
    return shown(hidden(line)) if MARK.search(line) else _unmarked(line)


def _unmarked(line: str) -> str:
    return plain(line) if line[:1] in LISTED else " ".join(line.split())


@lru_cache(maxsize=4_000)
def _short(text: str) -> tuple[TextLine, ...]:
    return _lines(text)


@lru_cache(maxsize=100)
def _long(text: str) -> tuple[TextLine, ...]:
    return _lines(text)


def _lines(text: str) -> tuple[TextLine, ...]:
    text = CONTROL.sub(" ", text[:READ_MAX])
    text = text if text.isascii() else UNREAD.sub("", text)
    return tuple(line for line in map(_line, _prose_lines(text)) if line.sentences)


def _prose_lines(text: str) -> Iterator[str]:
    fence = None
    for line in text.splitlines():
        if line[:1] not in CAREFUL and fence is None:
            yield line
            continue
        mark = FENCE.match(line)
        if mark:
            fence = None if fence == mark[1] else fence or mark[1]
        elif fence is None and line.strip() and not HEADING.match(line) and not NO_PROSE.match(line):
            yield line


def _line(line: str) -> TextLine:
    if not MARK.search(line):
        return TextLine(line, _sentences(_unmarked(line)))
    raw, line = without_cuts(line), hidden(line)
    text = shown(without_cuts(line))
    if CUT not in text:
        return TextLine(raw, _sentences(text))
    return TextLine(raw, tuple(chain.from_iterable(_sentences(part.strip()) for part in text.split(CUT))))


def _sentences(text: str) -> tuple[Sentence, ...]:
    return tuple(Sentence(one, folded(one)) for one in split(text) if len(one) > 1)


def split(text: str) -> list[str]:
    """Split a text into sentences; not after `Dr.` or an initial."""
    start, found = 0, []
    for end in END.finditer(text):
        before = text[max(start, end.start() - 20) : end.start() + 1]
        if not (end[0].startswith(".") and (ABBREVIATION.search(before) or ABBREVIATED.search(before))):
            found.append(text[start : end.end()].strip())
            start = end.end()
    found.append(text[start:].strip())
    pieces = found if len(text) <= LINE_MAX else chain.from_iterable(map(_pieces, found))
    return [one for one in pieces if one]


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + LINE_MAX] for start in range(0, len(text), LINE_MAX))
