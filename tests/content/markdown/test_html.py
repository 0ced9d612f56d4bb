"""Markdown is rendered as HTML with only allowed elements and attributes."""

from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from content.markdown.html import ATTRIBUTES, ELEMENTS, LONGEST, MARKS_MAX, Places, html

PLACES: Places = {
    "kiln": ["entity", "kiln", "id-1", None, "Kiln & <oven>"],
    "oven": ["entity", "kiln", "id-1", None, "Kiln & <oven>"],
    "topic/kiln": ["topic", "kiln", "id-2", None, "Kiln"],
    "team:roast": ["topic", "roast", "id-3", "team", "The roast"],
}
VOID = {"br", "hr", "img"}
KILN = '<a class="wiki-link" href="/wiki/entity/kiln" data-page-id="id-1">'
EMBED = '<a class="wiki-attachment wiki-embed" href="/attachment?path='
BROKEN = '<a class="wiki-link wiki-link-broken">'

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](java\tscript:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](\x01javascript:alert(1))",
    "[a](javascript&colon;alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "[a](vbscript:msgbox(1))",
    "[a](file:///etc/passwd)",
    "[a](//evil.example)",
    "[a](/\\evil.example)",
    "<javascript:alert(1)>",
    "![a](javascript:alert(1))",
    "![a](data:image/svg+xml,<svg onload=alert(1)>)",
    '![a" onerror="alert(1)](https://x.example/y.png)',
    '[a](https://x.example/"onmouseover="alert(1))',
    '[a](https://x.example "t" onclick="alert(1)")',
    "[a](https://x.example '\" onclick=alert(1)')",
    "[a]: javascript:alert(1)\n\n[a]",
    '```js" onclick="alert(1)\ncode\n```',
    "```<script>\n</code></pre><script>alert(1)</script>\n```",
    "`</code><script>alert(1)</script>`",
    "[[kiln|<img src=x onerror=alert(1)>]]",
    '[[kiln#"><script>alert(1)</script>]]',
    '[[" onclick="alert(1)]]',
    '[^"><script>alert(1)</script>]',
    '[^" onclick="alert(1)]',
    '[a](wiki:kiln#"onclick="alert(1))',
    "[a](wiki:javascript:alert(1))",
    "| a |\n|:-:|\n| <script> |",
    "<!-- --><script>alert(1)</script>",
    "<![CDATA[<script>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<style>@import 'x'</style>",
    "<a href='javascript:alert(1)'>",
    "[a [[kiln]] b](javascript:alert(1))",
    "\u202e<script>",
]


class Checked(HTMLParser):
    """Reads HTML, and collects its faults and its texts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS:
            self.faults.append(f"<{tag}>")
        names = [name for name, _ in attrs]
        self.faults += [f"{tag} {name}" for name in names if name not in ATTRIBUTES or names.count(name) > 1]
        for name, value in attrs:
            schemes = ("https://", "http://") if name == "src" else ("https://", "http://", "mailto:", "tel:", "/", "#")
            if name in ("href", "src") and not (value or "").lower().startswith(schemes):
                self.faults.append(f"{tag} {name}={value}")
            if name in ("href", "src") and (value or "").startswith(("//", "/\\")):
                self.faults.append(f"{tag} {name}={value}")
        if tag == "a" and "a" in self.open:
            self.faults.append("a link in a link")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.faults.append("a comment")

    def handle_decl(self, decl: str) -> None:
        self.faults.append("a declaration")

    def unknown_decl(self, data: str) -> None:
        self.faults.append("a declaration")

    def handle_pi(self, data: str) -> None:
        self.faults.append("an instruction")


def faults(text: str) -> list[str]:
    reader = Checked()
    reader.feed(html(text, PLACES))
    reader.close()
    return reader.faults + [f"{tag} is not closed" for tag in reader.open]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[Kiln]]", f"{KILN}Kiln</a>"),
        ("[[kiln]]", f"{KILN}Kiln &amp; &lt;oven&gt;</a>"),
        ("[[kiln|kiln]]", f"{KILN}kiln</a>"),
        ("[[oven]]", f"{KILN}oven</a>"),
        ("[kiln](wiki:kiln)", f"{KILN}kiln</a>"),
        ("[[Kiln|the **oven**]]", f"{KILN}the **oven**</a>"),
        ("[the **oven**](wiki:kiln)", f"{KILN}the <strong>oven</strong></a>"),
        ("![[Kiln]]", f"{KILN}Kiln</a>"),
        ("[a](/wiki/topic/kiln#heat)", '<a class="wiki-link" href="/wiki/topic/kiln#heat" data-page-id="id-2">a</a>'),
        ("[[Kiln#The heat]]", f"{KILN.replace('kiln', 'kiln#The%20heat', 1)}Kiln#The heat</a>"),
        (
            "[[team:roast]]",
            '<a class="wiki-link" href="/wiki/topic/roast?owner=team" data-page-id="id-3">The roast</a>',
        ),
        ("[[Nobody]]", f"{BROKEN}Nobody</a>"),
        ("[a](wiki:nobody)", f"{BROKEN}a</a>"),
        ("`[[Kiln]]` \\[[Kiln]]", "<code>[[Kiln]]</code> [[Kiln]]"),
        ("[[plan.pdf]] [[^block]]", None),
        ("said [^n0]", 'said <sup><a class="wiki-citation" href="#citation-n0">n0</a></sup>'),
        ("[^a%20b]", '<sup><a class="wiki-citation" href="#citation-a%2520b">a b</a></sup>'),
        ("[^1]: Book", '<sup><a class="wiki-citation" href="#citation-1">1</a></sup>: Book'),
        ("[a](https://x.example)", '<a href="https://x.example" rel="nofollow noopener noreferrer">a</a>'),
        ("[a](notes/b.md)", "<a>a</a>"),
        ("[[plan.pdf|Plan]]", '<a class="wiki-attachment" href="/attachment?path=plan.pdf">Plan</a>'),
        ("[a](b%20c/plan.pdf#page=2)", '<a class="wiki-attachment" href="/attachment?path=b%20c/plan.pdf">a</a>'),
        ("![[b c.png|300]]", f'{EMBED}b%20c.png&amp;width=300">b c.png</a>'),
        ("![a](../b.svg)", f'{EMBED}../b.svg">a</a>'),
        ("![a](b.html) ![c](//d.png)", "a c"),
        ("[![a](b.png)](https://x.example)", '<a href="https://x.example" rel="nofollow noopener noreferrer">a</a>'),
        ("a <!-- hidden --> b %% hidden %% c", "a  b  c"),
        ("<b>a</b> & b", "&lt;b&gt;a&lt;/b&gt; &amp; b"),
    ],
)
def test_links_citations_and_attachments_are_rendered(text: str, shown: str | None) -> None:
    found = html(text, PLACES)
    if shown is None:
        assert '<a class="wiki-link' not in found
    else:
        assert found == f"<p>{shown}</p>\n"


def test_markdown_blocks_are_rendered() -> None:
    text = "## A\n\n- b\n\n1. c\n\n> d\n\n```py\ne\n```\n\n| f |\n|--:|\n| ~~g~~ |\n\n---"
    found = html(text, {})
    assert found.startswith("<h2>A</h2>\n<ul>\n<li>b</li>\n</ul>\n<ol>\n<li>c</li>")
    assert '<pre><code class="language-py">e\n</code></pre>' in found
    assert '<td class="align-right"><s>g</s></td>' in found


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_escaped(text: str) -> None:
    assert faults(text) == []


PIECES = st.sampled_from(
    [
        *HOSTILE, "[[", "]]", "[", "]", "(", ")", "|", "\n", "\n\n", "- ", "> ", "    ", "`", "```\n", "*", "**", "~~",
        "![", "[^", "wiki:", "/wiki/entity/kiln", "<", ">", '"', "'", "&", "\\", "#", "kiln", ": ", "javascript:", "a",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=200))
@example("[a](wiki:kiln 'x\" onclick=y')")
def test_any_text_gives_only_allowed_elements_and_attributes(text: str) -> None:
    assert faults(text) == []


@given(st.text(alphabet="ab cd\n<&\"'", max_size=200))
def test_html_keeps_the_words_of_the_text(text: str) -> None:
    reader = Checked()
    reader.feed(html(text, {}))
    assert "".join("".join(reader.texts).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["a " * LONGEST + "<b>", "`" * (MARKS_MAX + 1) + "<b>\n\nc"], ids=["long", "marks"])
def test_texts_above_the_limits_are_rendered_as_plain_paragraphs(text: str) -> None:
    found = html(text, PLACES)
    assert found.startswith("<p>")
    assert "&lt;b&gt;" in found
    assert "<b>" not in found
