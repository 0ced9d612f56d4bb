"""Every matching pass gets its share of the generated edits and applies each of them correctly."""

from benchmarks.editing.generated import check_edits


def test_every_matching_pass_applies_over_90_generated_edits() -> None:
    found = check_edits(500, seed=11)
    assert set(found) - {"ambiguous"} == {"exact", "lines", "whitespace", "indentation", "block"}
    assert all(count > 90 for name, count in found.items() if name != "ambiguous")
