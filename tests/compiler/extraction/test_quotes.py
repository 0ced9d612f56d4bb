"""Every quote stands verbatim in its source, whatever markup the source contains."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.planner.verbatim import is_verbatim, quotes
from compiler.extraction.evidence import EVIDENCE, entries, subject_of
from compiler.extraction.readings import Reading
from compiler.quoting import quoted
from tests.compiler.extraction.stories import note
from tests.compiler.extraction.test_writer import written

WORDS = st.sampled_from(
    ["Uchi", "Uchi", "Uchi", "Eric", "dinner", "is", "a", "place,", "closed.", "(we)", "“so”", "it's", "5.0", "e.g.",
     "日本", "ร้านน้ำ", "café", "cafe\u0301", "İstanbul", "ß", "decided", "because", "therefore", "arr[0][1]",
     "Vec<String>", "a<b", "c>d", "snake_case", "2*3*4", "\\*no\\*", "\\[x\\]", "C:\\temp", "&nbsp;", "&amp;", "<br>",
     "&#8217;", "&lt;b&gt;", "&eacute;", "&#x202e;", "&#xe002;",
     "<span>", "</span>", "<!--hidden-->", "%%secret%%", "<https://a.b/c>", "<me@a.b>", "https://a.b/c_d", "”", "“",
     "\ue000", "\ue002", "\ue016"]
)  # fmt: skip
SPACES = st.sampled_from(
    [" ", " ", " ", "", "\u00a0", "\u200b", "\u2009", "\t", "\x01", "\u202a", "\n", "\r\n", "\u2028"]
)
TEXT = st.lists(st.tuples(WORDS, SPACES), max_size=5).map(lambda parts: "".join(map("".join, parts)))
LINES = st.sampled_from(["", "", "- ", "1. ", "> ", "> [!note] ", "- [ ] ", "# ", "| ", "```\n", "~~~ py\n", "    "])


def marked(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy for text between one more pair of marks, or beside half of a pair."""
    around = st.sampled_from(
        [
            ("**", "**"), ("_", "_"), ("*", "*"), ("`", "`"), ("``", "``"), ("``` ", " ```"), ("~~", "~~"),
            ("<b>", "</b>"),
            ("[[", "]]"), ("[[Other note|", "]]"), ("[[", "|shown]]"), ("![[", "]]"), ("[", "](target)"),
            ("[", "](a(b)c \"title\")"), ("[", "](<a b>)"), ("![", "](image.png)"), ("[", "][ref]"), ("[", "][]"),
            ("[^", "]"), ("", "[^1]"),
            ("<!--", "-->"), ("%%", "%%"), ("[", "]"), ("(", ")"), ("`", ""), ("**", ""), ("[[", ""), ("<", ">"),
        ]
    )  # fmt: skip
    return st.tuples(around, inner).map(lambda parts: parts[0][0] + parts[1] + parts[0][1])


PROSE = st.recursive(TEXT, lambda inner: marked(inner) | st.tuples(inner, SPACES, inner).map("".join), max_leaves=8)
SOURCE = st.lists(st.tuples(LINES, PROSE).map("".join), min_size=1, max_size=5).map("\n".join)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Uchi calls it `<div>` or `<span>`, no less.", "Uchi calls it <div> or <span>, no less."),
        ("Uchi writes `[[Artificial Intelligence|AI]]` so.", "Uchi writes [[Artificial Intelligence|AI]] so."),
        ("Uchi writes `` `a` and <b> `` so.", "Uchi writes `a` and <b> so."),
        ("Uchi does [Next][next-pages] or [Prev][] first.", "Uchi does Next or Prev first."),
        ("Uchi reads arr[0][1] and no more.", "Uchi reads arr[0][1] and no more."),
        ("Uchi stands on <https://uchi.example/a_b> for all.", "Uchi stands on https://uchi.example/a_b for all."),
        ("Uchi is [the one](a(b) \"of\") for [[Sushi|raw fish]].", "Uchi is the one for raw fish."),
        ("Uchi costs \\*much\\* and \\[more\\].", "Uchi costs *much* and [more]."),
        ("Uchi&#8217;s menu isn&rsquo;t `&amp;` &lt;b&gt; &amp;c.", "Uchi’s menu isn’t &amp; <b> &c."),
        ("Uchi is &unknown; and 5 & 6; \\&amp; so on.", "Uchi is &unknown; and 5 & 6; &amp; so on."),
        ("Uchi[^1] serves raw fish[^see-below], all day.", "Uchi serves raw fish, all day."),
        ("Uchi writes `x[^1]` so.", "Uchi writes x[^1] so."),
        ("Uchi does [what [sic] it can][1] now.", "Uchi does what [sic] it can now."),
        ("Uchi keeps `snake_case` and **bold `*x*`** text.", "Uchi keeps snake_case and bold *x* text."),
    ],
)  # fmt: skip
def test_a_quote_shows_the_rendered_text_of_its_source(text: str, shown: str) -> None:
    assert [sentence.text for sentence in Reading(note(0, text)).sentences] == [shown]
    assert quoted(shown) in written([note(0, text)])


@settings(max_examples=400, deadline=None)
@given(SOURCE)
@example("Uchi  <[c>d ](target)>")
@example("Uchi [[a [b](t)|c]] closes")
@example("Uchi [x][[y](t)] closes")
@example("Uchi a<b <!--hidden--> c>d closes")
@example("Uchi [[a ![[x]] |b]] closes")
@example("Uchi a<b <https://a.b/c> c>d closes")
@example("Uchi [a](`x) y` z) closes")
@example("Uchi [[a `x|y` b|c]] closes")
@example("Uchi <b `<c>` d> closes")
def test_every_quote_stands_in_its_source(text: str) -> None:
    source = note(0, text)
    reading = Reading(source)
    subject: Any = subject_of("topic", "Uchi", frozenset({"uchi"}))
    texts = {one for slug in EVIDENCE for entry in entries(slug, reading, subject) for one in entry.texts}
    texts |= {sentence.text for sentence in reading.sentences}
    assert [one for one in texts if not is_verbatim(quoted(one), text)] == []
    for line in written([source]).splitlines():
        assert quotes(line)
        assert all(is_verbatim(one, text) for one in quotes(line))


@pytest.mark.parametrize(
    ("quote", "source", "is_there"),
    [
        ("dinner at Uchi", "We had *dinner* at [[Places/Uchi|Uchi]].", True),
        ("dinner at Uchi", "We had dinner\nat [Uchi](https://uchi.example).", True),
        ("dinner Uchi", "We had dinner at Uchi.", False),
        ("dîner chez Uchi’s", "d&icirc;ner chez Uchi&#8217;s", True),
        ("dîner chez Uchi", "`d&icirc;ner` chez Uchi", False),
        ("inside , or any other", "inside `<div>`, or any other", False),
        ("dinner at Uchi", "We had dinner at `[[Places/Uchi|Uchi]]`.", False),
        ("", "We had dinner.", True),
    ],
)
def test_is_verbatim_compares_a_quote_with_the_rendered_source(quote: str, source: str, is_there: bool) -> None:
    assert is_verbatim(quote, source) is is_there
