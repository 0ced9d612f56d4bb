"""Removing the markup of a line, so that the text remains that a reader sees.

Every pattern looks ahead a bounded number of characters, so that the time is linear.
"""

import re
from html import unescape

from content.markdown.plain import EMPHASIS, LINE_MARK

CUT = "\ue002"  # replaces an image, a comment or the like; no quote extends across it
# Characters of markup, and the private-use characters that replace them where they are no markup.
MARKS = "\\`*_[]<>#~|%!$&()"
HIDE = str.maketrans(MARKS, "".join(chr(0xE010 + number) for number in range(len(MARKS))))
SHOW = {hidden: mark for mark, hidden in HIDE.items()}
OWN = "\ue000-\ue02f"  # the private-use characters of this package, which are removed from sources

TICKS = re.compile("(`+)")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
REFERRED = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")  # `&amp;`, `&#8217;`
# Characters that a reference may stand for and no quote has: those of this package, of direction, and of control.
UNSHOWN = re.compile(f"[{OWN}\u202a-\u202e\u2066-\u2069\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# An address in angle brackets is shown, a tag is not. Neither extends across hidden characters.
ANGLED = re.compile(
    r"<((?:https?://|mailto:)[^<>\s]{1,500}|[^<>\s@]{1,64}@[^<>\s@]{1,250})>" rf"|</?[A-Za-z][^<>\n{OWN}]{{0,200}}>"
)
WIKI_LINK = re.compile(rf"!?\[\[(?:[^\[\]|\n{OWN}]{{0,300}}\|)?([^\[\]|\n]{{0,300}})\]\]")
NO_BRACKET = f"[^()\n{'()'.translate(HIDE)}]"
LINK = re.compile(rf"!?\[([^\[\]\n]{{0,300}})\]\((?:{NO_BRACKET}|\({NO_BRACKET}{{0,200}}\)){{0,500}}\)")
REFERENCE = re.compile(
    rf"(?<![\w\]!])\[((?:[^\[\]\n]|\[[^\[\]\n{OWN}]{{1,60}}\]){{1,300}})\]\[[^\[\]\n{OWN}]{{0,60}}\](?!\()"
)
NOTE = re.compile(rf"\[\^[^\[\]\s{OWN}]{{1,60}}\]")  # the mark of a footnote
CALLOUT = re.compile(r"\[![\w-]{1,20}\][+-]?")
# Checkboxes of markdown and task keywords of outliners.
CHECKBOX = re.compile(
    r"^[ \t]*[-*+][ \t]+(?:\[[ xX]\]|(?:TODO|DOING|DONE|NOW|LATER|WAITING|CANCELL?ED)(?=[ \t]+\S))[ \t]+"
)
EMBED = re.compile(r"!\[\[[^\[\]\n]{0,300}\]\]|!\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,60}\])")
COMMENT = re.compile(r"<!--[^<>]{0,500}-->|%%[^%\n]{0,500}%%")
# Files, references, templates and switches of MediaWiki; shortcodes of Hugo, tags of Liquid, attributes of kramdown.
MEDIA = re.compile(r"\[\[(?:File|Image|Media|Datei|Bild|Fichier|Archivo|Ficheiro|文件|ファイル):[^\n]{0,500}?\]\]")
FOOTNOTE = re.compile(r"<ref[^<>\n]{0,200}/>|<ref[^<>\n]{0,200}>[^\n]{0,500}?</ref>")
SWITCH = re.compile(
    r"__(?:NO|FORCE)?(?:TOC|INDEX|EDITSECTION|GALLERY)__|\[?\[_?TOC_?\]\]?(?!\()|\{:?TOC\}", re.IGNORECASE
)
TEMPLATE = re.compile(r"\{\{[^{}\n]{0,500}\}\}|\{%[^{}\n]{0,500}%\}|\{[:#.][^{}\n]{1,200}\}")
CUTS = ((CALLOUT, CUT), (CHECKBOX, "- "), (MEDIA, CUT), (EMBED, CUT), (COMMENT, CUT), (FOOTNOTE, CUT), (SWITCH, CUT),
        (TEMPLATE, CUT))  # fmt: skip
WIKI_EMPHASIS = re.compile("'{2,5}")
LEADING_TAGS = re.compile(r"^(?:#[^\W\d_][\w/-]{0,60}[ \t]+)+(?=\S)")
INDENTED = re.compile(r"^[ \t]{0,8}[:;]{1,8}[ \t]+")


def without_cuts(line: str) -> str:
    """Return the line with CUT in place of everything that is no part of its sentences, and otherwise unchanged."""
    for pattern, instead in CUTS:
        line = pattern.sub(instead, line)
    return line


def hidden(line: str) -> str:
    """Return the line with private-use characters in place of markup characters that are in code or escaped, and with
    the characters for which references stand."""
    if "`" in line:
        line = _with_hidden_code(line)
    line = ESCAPED.sub(_hidden_mark, line) if "\\" in line else line
    return REFERRED.sub(_referred, line) if "&" in line else line


def visible_text(line: str) -> str:
    """Return the text of a line whose code is `hidden`, without markup, targets of links and tags.

    Each kind of markup is removed once, before the kinds in which it can be nested, so that the remains of one kind are
    never taken for another.
    """
    line = LINE_MARK.sub("", INDENTED.sub("", line))
    if "''" in line:
        line = WIKI_EMPHASIS.sub("", line)
    if "<" in line:
        line = ANGLED.sub(_address, line)
    if "[" in line:
        line = REFERENCE.sub(r"\1", WIKI_LINK.sub(r"\1", NOTE.sub("", line)))
        line = LINK.sub(r"\1", LINK.sub(r"\1", line))  # twice: a link around an image
    text = LEADING_TAGS.sub("", " ".join(EMPHASIS.sub("", line).split()))
    return text if text.isascii() else text.translate(SHOW)


def _with_hidden_code(line: str) -> str:
    """Return the line with hidden markup characters in code spans.

    A code span ends at the next run of as many backticks as it began with. Without such a run it is no code.
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


def _referred(reference: re.Match[str]) -> str:
    return UNSHOWN.sub(" ", unescape(reference[0])).translate(HIDE)


def _address(angled: re.Match[str]) -> str:
    return angled[1].translate(HIDE) if angled[1] else " "
