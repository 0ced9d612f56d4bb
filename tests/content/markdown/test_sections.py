"""A body is parsed into sections, and sections are rendered as a body."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from content.limits import HEADING
from content.markdown.sections import Section, check, mark_problem, parse, problem, render, slugs, trim

FRAGMENTS = [
    "text", "## Notes", "## Notes ##", " ## Notes", "##", "## ", "##x", "# One", "### Three", "    ## code", "```",
    "~~~~", "- ```", "  ```", "> ## quoted", "- item", "  ## in item", "<!--", "-->", "<div>", "</div>", "<script>",
    "Title", "---", "===", "", "   ", "\t", "## `a`", "## 日本", "[a]: b", "* * *", "## #", "\\## no",
    "## " + "x" * 201,
]  # fmt: skip
BODIES = st.lists(
    st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=12
).flatmap(lambda rows: st.sampled_from(["\n", "\r\n", "\n\n"]).map(lambda end: end.join(rows)))  # fmt: skip
HEADINGS = st.sampled_from(["Notes", "Visits", "Overview", "A #", " A", "日本", "`x`", "1. a", "!", ""]) | st.text(
    max_size=5
)


def headings(body: str) -> list[str]:
    return [section.heading for section in parse(body)]


def commonmark_headings(body: str) -> list[str]:
    """Return the headings of level 2 outside of blocks, as markdown-it finds them."""
    tokens = MarkdownIt("commonmark").disable(["reference", "lheading"]).parse(body)
    found = [b.content for a, b in pairwise(tokens) if (a.type, a.tag, a.level) == ("heading_open", "h2", 0)]
    return [heading for heading in found if 0 < len(heading) <= HEADING.maximum]


@given(BODIES)
@example("a\n ## Notes\n## Food")
@example("- a\n## Notes\r## Food #\r\n## # #")
@example("## \u2028Notes\u00a0##\n##\u00a0Food")
def test_headings_are_those_of_commonmark(body: str) -> None:
    assert [heading for heading in headings(body) if heading] == commonmark_headings(body)


@given(st.lists(st.sampled_from(["## ", "##", "#", " ", "a", "\n", "\r", "- ", "> ", "1. ", "* ", "\\", "\x0b"])))
def test_headings_among_other_marks_are_those_of_commonmark(pieces: list[str]) -> None:
    body = "".join(pieces)
    assert [heading for heading in headings(body) if heading] == commonmark_headings(body)


def test_headings_start_sections() -> None:
    assert parse("## Visits\n\nOnce.\n\n## Food recommendations\nTacos.\n") == [
        Section("visits", "Visits", "Once."),
        Section("food_recommendations", "Food recommendations", "Tacos."),
    ]


def test_text_before_the_first_heading_is_the_lead() -> None:
    assert parse("Hello.\n\n## Visits") == [Section("overview", "", "Hello."), Section("visits", "Visits", "")]
    assert [section.slug for section in parse("Hello.\n## Overview")] == ["lead", "overview"]
    assert [section.slug for section in parse("Hello.\n## Overview\n## Lead")] == ["lead_2", "overview", "lead"]
    assert parse("Hello.\n## Overview\n## Lead\n## Lead 2")[0].slug == "lead_3"


@pytest.mark.parametrize(
    "text",
    [
        "```\n## a\n```",
        "~~~\n## a\n```\n~~~",
        "- ```\n  ## a\n  ```",
        "<!--\n## a\n-->",
        "    ## a",
        "> ## a",
        "- ## a",
        "##a",
        "\\## a",
        "a\n---",
        "# a",
        "### a",
        "##",
        "## " + "x" * (HEADING.maximum + 1),
    ],
)
def test_texts_that_are_no_heading_start_no_section(text: str) -> None:
    assert headings(f"{text}\n\n## Real") == ["", "Real"]


def test_a_fence_in_a_list_ends_with_the_list() -> None:
    assert headings("- ```\n  open\n## Real") == ["", "Real"]


def test_closing_marks_spaces_and_line_ends_are_no_part_of_a_heading() -> None:
    assert headings("## A ##  \r\n##\tB\r\n  ## C # D") == ["A", "B", "C # D"]


def test_the_text_of_a_section_keeps_its_whitespace() -> None:
    assert parse("## A\r\n \r\n    code\r\n\r\nend  \r\n\t\r\n")[0].body == "    code\r\n\r\nend  "


def test_equal_headings_have_different_slugs() -> None:
    assert slugs(["Notes", "Notes", "Notes 2", "notes"]) == ["notes", "notes_2", "notes_2_2", "notes_3"]


def test_an_empty_body_has_no_sections() -> None:
    assert parse("") == parse(" \n\t\r\n") == []
    assert render([]) == ""


def test_sections_are_rendered_with_blank_lines_between() -> None:
    sections = [Section("overview", "", "Hi."), Section("a", "A", ""), Section("b", "B", "x\n")]
    assert render(sections) == "Hi.\n\n## A\n\n## B\n\nx"


@pytest.mark.parametrize(
    ("section", "words"),
    [
        (Section("a", "A", "x\n## B\ny"), 'level-2 heading "B"'),
        (Section("overview", "", "## B"), 'level-2 heading "B"'),
        (Section("a", "A", "```\ncode"), "open"),
        (Section("a", "A", "<!-- note"), "open"),
        (Section("a", "A\nB", ""), "one line"),
        (Section("a", "x" * 201, ""), "201 characters"),
        (Section("a", " A", ""), "space"),
        (Section("a", "A #", ""), "#"),
        (Section("a", "", " "), "neither"),
    ],
)
def test_problem_describes_an_invalid_section(section: Section, words: str) -> None:
    assert words in (problem(section) or "")


@pytest.mark.parametrize("text", ["", "a\n\n", "```\n## a\n```", "### a", "- ```\n  open", "C# `##`", "<div>\n\n"])
def test_a_valid_section_has_no_problem(text: str) -> None:
    assert problem(Section("a", "C#", text)) is None


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ([Section("a", "A", "x"), Section("overview", "", "y")], "only the first"),
        ([Section("a", "A", "x\n")], "trim"),
        ([Section("b", "A", "x")], "slugs"),
        ([Section("a", "A", "```"), Section("b", "B", "")], "section a: .*open"),
    ],
)
def test_check_describes_sections_that_would_not_parse_back(sections: list[Section], words: str) -> None:
    assert re.search(words, check(sections) or "")


@given(BODIES)
def test_parsing_a_rendered_body_returns_the_same_sections(body: str) -> None:
    sections = parse(body)
    assert parse(render(sections)) == sections
    assert check(sections) is None


@given(BODIES)
def test_slugs_are_unique_on_a_page(body: str) -> None:
    found = [section.slug for section in parse(body)]
    assert len(found) == len(set(found))
    assert all(found)


@given(BODIES)
def test_parsing_and_rendering_lose_no_text(body: str) -> None:
    written = [row.strip() for row in body.replace("\r", "\n").split("\n") if row.strip()]
    rendered = [row.strip() for row in render(parse(body)).replace("\r", "\n").split("\n") if row.strip()]
    assert [row.rstrip("# \t") for row in rendered] == [row.rstrip("# \t") for row in written] or [
        "".join(row.split()).strip("#") for row in rendered
    ] == ["".join(row.split()).strip("#") for row in written]


@given(st.lists(st.tuples(HEADINGS, BODIES), max_size=5))
@example([("\x00", "- ```")])
def test_valid_sections_survive_rendering_and_parsing(parts: list[tuple[str, str]]) -> None:
    given_slugs = slugs([heading for heading, _ in parts])
    sections = [Section(slug, *part) for slug, part in zip(given_slugs, parts, strict=True)]
    stored = [Section(section.slug, section.heading, trim(section.body)) for section in sections]
    if any(map(problem, sections)) or any(not section.heading for section in sections[1:]):
        return
    assert check(stored) is None
    assert parse(render(stored)) == stored


def test_the_mark_of_a_heading_that_starts_no_section_is_a_problem() -> None:
    heading = "## " + "x" * 180 + " {Sensitivity=secret}"
    assert "has 201 characters" in (mark_problem(f"Lead.\n\n{heading}\n\nText.") or "")
    for text in (heading.replace("xx", "x", 1), heading.replace("{", "("), f"```\n{heading}\n```", f"#{heading}"):
        assert mark_problem(text) is None
