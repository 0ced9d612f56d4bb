"""Render markdown, with links to pages and citations, as HTML that is safe to show on any page.

Only markdown becomes markup. Raw HTML is escaped. A link leads to the web, to a mail address, to a telephone number or
to a path of this site, and any other address is dropped. The output has no elements but ELEMENTS and no attributes but
ATTRIBUTES, which a property test checks.
"""

import re
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from .attachments import Attachment, attachment_address, attachment_at, attachment_path
from .links import Target, page_target, wiki_link_at
from .plain import strip_comments

LONGEST = 200_000  # characters of a text that is rendered as markdown; a longer one is shown as plain paragraphs
MARKS_MAX = 20_000  # characters of a text that may be markup: each costs the parser as much as many letters
MARKS = re.compile(r"[`*_~\[\]<>&\\!|]")
PARAGRAPH = re.compile(r"(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))+")

ELEMENTS = frozenset(
    {
        "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre",
        "s", "strong", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
ATTRIBUTES = frozenset({"alt", "class", "data-page-id", "href", "rel", "src", "start", "title"})
# The addresses that a link may have. `//host` and `/\\host` look like paths but lead to other sites.
ADDRESS = re.compile(r"https?://[^\s]+|mailto:[^\s]+|tel:[^\s]+|/(?![/\\])[^\s]*|#[^\s]*", re.IGNORECASE)
IMAGE = re.compile(r"https?://[^\s]+", re.IGNORECASE)
LANGUAGE = re.compile(r"[\w+#.-]{1,40}", re.ASCII)
ALIGNMENT = re.compile(r"text-align:(left|right|center)")
CITATION = re.compile(r"\[\^([^\[\]\s^\\]{1,1000})\]")

Places = Mapping[str, Sequence[str | None] | None]
"""The page that each link refers to, by `Target.target`: its type, slug and id, its space if it is in another wiki, and
its title."""


def html(text: str, places: Places) -> str:
    """Return the text as HTML.

    A link to a page that is not in `places` has the class `wiki-link-broken` and no address.
    """
    text = strip_comments(text)
    if len(text) > LONGEST or sum(1 for _ in MARKS.finditer(text)) > MARKS_MAX:
        return plain_paragraphs(text)
    shown: str = MARKDOWN.render(text, {"places": places})
    return shown


def attachments_in(text: str) -> set[str]:
    """Return the paths of the attachments that a text refers to, as the text writes them."""
    names = set[str]()
    for block in MARKDOWN.parse(strip_comments(text)):
        for token in block.children or ():
            if token.type == "attachment":
                names.add(token.meta["attachment"].path)
            elif (address := token.attrs.get("src") or token.attrs.get("href")) and (
                path := attachment_path(str(address))
            ):
                names.add(path)
    return names


def plain_paragraphs(text: str) -> str:
    """Return the text as paragraphs without markdown, for a text that would take too long to parse."""
    paragraphs = (part.strip() for part in PARAGRAPH.split(text))
    return "".join(f"<p>{escapeHtml(part)}</p>\n" for part in paragraphs if part)


def page_address(target: Target, places: Places) -> tuple[str, str] | None:
    """Return the URL path and the id of the page that a target refers to; None if there is no such page."""
    place = places.get(target.target)
    if not place:
        return None
    type_, slug, page_id, space, _ = place
    path = f"/wiki/{type_}/{quote(slug or '')}" + (f"?owner={quote(space)}" if space else "")
    return path + (f"#{quote(target.anchor, safe='')}" if target.anchor else ""), str(page_id)


# -- parser rules for what markdown does not have: [[links]], attachments and [^citations]


def read_wiki_link(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "[!" or (target := wiki_link_at(state.src, state.pos)) is None:
        return False
    if not silent:
        token = state.push("wiki_link", "a", 0)
        token.meta = {"target": target, "is_labelled": "|" in state.src[state.pos : target.end]}
    state.pos = target.end
    return True


def read_attachment(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "[!" or (found := attachment_at(state.src, state.pos)) is None:
        return False
    if not silent:
        token = state.push("attachment", "a", 0)
        token.meta = {"attachment": found}
    state.pos = found.end
    return True


def read_citation(state: StateInline, silent: bool) -> bool:
    match = CITATION.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        token = state.push("citation", "sup", 0)
        token.meta = {"label": match[1]}
    state.pos = match.end()
    return True


def read_reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a reference definition, such as `[label]: address`. `[^1]: text` looks like one, but is not."""
    is_footnote = state.src.startswith("[^", state.bMarks[start] + state.tShift[start])
    return not is_footnote and reference(state, start, end, silent)


# -- rendering


class Renderer(RendererHTML):
    """A markdown-it renderer that emits only safe addresses and attributes."""

    def link_open(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        env["is_in_link"] = True
        address = str(tokens[index].attrs.get("href", ""))
        title = tokens[index].attrs.get("title")
        shown: dict[str, str] = {"title": str(title)} if title else {}
        if target := page_target(address):
            return open_tag("a", link_attributes(target, env["places"]) | shown)
        if file := attachment_path(address):
            return open_tag("a", attachment_attributes(file, is_embedded=False) | shown)
        if not ADDRESS.fullmatch(address):
            return "<a>"
        outside = {} if address[0] in "/#" else {"rel": "nofollow noopener noreferrer"}
        return open_tag("a", {"href": address} | outside | shown)

    def link_close(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        env["is_in_link"] = False
        return "</a>"

    def wiki_link(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        target: Target = tokens[index].meta["target"]
        places: Places = env["places"]
        text = target.text if tokens[index].meta["is_labelled"] else link_text(target, places)
        return f"{open_tag('a', link_attributes(target, places))}{escapeHtml(text)}</a>"

    def citation(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        label: str = tokens[index].meta["label"]
        attributes = {"class": "wiki-citation", "href": f"#citation-{quote(label)}"}
        return f"<sup>{open_tag('a', attributes)}{escapeHtml(unquote(label))}</a></sup>"

    def image(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        token = tokens[index]
        shown = self.renderInlineAsText(token.children, options, env) if token.children else ""
        source = str(token.attrs.get("src", ""))
        if IMAGE.fullmatch(source):
            return open_tag("img", {"src": source, "alt": shown})
        file = attachment_path(source)
        if file is None or env.get("is_in_link"):  # HTML does not allow nested links
            return escapeHtml(shown)
        return f"{open_tag('a', attachment_attributes(file, is_embedded=True))}{escapeHtml(shown)}</a>"

    def attachment(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        found: Attachment = tokens[index].meta["attachment"]
        if env.get("is_in_link"):
            return escapeHtml(found.shown)
        attributes = attachment_attributes(found.path, found.width, is_embedded=found.is_embedded)
        return f"{open_tag('a', attributes)}{escapeHtml(found.shown)}</a>"

    def fence(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        language = next(iter(tokens[index].info.split()), "")
        attributes = {"class": f"language-{language}"} if LANGUAGE.fullmatch(language) else {}
        return f"<pre>{open_tag('code', attributes)}{escapeHtml(tokens[index].content)}</code></pre>\n"

    def cell(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        """Render the opening tag of a table cell.

        The alignment is a class, because a Content-Security-Policy may forbid inline styles.
        """
        found = ALIGNMENT.fullmatch(str(tokens[index].attrs.get("style", "")))
        return open_tag(tokens[index].tag, {"class": f"align-{found[1]}"} if found else {})

    th_open = td_open = cell


def link_text(target: Target, places: Places) -> str:
    """Return the text of a link without explicit text: the written name, or the page's title if that name is its
    slug."""
    if (place := places.get(target.target)) is None:
        return target.text
    _, slug, _, space, title = place
    written = f"{space}:{slug}" if space else slug
    return title if title and target.text == written else target.text


def link_attributes(target: Target, places: Places) -> dict[str, str]:
    if found := page_address(target, places):
        path, page_id = found
        return {"class": "wiki-link", "href": path, "data-page-id": page_id}
    return {"class": "wiki-link wiki-link-broken"}


def attachment_attributes(path: str, width: int | None = None, *, is_embedded: bool) -> dict[str, str]:
    """Return the attributes of a link to an attachment. An embedded one also has the class `wiki-embed`."""
    kind = "wiki-attachment wiki-embed" if is_embedded else "wiki-attachment"
    return {"class": kind, "href": attachment_address(path, width)}


def open_tag(tag: str, attributes: Mapping[str, str]) -> str:
    return "".join([f"<{tag}", *(f' {name}="{escapeHtml(value)}"' for name, value in attributes.items()), ">"])


MARKDOWN = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}, renderer_cls=Renderer)
MARKDOWN.enable(["table", "strikethrough"])
MARKDOWN.inline.ruler.before("link", "wiki_link", read_wiki_link)
MARKDOWN.inline.ruler.before("wiki_link", "attachment", read_attachment)
MARKDOWN.inline.ruler.before("link", "citation", read_citation)
MARKDOWN.block.ruler.at("reference", read_reference)
