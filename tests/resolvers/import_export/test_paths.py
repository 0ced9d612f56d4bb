"""The path of a page's file in an export."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.names import NoSlug, slugify
from resolvers.import_export.disk import paths as note_paths
from resolvers.import_export.disk.paths import Paths, file_name, is_safe
from resolvers.import_export.disk.temp_database import TempDatabase


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=60)), max_size=8))
def test_every_exported_path_is_safe_and_unique_regardless_of_case(wanted: list[tuple[str, str]]) -> None:
    with TempDatabase() as temp:
        paths = Paths(temp)
        taken = [paths.take("topic", slug, origin) for text, origin in wanted if (slug := slug_or_none(text))]
    assert all(map(is_safe, taken))
    assert len({path.casefold() for path in taken}) == len(taken)


def slug_or_none(text: str) -> str | None:
    try:
        return slugify(text)
    except NoSlug:
        return None


@pytest.mark.parametrize("path", ["a.md", "b/c.MD", "Ä ö/日本.markdown"])
def test_a_path_of_a_vault_is_kept(path: str) -> None:
    assert is_safe(path)
    with TempDatabase() as temp:
        assert Paths(temp).take("topic", "x", path) == path


def test_paths_that_macos_takes_for_one_are_two() -> None:
    with TempDatabase() as temp:
        paths = Paths(temp)
        assert [paths.take("topic", "o", name) for name in ("\u00f6.md", "o\u0308.md")] == ["\u00f6.md", "topic/o.md"]


def test_a_free_path_is_found_without_trying_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each path takes one file name, however many paths are taken already."""
    slugs: list[str] = []

    def recorded_file_name(slug: str) -> str:
        slugs.append(slug)
        return file_name(slug)

    monkeypatch.setattr(note_paths, "file_name", recorded_file_name)
    with TempDatabase() as temp:
        paths = Paths(temp)
        assert [paths.take("topic", f"page-{n}") for n in range(500)][-1] == "topic/page-499.md"
        assert paths.take("topic", "Page-7") == "topic/Page-7.2.md"
    assert len(slugs) == 501
