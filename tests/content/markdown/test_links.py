"""Links are found, rewritten and added in texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.markdown.links import Target, find_links, linkify, rewrite_links, rollup_line

FRAGMENTS = [
    "[[Old]]", "![[Old]]", "[[Old#h]]", "[[Old|x]]", "[[old-page|x]]", "[t](wiki:old)", "[t](/wiki/topic/old#h)", "`",
    "``", "```\n", "\n\n", "\n", "    ", "\\", "[", "]", "(", ")", "<!--", "-->", "**Austin**", "**", "*", "![",
    "| a |", "[[s:old]]", "[x](http://a/(b))", "text ", "Austin", "- ", "> ", "[y][z]",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=12).map("".join)
PAGE_OF = {
    "Austin": ("Austin", "topic", "austin"),
    "Austin, Texas": ("Austin, Texas", "entity", "austin-texas"),
    "E*Trade [US]": ("E*Trade [US]", "entity", "e-trade"),
}.get


def only_link(text: str) -> Target:
    (link,) = find_links(text)
    return link


@pytest.mark.parametrize(
    ("text", "target", "shown", "anchor"),
    [
        ("[Auth](wiki:auth-flow)", "auth-flow", "Auth", None),
        ("[Auth](wiki:auth-flow#Why)", "auth-flow", "Auth", "Why"),
        ('[Auth](wiki:auth "title")', "auth", "Auth", None),
        ("[a `]` [b]](wiki:x)", "x", "a `]` [b]", None),
        ("[two\nlines](wiki:x)", "x", "two\nlines", None),
        ("[[austin-texas]]", "austin-texas", "austin-texas", None),
        ("[[Austin, Texas|home]]", "austin-texas", "home", None),
        ("[[Page#Top#Sub|text]]", "page", "text", "Top#Sub"),
        ("[[Page#Top]]", "page", "Page#Top", "Top"),
        ("[[team:auth]]", "team:auth", "team:auth", None),
        ("[[Re:Zero]]", "re-zero", "Re:Zero", None),
        ("[[note: a]]", "note-a", "note: a", None),
        ("![[Embedded]]", "embedded", "Embedded", None),
        ("[[Note#^id]]", "note", "Note#^id", "^id"),
        ("![[Note#^id]]", "note", "Note#^id", "^id"),
        ("[**Franklin**](/wiki/entity/franklin-barbecue)", "entity/franklin-barbecue", "**Franklin**", None),
        ("[日本](/wiki/topic/%E6%97%A5%E6%9C%AC)", "topic/日本", "日本", None),
        ("[[Folder/Sub/Note.md]]", "note", "Folder/Sub/Note.md", None),
        ("[[Quick Switcher ]]", "quick-switcher", "Quick Switcher", None),
        (r"| [[Basic\|syntax]] |", "basic", "syntax", None),
        ("[[Node.js]]", "node-js", "Node.js", None),
        ("[[[x]]]", "x", "x", None),
        (r"\\[[x]]", "x", "x", None),
        ("`odd [[x]]", "x", "x", None),
        ("<div>\n[[x]]\n</div>", "x", "x", None),
        ("[[Index]]", "index-page", "Index", None),
    ],
)
def test_each_form_of_link_is_found(text: str, target: str, shown: str, anchor: str | None) -> None:
    link = only_link(text)
    assert (link.target, link.text, link.anchor) == (target, shown, anchor)


def test_a_link_target_has_owner_type_slug_and_alias() -> None:
    link = only_link("see [[team:Café Mocha]] now")
    assert link == Target("team:cafe-mocha", "team", None, "cafe-mocha", "cafe mocha", None, "team:Café Mocha", 4, 23)
    assert only_link("[a](/wiki/topic/x)").type == "topic"


@pytest.mark.parametrize(
    "text",
    [
        "`[[x]]`",
        "``a ` [[x]]``",
        "`two\nlines [[x]]`",
        "```\n[[x]]\n```",
        "- ~~~\n  [[x]]",
        "    [[x]]",
        "> ```\n> [[x]]",
        "<!-- [[x]] -->",
        "a <!-- [[x]] --> b",
        "<!--\n\n[[x]]",
        "<pre>\n[[x]]\n</pre>",
        r"\[[x]]",
        r"[\[x]]",
        r"\[t](wiki:x)",
        "[[#^id]]",
        "[[#here]]",
        "[[^^block]]",
        "![[x.png]]",
        "![[x.png|100]]",
        "![[clip.xyz]]",
        "[[plan.pdf]]",
        "[[]]",
        "[[ ]]",
        "[[!]]",
        "[[a\nb]]",
        "[[https://example.org/x]]",
        "[t](https://example.org/wiki/topic/x)",
        "[t](/wiki/nonsense/x)",
        "[t](wiki:)",
        "t](wiki:x)",
        "[t\n\nu](wiki:x)",
    ],
)
def test_texts_that_are_no_links_are_ignored(text: str) -> None:
    assert find_links(text) == []


def test_links_are_found_in_order_without_overlap() -> None:
    assert [link.slug for link in find_links("[[b]] [a](wiki:a) [x [[c]]](wiki:d) [[e]]")] == ["b", "a", "d", "e"]


@given(TEXTS)
def test_the_position_of_a_link_is_that_of_its_text(text: str) -> None:
    for link in find_links(text):
        written = text[link.start : link.end]
        assert link.text in written
        assert only_link(written).target == link.target or "|" in written or "`" in written
        assert len(link.target) <= 300
        assert link.slug
        assert link.alias


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[old]]", "[[new]]"),
        ("[[Old]]", "[[new|Old]]"),
        ("[[Old#Why]]", "[[new#Why|Old#Why]]"),
        ("[[Old#Why|shown]]", "[[new#Why|shown]]"),
        ("[[team:old]]", "[[team:new]]"),
        ("![[Old]]", "![[new]]"),
        ("[shown](wiki:old#why)", "[shown](wiki:new#why)"),
        ("[**Old**](/wiki/topic/old)", "[**Old**](/wiki/topic/new)"),
        ("| [[Old]] |", r"| [[new\|Old]] |"),
        (r"| [[Old\|x]] |", r"| [[new\|x]] |"),
        ("`[[old]]` [[other]]", "`[[old]]` [[other]]"),
        ("a [[old]] b [x](wiki:old)", "a [[new]] b [x](wiki:new)"),
    ],
)
def test_a_rewritten_link_keeps_its_form_and_words(before: str, after: str) -> None:
    assert rewrite_links(before, lambda target: target.slug == "old", "new") == after


@given(TEXTS)
def test_rewriting_changes_only_the_chosen_links(text: str) -> None:
    before = find_links(text)
    after = find_links(rewrite_links(text, lambda target: target.slug == "old", "new"))
    assert [link.slug for link in after] == ["new" if link.slug == "old" else link.slug for link in before]
    assert [link.anchor for link in after] == [link.anchor for link in before]
    assert rewrite_links(text, lambda _: False, "new") == text


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("In **Austin**.", "In [**Austin**](/wiki/topic/austin)."),
        ("**Austin, Texas**", "[**Austin, Texas**](/wiki/entity/austin-texas)"),
        ("***Austin***", "*[**Austin**](/wiki/topic/austin)*"),
        ("a ** b **Austin**", "a ** b [**Austin**](/wiki/topic/austin)"),
        ("**E*Trade [US]**", r"[**E*Trade \[US\]**](/wiki/entity/e-trade)"),
    ],
)
def test_a_title_in_bold_becomes_a_link(text: str, linked: str) -> None:
    assert linkify(text, PAGE_OF) == linked


@pytest.mark.parametrize(
    "text",
    [
        "`**Austin**`",
        "[**Austin**](http://a/(b))",
        "[[x|**Austin**]]",
        "[**Austin**][a]",
        "Austin",
        "**austin**",
        "!**Austin**",
        "[a]**Austin**",
        r"\**Austin**",
    ],
)
def test_linkify_leaves_other_texts_unchanged(text: str) -> None:
    assert linkify(text, PAGE_OF) == text


@given(TEXTS)
def test_linking_twice_changes_nothing(text: str) -> None:
    assert linkify(linkify(text, PAGE_OF), PAGE_OF) == linkify(text, PAGE_OF)


def test_a_rollup_line_has_a_link_and_a_sentence() -> None:
    assert (
        rollup_line("Franklin Barbecue", "entity", "franklin-barbecue", "BBQ joint in Austin, TX. Long queues.")
        == "- [**Franklin Barbecue**](/wiki/entity/franklin-barbecue) — BBQ joint in Austin, TX."
    )


@pytest.mark.parametrize("summary", [None, "", " \n"])
def test_a_rollup_line_without_a_summary_has_no_dash(summary: str | None) -> None:
    assert rollup_line("A", "topic", "a", summary) == "- [**A**](/wiki/topic/a)"
