"""Unicode normalisation, whose time grows no faster than the text."""

import ast
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content import normalization
from content.markdown.links import find_links
from content.names import normalise, section_slug, slugify
from content.normalization import MARKS_MAX, fold, fold_letters, limit_marks, normalize
from content.search.search_query import understand
from content.search.words import words
from resolvers.import_export import names
from resolvers.search.lexemes import tag_mark
from tests.growth import assert_grows_like_the_text

ROOT = Path(__file__).parents[2]
OUT_OF_ORDER = "\u0301\u0316"  # above, below: sorting puts the second one first
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
MARKS = "\u0301\u0316\u0327\u0344\u0345\u034f\u05b0\u0e38\u0f71\u0f73\u0f81\u3099\uff9e\U0001d165"
MARKED = st.text(st.sampled_from(f"aé가ᄀ\u1161゛ 1{MARKS}"), max_size=120)
READERS: dict[str, Callable[[str], object]] = {
    "fold": fold,
    "normalise": normalise,
    "slugify": lambda text: slugify(f"a{text}"),
    "section_slug": section_slug,
    "words": words,
    "understand": understand,
    "find_links": lambda text: find_links(f"[[{text}]] [a](wiki:{text})"),
    "tag_mark": lambda text: tag_mark("x", text),
    "file names": names.path_parts,
    **{form: lambda text, form=form: normalize(form, text) for form in FORMS},
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("marks", [OUT_OF_ORDER, "\u0e38\u0e48", "\u0344\u0f73"])
def test_a_run_of_marks_takes_no_longer_than_other_text(reader: Callable[[str], object], marks: str) -> None:
    assert_grows_like_the_text(lambda size: "a" + marks * (size // len(marks)), reader, largest=24_000)


def run_lengths(text: str) -> list[int]:
    """How many non-starters stand together, wherever any do, once the text is taken apart."""
    classes = "".join("x" if unicodedata.combining(letter) else " " for letter in unicodedata.normalize("NFKD", text))
    return [len(run) for run in classes.split()]


@given(MARKED)
def test_no_run_is_longer_than_unicode_allows_in_a_stream(text: str) -> None:
    assert max(run_lengths(limit_marks(text)), default=0) <= MARKS_MAX


@given(st.text() | MARKED)
def test_text_whose_runs_are_short_stays_as_it_is(text: str) -> None:
    if max(run_lengths(text), default=0) <= MARKS_MAX:
        assert limit_marks(text) == text
        assert [normalize(form, text) for form in FORMS] == [unicodedata.normalize(form, text) for form in FORMS]


@given(MARKED)
def test_doing_it_twice_changes_nothing(text: str) -> None:
    assert limit_marks(limit_marks(text)) == limit_marks(text)
    for form in FORMS:
        assert normalize(form, normalize(form, text)) == normalize(form, text)
    assert normalise(normalise(text)) == normalise(text)


def test_the_first_thirty_marks_stay() -> None:
    assert limit_marks("a" + "\u0301" * 31 + "b" + "\u0301" * 29) == "a" + "\u0301" * 30 + "b" + "\u0301" * 29
    assert limit_marks("é" + "\u0301" * 30) == "é" + "\u0301" * 29
    assert limit_marks("a" + "\u0344" * 16) == "a" + "\u0344" * 15


def test_every_character_that_begins_with_a_mark_is_known() -> None:
    """Also after Python has come to a newer Unicode."""
    letters = list(map(chr, range(0x110000)))
    begins = {one for one in letters if unicodedata.combining(unicodedata.normalize("NFKD", one)[0])}
    assert set(filter(normalization.is_mark, letters)) == begins
    assert set(map(ord, begins)) <= set(normalization.MARK_CODES)


def test_nothing_else_normalises() -> None:
    callers = set()
    for folder in ("app", "compiler", "content", "db", "migrations", "resolvers", "schema", "selection"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                is_call = isinstance(node, ast.Attribute) and node.attr in ("normalize", "is_normalized")
                is_import = isinstance(node, ast.ImportFrom) and node.module == "unicodedata"
                if (is_call and getattr(node.value, "id", "") == "unicodedata") or (
                    is_import and {name.name for name in node.names} & {"normalize", "is_normalized"}
                ):
                    callers.add(str(path.relative_to(ROOT)))
    assert callers == {"content/normalization.py"}


@given(st.text() | MARKED)
def test_text_that_is_composed_first_is_folded_the_same(text: str) -> None:
    assert fold(text) == fold_letters(text)
