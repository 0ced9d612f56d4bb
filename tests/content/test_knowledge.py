"""Seed files are read with the tags of their first line."""

import pytest

from content.knowledge import Seed, read_seed


@pytest.mark.parametrize(
    ("text", "seed"),
    [
        ("tags: a, b\n# T\n", Seed(("a", "b"), "# T\n")),
        ("Tags:a,,a\r\nT", Seed(("a",), "T")),
        ("\ufefftags:\nT", Seed((), "T")),
        ("T\ntags: a", Seed(None, "T\ntags: a")),
        ("\ufeffT", Seed(None, "T")),
        ("tags: a", Seed(("a",), "")),
        ("", Seed(None, "")),
    ],
)
def test_the_first_line_of_a_seed_file_may_hold_tags(text: str, seed: Seed) -> None:
    assert read_seed(text) == seed
