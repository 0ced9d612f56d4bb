"""Find, write and rewrite the links to pages in the text of a page.

A link is written as `[text](wiki:slug)`, `[text](/wiki/type/slug)`, `[[Name]]`, `[[space:slug]]` or `![[Name]]`. Each
form can have a `#heading`, and the forms in double brackets a `|text`. Folders before a name and `.md` after it are
dropped, as Obsidian does.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from ..limits import LINK, LINK_TEXT
from ..names import NoSlug, is_slug, normalise, slugify
from ..sentences import first_sentence
from ..templates import TEMPLATES
from .prose import HIDDEN, Span, hide, mask_code

WIKI = re.compile(
    rf"(?P<embed>!?)\[\[(?P<name>[^\[\]|\\#\r\n{HIDDEN}]{{1,{LINK.maximum}}})(?:#(?P<anchor>[^\[\]|\\\r\n]{{0,500}}))?"
    rf"(?P<bar>\\?\|(?P<text>[^\[\]\r\n]{{0,{LINK_TEXT.maximum}}}))?\]\]"
)
# An inline link from the end of its text on. `_openings` finds where the text begins.
INLINE = re.compile(
    rf"\]\((?:wiki:|/wiki/(?P<type>[a-z]+)/)(?P<name>[^\s()<>#/{HIDDEN}]{{1,1000}})(?:#(?P<anchor>[^\s()<>]{{0,500}}))?"
    r"(?:[ \t]+\"[^\"\r\n]{0,500}\")?\)"
)
BRACKET = re.compile(r"[\[\]]|(?:\n|\r(?!\n))[ \t]*(?=[\r\n])")
# LINK_END matches the end of any markdown link. BOLD matches what could be a title in bold, from every asterisk on
# because of `***Title***`; not after `!` or `]`, where the brackets of a link would mean something else.
LINK_END = re.compile(r"\](?=(\((?:[^()\r\n]|\([^()\r\n]{0,200}\)){0,1000}\)|\[[^\[\]\r\n]{0,500}\]))")
BOLD = re.compile(r"(?<![!\]])(?=\*\*((?:(?!\*\*)[^\r\n]){1,500})\*\*)")
BRACKETS = re.compile(r"[\\\[\]]")
ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,5}|3gp)$")
FILES = frozenset(
    {
        "3gp", "avif", "base", "bmp", "canvas", "css", "csv", "doc", "docx", "flac", "gif", "gz", "heic", "html",
        "jpeg", "jpg", "json", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "odt", "ogg", "ogv", "opus", "pdf", "png",
        "ppt", "pptx", "svg", "tar", "tif", "tiff", "txt", "wav", "webm", "webp", "xls", "xlsx", "xml", "yaml", "yml",
        "zip",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """A link in a text. `target` is its key: `austin-texas`, `topic/austin`, `space:slug`.

    `slug` and `alias` are the written name as a slug and as a normalised name, `text` is what a reader sees, and
    [start, end) is the position of the link.
    """

    target: str
    space: str | None
    type: str | None
    slug: str
    alias: str
    anchor: str | None
    text: str
    start: int
    end: int
    sections: tuple[str, ...] = ()
    """The slugs of the page's sections that contain the link; empty if they were not determined."""


@dataclass(frozen=True, slots=True)
class WrittenLink:
    """A link, and the match of WIKI or INLINE from which it was read."""

    target: Target
    match: re.Match[str]


def find_links(text: str) -> list[Target]:
    """Return the links of a text, in order.

    Links in code, in comments or after a backslash do not count, nor do attachments and block references.
    """
    return [link.target for link in match_links(text)]


class WrittenFile(NamedTuple):
    """A reference to an attachment: `[[name|text]]` links to it, `![[name]]` embeds it."""

    name: str
    text: str
    is_embedded: bool
    end: int


def wiki_file_at(text: str, position: int) -> WrittenFile | None:
    """Return the attachment in double brackets that begins at this position, or None."""
    match = WIKI.match(text, position)
    if match is None or not _is_file(name := match["name"].strip(), embedded=bool(match["embed"])):
        return None
    return WrittenFile(name, (match["text"] or "").strip(), bool(match["embed"]), match.end())


def wiki_link_at(text: str, position: int) -> Target | None:
    """Return the `[[link]]` that begins at this position; None if there is none, or if it names an attachment."""
    match = WIKI.match(text, position)
    if match is None or _is_file(match["name"].strip(), embedded=bool(match["embed"])):
        return None
    return next((link.target for link in _wiki_link(text, match)), None)


def page_target(address: str) -> Target | None:
    """Return the target of a link by its address, `wiki:slug` or `/wiki/type/slug`; None for any other address."""
    match = INLINE.fullmatch(f"]({address})")
    if match is None or (match["type"] is not None and match["type"] not in TEMPLATES):
        return None
    return next((link.target for link in _target(match, unquote(match["name"]), match["type"], "", 0)), None)


def rewrite_links(text: str, is_target: Callable[[Target], bool], new_slug: str) -> str:
    """Return the text with the chosen links pointing at `new_slug`; their form, heading and visible text stay."""
    parts, position = [], 0
    for link in match_links(text):
        if is_target(link.target):
            address = f"{link.target.space}:{new_slug}" if link.target.space else new_slug
            parts += [text[position : link.target.start], _with_address(text, link, address)]
            position = link.target.end
    return "".join(parts) + text[position:]


def readdress_links(text: str, address_of: Callable[[Target], str | None]) -> str:
    """Return the text with each link pointing at the `slug` or `space:slug` that `address_of` returns for it.

    A link for which it returns None is left unchanged. The heading and the visible text of a link stay. A link with a
    type loses it if the new address has a space, because no address has both.
    """
    parts, position = [], 0
    for link in match_links(text):
        if (address := address_of(link.target)) is not None:
            parts += [text[position : link.target.start], _with_address(text, link, address)]
            position = link.target.end
    return "".join(parts) + text[position:]


def match_links(text: str) -> list[WrittenLink]:
    """Return the links as `find_links` does, each with its match, which tells its form and what is in the brackets."""
    if "[[" not in text and "](" not in text:
        return []
    masked, found, end = mask_code(text), [], 0
    everything = [*_wiki_links(text, masked), *_inline_links(text, masked)]
    for link in sorted(everything, key=lambda link: link.target.start):
        if link.target.start >= end:
            found.append(link)
            end = link.target.end
    return found


def rename_links(text: str, respelling: Callable[[Target, str], str | None]) -> str:
    """Return the text with each page name in a link replaced by what `respelling` returns for the link and that name.

    The name is passed as written, or as "" for a link that is not in double brackets. A link for which `respelling`
    returns None is left unchanged. The form, the heading and the explicit text of a link stay.
    """
    parts, position = [], 0
    for link in match_links(text):
        start, end = link.match.span("name")
        name = text[start:end]
        spelled = respelling(link.target, name if link.match.re is WIKI else "")
        if spelled is not None:
            prefix = f"{link.target.space}:" if link.target.space else ""
            parts += [text[position:start], prefix + spelled]
            position = end
    return "".join(parts) + text[position:]


def can_be_linked(title: str) -> bool:
    """Return whether `[[title]]` would be read as a link to the page with that title."""
    found = find_links(f"[[{title}]]")
    return len(found) == 1 and found[0].alias == normalise(title) and found[0].space is None and not found[0].anchor


def page_link(text: str, type: str, slug: str) -> str:
    """Return `[text](/wiki/type/slug)`."""
    label = BRACKETS.sub(lambda bracket: "\\" + bracket[0], text)
    return f"[{label}](/wiki/{type}/{slug})"


def title_link(title: str, type: str, slug: str) -> str:
    """Return `[**Title**](/wiki/type/slug)`."""
    return page_link(f"**{title}**", type, slug)


def rollup_line(title: str, type: str, slug: str, summary: str | None) -> str:
    """Return `- [**Title**](/wiki/type/slug) — First sentence of the summary.`; no dash without a summary."""
    link = title_link(" ".join(title.split()), type, slug)
    sentence = first_sentence(summary or "")
    return f"- {link} — {sentence}" if sentence else f"- {link}"


def linkify(text: str, page_of: Callable[[str], tuple[str, str, str] | None]) -> str:
    """Return the text with each `**Title**` turned into a link if `page_of` returns a (title, type, slug) for it.

    The function is idempotent. A title is looked up as a whole, so the longest one is found.
    """
    if "**" not in text:
        return text
    masked, parts, position = mask_code(text), [], 0
    for bold in BOLD.finditer(hide(masked, _link_spans(masked))):
        page = page_of(text[slice(*bold.span(1))])
        if page and bold.start() >= position:
            parts += [text[position : bold.start()], title_link(*page)]
            position = bold.end(1) + len("**")
    return "".join(parts) + text[position:]


def _link_spans(masked: str) -> Iterator[Span]:
    pairs = _openings(masked)
    yield from (match.span() for match in WIKI.finditer(masked))
    yield from ((pairs[end.start()], end.end(1)) for end in LINK_END.finditer(masked) if end.start() in pairs)


def _openings(masked: str) -> dict[int, int]:
    """Map the position of each closing bracket to that of its opening bracket in the same paragraph.

    `masked` is a text from `mask_code`.
    """
    pairs: dict[int, int] = {}
    unclosed: list[int] = []
    for bracket in BRACKET.finditer(masked):
        if bracket[0] == "[":
            unclosed.append(bracket.start())
        elif bracket[0] != "]":
            unclosed.clear()
        elif unclosed:
            pairs[bracket.start()] = unclosed.pop()
    return pairs


def _wiki_links(text: str, masked: str) -> Iterator[WrittenLink]:
    for match in WIKI.finditer(masked):
        if not _is_file(match["name"].strip(), embedded=bool(match["embed"])):
            yield from _wiki_link(text, match)


def _wiki_link(text: str, match: re.Match[str]) -> Iterator[WrittenLink]:
    if match["bar"] and match["text"].strip():
        shown = text[slice(*match.span("text"))].strip()
    else:
        shown = text[match.start("name") : match.end("anchor" if match["anchor"] else "name")].strip()
    yield from _target(match, match["name"].strip(), None, shown, match.start())


def _inline_links(text: str, masked: str) -> Iterator[WrittenLink]:
    matches = list(INLINE.finditer(masked))
    pairs = _openings(masked) if matches else {}
    for match in matches:
        opening = pairs.get(match.start())
        if opening is not None and (match["type"] is None or match["type"] in TEMPLATES):
            shown = text[opening + 1 : match.start()]
            yield from _target(match, unquote(match["name"]), match["type"], shown, opening)


def _target(match: re.Match[str], written: str, type: str | None, shown: str, start: int) -> Iterator[WrittenLink]:
    """Yield the link, or nothing if the written name cannot be that of a page."""
    space, name = _address(written) if type is None else (None, written)
    anchor = (match["anchor"] or "").strip() or None
    if "://" in written or name.startswith("^"):
        return
    try:
        slug = slugify(name)
    except NoSlug:
        return
    key = f"{type}/{slug}" if type else f"{space}:{slug}" if space else slug
    yield WrittenLink(Target(key, space, type, slug, normalise(name), anchor, shown, start, match.end()), match)


def _address(written: str) -> tuple[str | None, str]:
    """Split a written name into the space, None without one, and the page's name without folders and `.md`."""
    before, colon, after = written.partition(":")
    space = before if colon and after and not after[0].isspace() and is_slug(before) else None
    name = after if space else written
    return space, name.rpartition("/")[2].removesuffix(".md").strip()


def _is_file(name: str, *, embedded: bool) -> bool:
    """Return whether a name is that of an attachment: `![[Node.js]]` and `[[plan.pdf]]` are, `[[Node.js]]` is a
    page."""
    ending = ENDING.search(name)
    return ending is not None and ending[1].lower() != "md" and (embedded or ending[1].lower() in FILES)


def _with_address(text: str, link: WrittenLink, address: str) -> str:
    """Return the text of the link with another address."""
    target, (start, end) = link.target, link.match.span("name")
    before, after = text[target.start : start], text[end : target.end]
    if target.type is not None and ":" in address:
        before = f"{text[target.start : link.match.start()]}](wiki:"
    if _shows_its_name(link):
        bar = r"\|" if _in_table(text, target.start) else "|"
        after = f"{after.removesuffix(']]')}{bar}{target.text}]]"
    return before + address + after


def _shows_its_name(link: WrittenLink) -> bool:
    """Return whether a rewritten link must show the old name as its text: `[[Old name]]` must, `[[old-slug]]` need
    not."""
    if link.match.re is INLINE or link.match["embed"] or link.match["bar"]:
        return False
    written = link.match["name"].strip()
    return not is_slug(written.partition(":")[2] if link.target.space else written)


def _in_table(text: str, position: int) -> bool:
    """Return whether a position is in a row of a table, which begins with a bar. Other bars in it must be escaped."""
    row = text[max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1 : position]
    return row.lstrip("> \t").startswith("|")
