"""Tags in the text of a note."""

import pytest

from content.notes.note_texts import inline_tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#food and #travel/texas, #größe.", ("food", "travel/texas", "größe")),
        ("- #Food\n- #food\n- #y1984 #snake_case #kebab-case", ("Food", "y1984", "snake_case", "kebab-case")),
        ("# Heading\n\n## #tagged heading", ("tagged",)),
        ("#1 #2026 #- #/ # #!x a#b [[Page#Heading]] https://example.org/#part", ()),
        ("`#code` \\#escaped <!-- #comment -->\n\n```\n#include\n```\n\n    #indented", ()),
        (f"#{'x' * 101} #fine", ("fine",)),
        ("#a/b/ #one#two", ("a/b", "one")),
    ],
)
def test_tags_are_found_where_obsidian_finds_them(text: str, tags: tuple[str, ...]) -> None:
    assert inline_tags(text) == tags
