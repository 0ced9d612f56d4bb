"""Names that their writer marked: links, bold, quotes, tags, @names."""

import re
from collections.abc import Iterator

from content.markdown.links import find_links

WORDS_MAX = 5
BOLD = re.compile(r"\*\*([^*\n]{2,60})\*\*|__([^_\n]{2,60})__")
ITALIC = re.compile(r"(?<![*\w])\*([^*\s][^*\n]{1,60})\*(?![*\w])|(?<![_\w])_([^_\s][^_\n]{1,60})_(?![_\w])")
QUOTE = re.compile(r"[“\"«「『《]([^“”\"«»「」『』《》\n]{2,50})[”\"»」』》]")
CODE = re.compile(r"`[^`\n]{1,80}`")
TAG = re.compile(r"(?<![\w#&/])#([^\W\d_][\w/-]{1,40})")
AT = re.compile(r"(?<![\w.])@([^\W\d_]\w{1,30})")
LINK = re.compile(r"\[\[[^\[\]\n]{1,600}\]\]|!?\[[^\[\]\n]{1,300}\]\([^()\n]{0,500}\)")
ADDRESS = re.compile(r"(?:https?://|www\.|mailto:)\S+")
OPENING = re.compile(r"[\[*_“\"«「『《#@]")
TITLED = "《『"
GAP = " \ue001 "  # a private-use character: no letter, no space, and as good as never written


def marks(line: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, name as written) of a raw line."""
    if not OPENING.search(line):
        return
    line = line.strip()  # of an outliner: markdown takes a line that is indented so far for code
    for target in find_links(line) if "[[" in line else ():
        if name := _page_name(line, target.start, target.end):
            yield "link", name
    line = CODE.sub(GAP, line)
    if "**" in line or "__" in line:
        yield from (("bold", match[1] or match[2]) for match in BOLD.finditer(line))
    if "*" in line or "_" in line:
        yield from (("quote", match[1] or match[2]) for match in ITALIC.finditer(line))
    for quote in QUOTE.finditer(line):
        yield "work" if quote[0][0] in TITLED else "quote", quote[1]
    line = ADDRESS.sub(GAP, LINK.sub(GAP, line))
    yield from (("tag", match[1].replace("-", " ").replace("_", " ")) for match in TAG.finditer(line))
    yield from (("at", match[1].replace("_", " ")) for match in AT.finditer(line))


def without(line: str) -> str:
    """Return the line with gaps for all that is marked but quotes: the rest is read for names by their capitals."""
    for pattern in (LINK, CODE, BOLD, ADDRESS, TAG, AT):
        line = pattern.sub(GAP, line)
    return line


def _page_name(line: str, start: int, end: int) -> str | None:
    """Return the page of a link: `[[folder/Name#part|shown]]` → `Name`; none for other links."""
    written = line[start:end].lstrip("!")
    if not written.startswith("[["):
        return None
    return written[2:-2].replace("\\", "").partition("|")[0].partition("#")[0].rpartition("/")[2].strip()
