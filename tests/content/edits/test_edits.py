"""An edit replaces an old text, found by one of several passes, and changes nothing else."""

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.edits import edits, similarity
from content.edits.edits import NothingToFind, TextEditAmbiguous, TextEditFailed, edit
from content.edits.similarity import nearest

PAGE = "# Coffee\n\n- beans\n    - washed\n    - natural\n\nHarbour opened in 2019\nand closed on Mondays.\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "pass_", "after"),
    [
        ("a\nb\nc\n", "b", "B", "exact", "a\nB\nc\n"),
        ("- a\n    - b\n    - c\n", "- b\n- c\n", "- b\n- d\n- e\n", "lines", "- a\n    - b\n    - d\n    - e\n"),
        ("- a\n    - b\n", "- b  ", "- c", "lines", "- a\n    - c\n"),
        ("one two\nthree four", "one two three", "one 2 three", "whitespace", "one 2\nthree four"),
        ("one  two\tthree", "one two three", "one three", "whitespace", "one three"),
        ("f(bar)\nbaz q", "  (bar)\n  baz", "  (bar)\n  zzz", "indentation", "f(bar)\nzzz q"),
        (
            "The quick brown fox\njumps over\nthe lazy dog\nend",
            "The quik brown fox\njumps over it\nthe lazy dog",
            "The quik brown fox\nleaps over it\nthe lazy dog",
            "block",
            "The quick brown fox\nleaps over it\nthe lazy dog\nend",
        ),
    ],
)
def test_the_first_pass_that_finds_the_old_text_decides(text: str, old: str, new: str, pass_: str, after: str) -> None:
    found = edit(text, old, new)
    assert (found.matched_by, found.text) == (pass_, after)


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("a\r\nb\r\nc", "b", "x\ny", "a\r\nx\r\ny\r\nc"),
        ("- a\r\n    - b\r\n    - c\r\n", "- b\n- c", "- b\n- d\n  - e", "- a\r\n    - b\r\n    - d\r\n      - e\r\n"),
        ("a\r\nb", "a\r\nb", "a\nb", "a\nb"),
        ("a\r\nb\nc", "b", "x\ny", "a\r\nx\ny\nc"),
        (
            "x\n\tdeep one\n\tdeep two\n",
            "  deep one\n  deep two\n",
            "  deep one\n    deeper\n",
            "x\n\tdeep one\n\t  deeper\n",
        ),
        ("    foo\n    bar\n", "  foo\n  bar", "foo\n  bar", "  foo\n    bar\n"),
        ("p\n\n\nfoo  bar\nz", "\n\nfoo bar\n", "\n\nfoo baz\n", "p\n\n\nfoo  baz\nz"),
        ("one\ntwo", "one  two", "one  three", "one\nthree"),
        ("p one\ntwo", " one two", "-1 two", "p-1\ntwo"),
        ("one\ntwo", "one  two", "one\n\ntwo", "one\n\ntwo"),
    ],
)
def test_line_ends_and_indentation_are_those_of_the_text(text: str, old: str, new: str, after: str) -> None:
    assert edit(text, old, new).text == after


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("  a\n# h  \r\n\tb\n", "a\n# h\nb", "a\n# h\nnew\nb", "  a\n# h  \r\nnew\r\n\tb\n"),
        ("  a  \n    b\n", "  a\nb", "  a\nnew\nb", "  a  \nnew\n    b\n"),
        ("\ta\r\n  b  \n    c\n", "a\nb\nc\n", "a\nc\n", "\ta\r\n    c\n"),
        ("\ta\r\n  b\n", "a\nb\n", "a\n", "\ta\r\n"),
        ("  a b  \r\n", "a b\t", "a c\t", "  a c  \r\n"),
        ("  a\r\n\r\n  b\n", "a\n\nb", "a\n\nnew\n\nb", "  a\r\n\r\n  new\r\n\r\n  b\n"),
        ("    a\n    b", "  a\n  b", "  a\n    b", "    a\n      b"),
        ("  a\n  b\nc", "a\nb\n", "new", "  newc"),
        ("  a\n  b\nc", "a\nb\n", "", "c"),
        ("  a  \nb", "a\n", "a\nnew\n", "  a  \n  new\nb"),
    ],
)
def test_whole_lines_keep_their_own_whitespace_also_inside_the_match(text: str, old: str, new: str, after: str) -> None:
    found = edit(text, old, new)
    assert (found.matched_by, found.text) == ("lines", after)


@pytest.mark.parametrize(
    ("text", "old", "after"),
    [
        ("  foo\n  bar\n  baz\n", "foo\nbar\n", "  baz\n"),
        ("a  b c", "a b ", "c"),
        ("a\n\n\nb", "b", "a\n\n\n"),
        ("- x\r\n- y\r\n", "-  x\n", "- y\r\n"),
        ("a\tfoo  bar b", " foo bar", "a b"),
        ("a\n\n\nfoo  bar\nb", "\n\nfoo bar", "a\nb"),
    ],
)
def test_an_empty_new_text_deletes_the_old_text(text: str, old: str, after: str) -> None:
    assert edit(text, old, "").text == after


def test_the_final_newline_stays_as_it_is() -> None:
    for end in ("", "\n", "\r\n", "\n\n"):
        assert (
            edit(f"a\n  last{end}", " last\n" if end else " last", " end\n" if end else " end").text == f"a\n  end{end}"
        )


@pytest.mark.parametrize(
    ("text", "old", "count", "lines"),
    [
        ("a b\nx\na b\n", "a b", 2, (1, 3)),
        ("a\tb\nx\na  b\n", "a b", 2, (1, 3)),
        ("aaa", "aa", 2, (1, 1)),
        ("x\n" * 30, "x", 30, tuple(range(1, 21))),
        ("the quick fox\nran home\n\nthe quick dog\nran home\n", "the quick pig\nran home", 2, (1, 4)),
    ],
)
def test_an_ambiguous_match_is_refused_with_its_places(text: str, old: str, count: int, lines: tuple[int, ...]) -> None:
    with pytest.raises(TextEditAmbiguous) as refused:
        edit(text, old, "y")
    assert (refused.value.count, refused.value.lines) == (count, lines)
    assert f"{count} times" in str(refused.value)


def test_replace_all_replaces_every_match() -> None:
    found = edit("a\tb\nx\na  b\n", "a b", "c d", replace_all=True)
    assert (found.text, found.lines) == ("c\td\nx\nc  d\n", (1, 3))
    assert edit("aaa", "aa", "b", replace_all=True).text == "ba"


def test_an_empty_old_text_is_refused() -> None:
    with pytest.raises(NothingToFind):
        edit("anything", "", "x")


def test_a_failure_names_the_passes_and_the_nearest_text() -> None:
    with pytest.raises(TextEditFailed) as failed:
        edit(PAGE, "Harbor closed in 2018\nand opens on Fridays, always and ever, whatever the weather.", "x")
    assert failed.value.passes == ("exact", "lines", "whitespace", "indentation", "block")
    near = failed.value.nearest
    assert near is not None
    assert (near.line, near.text) == (7, "Harbour opened in 2019\nand closed on Mondays.")
    assert 0.3 < near.similarity < 1
    assert "line 7" in str(failed.value)


def test_passes_that_cannot_match_a_text_are_not_tried() -> None:
    for old, passes in (("zz", 4), ("zz\nyy", 5)):
        with pytest.raises(TextEditFailed) as failed:
            edit(PAGE, old, "x")
        assert len(failed.value.passes) == passes


def test_whitespace_alone_is_matched_exactly_or_refused() -> None:
    assert edit("a\tb", "\t", " ").text == "a b"
    with pytest.raises(NothingToFind, match="quote the words"):
        edit("a\tb", " ", "-")


def test_an_empty_text_has_no_nearest_lines() -> None:
    assert nearest("\n \n", "x") is None


def test_lines_that_an_edit_misquotes_but_does_not_change_stay() -> None:
    """A block is matched by similarity; its unchanged lines keep the words of the text."""
    text = "The meeting is on Tuesday at ten.\nBring the draft.\nRoom four, second floor.\n"
    old = "The meeting is on Tuesday at 10.\nBring a draft.\nRoom four, 2nd floor."
    new = "The meeting is on Tuesday at 10.\nBring the final text.\nRoom four, 2nd floor."
    after = "The meeting is on Tuesday at ten.\nBring the final text.\nRoom four, second floor.\n"
    assert edit(text, old, new).text == after


def test_an_edit_counts_the_lines_removed_and_added() -> None:
    found = edit("a\nb\nc\n", "b", "x\ny\nz")
    assert (found.lines, found.lines_removed, found.lines_added) == ((2,), 1, 3)


# -- properties of any text

LINES = st.lists(
    st.sampled_from(["alpha beta", "  gamma", "\tdelta epsilon", "", "- é 日本", "🐘 zeta", "  - eta  theta", "iota"]),
    min_size=1,
    max_size=12,
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def quoted(draw: st.DrawFn) -> tuple[str, str, str, str]:
    """Draw the text before, the target, the text after, and the target with other whitespace."""
    end = draw(ENDS)
    before, after = (end.join(draw(LINES)) + end for _ in range(2))
    target = end.join(f"{line} q{n}" if n else f"target{line}" for n, line in enumerate(draw(LINES)))
    rewrites = [
        lambda text: text,
        lambda text: re.sub(r"\r\n|\r|\n", "\n", text),
        lambda text: "\n".join(line.strip() for line in re.split(r"\r\n|\r|\n", text)),
        lambda text: "\n".join("    " + line.strip() for line in re.split(r"\r\n|\r|\n", text)),
        lambda text: " ".join(text.split()),
        lambda text: re.sub(r"\s+", "\n", text.strip()),
    ]
    return before, target, after, draw(st.sampled_from(rewrites))(target)


@given(quoted())
def test_text_around_the_match_is_unchanged(drawn: tuple[str, str, str, str]) -> None:
    before, target, after, old = drawn
    found = edit(before + target + after, old, "REPLACED")
    assert found.text.startswith(before)
    assert found.text.endswith(after)
    assert found.text[len(before) : len(found.text) - len(after)].split() == ["REPLACED"]


@given(quoted(), st.randoms(use_true_random=False))
def test_changing_a_word_keeps_every_other_character(drawn: tuple[str, str, str, str], rng: random.Random) -> None:
    before, target, after, old = drawn
    words = [found for found in re.finditer(r"\S+", old) if not found[0].startswith("target")]
    if not words:
        return
    chosen = rng.randrange(len(words))
    new = old[: words[chosen].start()] + "CHANGED" + old[words[chosen].end() :]
    own = [found for found in re.finditer(r"\S+", target) if not found[0].startswith("target")][chosen]
    wanted = before + target[: own.start()] + "CHANGED" + target[own.end() :] + after
    assert edit(before + target + after, old, new).text == wanted


INDENTS, TRAILS = st.sampled_from(["", "  ", "\t", "    "]), st.sampled_from(["", "", "  "])


@given(
    st.lists(st.tuples(INDENTS, TRAILS, st.sampled_from(["\n", "\r\n"]), INDENTS), min_size=2, max_size=6),
    st.sampled_from(["replace", "insert", "delete"]),
    st.data(),
)
def test_an_edit_of_lines_keeps_every_other_line(
    drawn: list[tuple[str, str, str, str]], kind: str, data: st.DataObject
) -> None:
    """Each line has its own indentation and line end, and is quoted with another indentation."""
    shown = [f"{indent}- line {n}{trace}{end}" for n, (indent, trace, end, _) in enumerate(drawn)]
    quotes = [f"{indent}- line {n}\n" for n, (_, _, _, indent) in enumerate(drawn)]
    place = data.draw(st.integers(0, len(quotes) - 1))
    indent, trace, end, quoted_indent = drawn[place]
    wanted, expected = list(quotes), list(shown)
    if kind == "delete":
        del wanted[place], expected[place]
    elif kind == "insert":
        wanted.insert(place, "NEW\n")
    else:
        wanted[place], expected[place] = f"{quoted_indent}NEW\n", f"{indent}NEW{trace}{end}"
    found = edit("".join(shown), "".join(quotes), "".join(wanted))
    if found.matched_by == "lines":
        after = found.text.splitlines(keepends=True)
        if kind == "insert":
            assert after.pop(place).strip() == "NEW"
        assert after == expected


@given(quoted())
def test_replacing_a_text_with_itself_changes_nothing(drawn: tuple[str, str, str, str]) -> None:
    before, target, after, old = drawn
    assert edit(before + target + after, old, old).text == before + target + after


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20), st.booleans())
def test_any_texts_are_edited_or_refused(text: str, old: str, new: str, replace_all: bool) -> None:
    try:
        found = edit(text, old, new, replace_all=replace_all)
    except (TextEditFailed, TextEditAmbiguous, NothingToFind):
        return
    if found.matched_by == "exact" and "\n" not in new and "\r" not in new and replace_all:
        assert found.text == text.replace(old, new)


def test_the_search_for_a_block_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons of lines that are equal, or of other lengths, count towards the bound."""
    comparisons = 0

    def counted(*lines: Any) -> float:
        nonlocal comparisons
        comparisons += 1
        return similarity.likeness(*lines)

    monkeypatch.setattr(edits, "likeness", counted)
    text = "\n".join(["ab"] * 20_000)
    for old in ("ab\n" * 9_000 + "ac", "\n".join(["ab", *["xyz"] * 9_000, "ab"])):
        comparisons = 0
        with pytest.raises(TextEditFailed):
            edit(text, old, "x")
        assert 0 < comparisons <= similarity.EFFORT // similarity.GLANCE_COST + 10
