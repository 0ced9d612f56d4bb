"""The time of Unicode normalisation grows no faster than the text."""

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
from tests.growth import assert_linear_time

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
def test_the_time_for_a_run_of_marks_grows_no_faster_than_the_text(reader: Callable[[str], object], marks: str) -> None:
    assert_linear_time(lambda size: "a" + marks * (size // len(marks)), reader, largest=24_000)


def run_lengths(text: str) -> list[int]:
    """Return the length of each run of combining marks in the decomposed text."""
    classes = "".join("x" if unicodedata.combining(letter) else " " for letter in unicodedata.normalize("NFKD", text))
    return [len(run) for run in classes.split()]


@given(MARKED)
def test_limit_marks_shortens_runs_to_the_stream_safe_length(text: str) -> None:
    assert max(run_lengths(limit_marks(text)), default=0) <= MARKS_MAX


@given(st.text() | MARKED)
def test_text_with_short_runs_of_marks_normalises_as_in_unicodedata(text: str) -> None:
    if max(run_lengths(text), default=0) <= MARKS_MAX:
        assert limit_marks(text) == text
        assert [normalize(form, text) for form in FORMS] == [unicodedata.normalize(form, text) for form in FORMS]


@given(MARKED)
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert limit_marks(limit_marks(text)) == limit_marks(text)
    for form in FORMS:
        assert normalize(form, normalize(form, text)) == normalize(form, text)
    assert normalise(normalise(text)) == normalise(text)


def test_limit_marks_keeps_the_first_thirty_marks() -> None:
    assert limit_marks("a" + "\u0301" * 31 + "b" + "\u0301" * 29) == "a" + "\u0301" * 30 + "b" + "\u0301" * 29
    assert limit_marks("é" + "\u0301" * 30) == "é" + "\u0301" * 29
    assert limit_marks("a" + "\u0344" * 16) == "a" + "\u0344" * 15


def test_long_runs_have_every_character_that_begins_with_a_mark() -> None:
    """The test fails when a newer Unicode version of Python adds such characters."""
    letters = list(map(chr, range(0x110000)))
    begins = {letter for letter in letters if unicodedata.combining(unicodedata.normalize("NFKD", letter)[0])}
    runs, length = normalization.long_runs(), normalization.FEW + 1
    assert {letter for letter in letters if runs.fullmatch(letter * length)} == begins
    assert set(map(ord, begins)) <= set(normalization.MARK_CODES)


def test_only_the_normalization_module_calls_unicodedata() -> None:
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
def test_folding_text_with_marks_equals_folding_its_letters(text: str) -> None:
    assert fold(text) == fold_letters(text)
