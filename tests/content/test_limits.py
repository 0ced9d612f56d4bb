"""Texts that cannot be stored are refused, and every bound is documented."""

from pathlib import Path

import pytest

from content import limits
from content.limits import BOUNDS, BadText, Bound, clean

LIMITS = Path(__file__).parents[2] / "docs" / "reference" / "limits.md"


@pytest.mark.parametrize("text", ["", "plain", "emoji 🚀 \U0010ffff", "tab\tline\n\x01"])
def test_ordinary_text_passes(text: str) -> None:
    assert clean(text) is text


@pytest.mark.parametrize(("text", "where"), [("a\0b", "NUL .* character 1"), ("\ud83d", "surrogate .* character 0")])
def test_text_that_cannot_be_stored_is_refused(text: str, where: str) -> None:
    with pytest.raises(BadText, match=where):
        clean(text)


def test_the_documentation_has_every_bound() -> None:
    """To update the page, put the expected rows into docs/reference/limits.md."""
    expected = [f"| {bound.field} | {bound.maximum:,} {bound.unit} |" for bound in BOUNDS]
    _, _, rest = LIMITS.read_text(encoding="utf-8").partition("## What a field may hold\n")
    rows = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    assert rows[1:] == expected


def test_bounds_lists_every_bound_of_the_module() -> None:
    assert sorted(bound.field for bound in vars(limits).values() if isinstance(bound, Bound)) == sorted(
        bound.field for bound in BOUNDS
    )


def test_restored_values_may_exceed_a_lowered_bound() -> None:
    bound = Bound("title", 500)
    bound.maximum = 200
    assert (bound.limit(), bound.limit(restored=True)) == (200, 500)
    assert all(bound.stored == bound.maximum for bound in BOUNDS if bound.fixed)
