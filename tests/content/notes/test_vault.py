"""The notes of a real vault are parsed and written without loss."""

from pathlib import Path

import pytest

from content.markdown.links import find_links, rewrite_links
from content.markdown.sections import check, parse, problem, render
from content.names import normalise
from content.notes.frontmatter import join, split
from content.notes.notes import from_markdown

PLACES = (folder / "shared" / "data" / "vaults" / "obsidian-help" for folder in Path(__file__).parents)
VAULT = next((place for place in PLACES if place.is_dir()), Path("obsidian-help"))


@pytest.fixture(scope="module")
def notes() -> list[tuple[str, str]]:
    """Return the name and text of each note. Two folders may hold notes of the same name."""
    if not VAULT.is_dir():
        pytest.skip("the vault is not here")
    return [(path.stem, path.read_text(encoding="utf-8")) for path in sorted(VAULT.rglob("*.md"))]


def words(text: str) -> list[str]:
    return text.replace("#", " ").split()


def test_parsing_and_writing_the_vault_lose_no_text(notes: list[tuple[str, str]]) -> None:
    for stem, text in notes:
        metadata, body = split(text)
        sections = parse(body)
        assert words(render(sections)) == words(body), stem
        assert check(sections) is None, stem
        assert not any(map(problem, sections)), stem
        assert split(join(metadata, body)) == (metadata, body), stem
        assert from_markdown(stem, text).title == stem


def test_links_of_the_vault_are_found(notes: list[tuple[str, str]]) -> None:
    names = {normalise(stem) for stem, _ in notes}
    found = [link for _, text in notes for link in find_links(text)]
    assert len(found) > 1000
    assert sum(link.alias in names for link in found) > 0.95 * len(found)
    assert not any("png" in link.slug for link in found)


def test_rewriting_no_link_leaves_the_text_unchanged(notes: list[tuple[str, str]]) -> None:
    for _, text in notes:
        assert rewrite_links(text, lambda _: False, "x") == text
