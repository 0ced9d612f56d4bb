"""Which page a note becomes."""

from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from content.notes import from_markdown
from resolvers.note_files import Problem
from resolvers.note_places import Found, Placed, place

paths = st.lists(st.sampled_from(["a", "b", "A", "ä", "note"]), min_size=1, max_size=3).map(
    lambda parts: "/".join(parts)
)


def found(path: str) -> Found:
    label = f"{path}.md"
    return Found(label, from_markdown(path.rpartition("/")[2], "Text."), PurePosixPath(label))


@given(st.sets(paths, min_size=1), st.sets(paths))
def test_every_note_has_a_slug_of_its_own_and_keeps_it(first: set[str], later: set[str]) -> None:
    """Whatever comes to a vault later."""
    before = place([found(path) for path in sorted(first)], {})
    slugs = {note.label: note.slug for note in before if isinstance(note, Placed)}
    assert len(slugs) == len(first) == len(set(slugs.values()))
    known = {("reference", label): slug for label, slug in slugs.items()}
    after = place([found(path) for path in sorted(first | later)], known)
    assert not [note for note in after if isinstance(note, Problem)]
    assert {note.label: note.slug for note in after if isinstance(note, Placed)}.items() >= slugs.items()
