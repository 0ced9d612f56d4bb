"""The generated edits of the benchmark: every pass gets its share, and none changes more than it was told to."""

from benchmarks.editing.generated import check_edits


def test_every_pass_finds_as_many_edits_and_changes_them_alone() -> None:
    found = check_edits(500, seed=11)
    assert set(found) - {"ambiguous"} == {"exact", "lines", "whitespace", "indentation", "block"}
    assert all(count > 90 for name, count in found.items() if name != "ambiguous")
