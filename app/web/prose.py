"""The HTML of a section as the reader shows it: links inside the wiki, highlighted code, no images of other sites.

The input is the HTML of `content.markdown.html`, in which every text is escaped, so the patterns match only markup.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape, unescape
from urllib.parse import quote, unquote, urlsplit

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from content.markdown.attachments import PICTURES
from content.names import section_slug
from resolvers.sources.attachments import AttachmentPlace

LINK = re.compile(
    r'<a class="wiki-link" href="/wiki/(?P<type>[a-z]+)/(?P<slug>[^"?#]*)(?:\?owner=(?P<space>[^"#]*))?'
    r'(?:#(?P<anchor>[^"]*))?" data-page-id="[^"]*"'
)
BROKEN = re.compile(r'<a class="wiki-link wiki-link-broken">(.*?)</a>', re.DOTALL)
INSIDE = re.compile(r'<a (?:class="wiki-(?:link|citation|attachment)[^>]*|href="[#/](?!/)[^>]*)>(.*?)</a>', re.DOTALL)
ATTACHED = re.compile(
    r'<a class="wiki-attachment(?P<embed> wiki-embed)?" href="/attachment\?path=(?P<path>[^"&]*)'
    r'(?:&amp;width=(?P<width>\d+))?"[^>]*>'
    r"(?P<shown>.*?)</a>",
    re.DOTALL,
)
IMAGE = re.compile(r'<img src="(?P<source>[^"]*)" alt="(?P<shown>[^"]*)">')
CODE = re.compile(r'<pre><code class="language-(?P<language>[^"]*)">(?P<text>.*?)</code></pre>', re.DOTALL)
TASK = re.compile(r"<li>(<p>)?\[([ xX])\] ")
HEADING = re.compile(r"<h(?P<level>[1-6])>(?P<shown>.*?)</h(?P=level)>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
HIGHLIGHTED_MAX = 20_000  # characters; longer code is not highlighted
FORMATTER = HtmlFormatter(nowrap=True)
IMAGE_TYPES = frozenset(PICTURES.values())
MISSING = "This file was not imported"
Files = Mapping[str, AttachmentPlace]
NO_FILES: Files = {}


def attachment_names(html: str) -> set[str]:
    """Return the paths of the attachments that a text refers to, as they are written there."""
    return {unquote(found["path"]) for found in ATTACHED.finditer(html)}


def safe_html(
    html: str, owner: str, may_write: bool = False, files: Files = NO_FILES, anchors: set[str] | None = None
) -> Markup:
    """Rewrite the HTML of a section for the reader: links, attachments, images, code, tables, tasks and headings.

    `owner` is the slug of the wiki that the text belongs to, and `files` are the attachments that it refers to. If
    `anchors` are given, each heading whose slug is not among them gets it as id, and the slug is added to them.
    """

    def rewrite_link(match: re.Match[str]) -> str:
        space = match["space"] or quote(owner)
        anchor = f"#{quote(section_slug(unquote(match['anchor'])))}" if match["anchor"] else ""
        return f'<a class="wiki-link" href="/wiki/{space}/{match["type"]}/{match["slug"]}{anchor}"'

    def rewrite_broken_link(match: re.Match[str]) -> str:
        title = unescape(TAG.sub("", match[1]))
        if not may_write:
            return f'<span class="broken" title="There is no page of this name">{match[1]}</span>'
        address = f"/new/{quote(owner)}?title={quote(title, safe='')}"
        return f'<a class="broken" href="{address}" title="There is no page of this name. Create it">{match[1]}</a>'

    def rewrite_attachment(match: re.Match[str]) -> str:
        file = files.get(unquote(match["path"]))
        if file is None:
            return f'<span class="missing" title="{escape(MISSING)}">{match["shown"]}</span>'
        address = f"/attachment/{quote(owner)}/{quote(file.path)}"
        if not (match["embed"] and file.media_type in IMAGE_TYPES):
            return f'<a class="attachment" href="{address}">{match["shown"]}</a>'
        size = size_attributes(file, int(match["width"] or 0))
        shown = escape(unescape(TAG.sub("", match["shown"])))
        return f'<img class="attachment" src="{address}" alt="{shown}"{size} loading="lazy" decoding="async">'

    def rewrite_heading(match: re.Match[str]) -> str:
        level = max(3, int(match["level"]))  # below the heading of the section, which is an h2
        slug = section_slug(unescape(TAG.sub("", match["shown"])))
        id_attribute = ""
        if anchors is not None and slug not in anchors:
            anchors.add(slug)
            id_attribute = f' id="{escape(slug)}"'
        return f"<h{level}{id_attribute}>{match['shown']}</h{level}>"

    if "wiki-attachment" in html:
        html = ATTACHED.sub(rewrite_attachment, html)
    if "<a class=" in html:
        html = BROKEN.sub(rewrite_broken_link, LINK.sub(rewrite_link, html))
    if '<img src="' in html:
        html = IMAGE.sub(link_to_image, html)
    if "<pre>" in html:
        html = CODE.sub(highlight_code_block, html).replace("<pre>", '<pre tabindex="0">')
    if "<table>" in html:
        html = html.replace("<table>", '<div class="table" role="region" aria-label="Table" tabindex="0"><table>')
        html = html.replace("</table>", "</table></div>")
    if "[" in html:
        html = TASK.sub(task_item, html)
    return Markup(HEADING.sub(rewrite_heading, html))  # noqa: S704  # every text in it is escaped


def size_attributes(file: AttachmentPlace, wanted_width: int) -> str:
    """Return the size attributes of an image, which reserve its space while it loads. `wanted_width` may be 0."""
    if not (file.width and file.height):
        return f' width="{wanted_width}"' if wanted_width else ""
    width = wanted_width or file.width
    return f' width="{width}" height="{max(1, round(file.height * width / file.width))}"'


def standalone_html(html: str) -> Markup:
    """Return the HTML of a shared page: links to other pages, sources and attachments are replaced by their text."""
    return safe_html(INSIDE.sub(r"\1", html), "")


def link_to_image(match: re.Match[str]) -> str:
    """Return a link in place of an image of another site, because a page loads nothing from other sites."""
    host = escape(urlsplit(unescape(match["source"])).hostname or "")
    shown = match["shown"] or "Image"
    return (
        f'<a class="outside-image" href="{match["source"]}" rel="nofollow noopener noreferrer">{shown}'
        f" <small>({host})</small></a>"
    )


def task_item(match: re.Match[str]) -> str:
    is_done = match[2] != " "
    mark, label = ("☑", "Done") if is_done else ("☐", "Open")
    return f'<li class="task">{match[1] or ""}<span role="img" aria-label="{label}">{mark}</span> '


def highlight_code_block(match: re.Match[str]) -> str:
    if len(match["text"]) > HIGHLIGHTED_MAX:
        return match[0]
    return f'<pre><code class="code">{highlight_code(match["language"], unescape(match["text"]))}</code></pre>'


@lru_cache(512)
def highlight_code(language: str, text: str) -> str:
    """Return code with spans for syntax highlighting, or just escaped if the language is not known."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(text, quote=False)
    return str(highlight(text, lexer, FORMATTER))
