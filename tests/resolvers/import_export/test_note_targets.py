"""The choice of the page to which a note is imported."""

from collections.abc import Iterable, Mapping
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from content.notes.notes import from_markdown
from resolvers.import_export.disk.temp_database import TempDatabase
from resolvers.import_export.notes import ImportProblem
from resolvers.import_export.places import NoteFound, Places

paths = st.lists(st.sampled_from(["a", "b", "A", "ä", "note"]), min_size=1, max_size=3).map(
    lambda parts: "/".join(parts)
)


def placed(found: Iterable[str], known: Mapping[str, str]) -> tuple[dict[str, str], list[ImportProblem]]:
    """Return the slug of each note, and the notes that could not be placed."""
    with TempDatabase() as temp:
        places = Places(temp)
        places.add_known_pages(
            {"type": "reference", "path": path, "slug": slug, "id": uuid4()} for path, slug in known.items()
        )
        for number, path in enumerate(sorted(found)):
            note = from_markdown(path.rpartition("/")[2], "Text.")
            places.add(NoteFound(number, f"{path}.md", note, is_file=True), 0)
        problems = [result for batch in places.place() for result in batch if isinstance(result, ImportProblem)]
        return {note.label: note.slug for batch in places.placed_notes(50) for note in batch}, problems


@given(st.sets(paths, min_size=1), st.sets(paths))
def test_every_note_has_a_unique_and_stable_slug(first: set[str], later: set[str]) -> None:
    """Notes that are added to a vault later do not change the slugs of earlier notes."""
    before, _ = placed(first, {})
    assert len(before) == len(first) == len(set(before.values()))
    after, problems = placed(first | later, before)
    assert not problems
    assert after.items() >= before.items()


def test_numbering_notes_of_one_title_takes_few_statements_for_each() -> None:
    with TempDatabase() as temp:
        places = Places(temp)
        for number in range(300):
            places.add(NoteFound(number, f"lines:{number}", from_markdown("Untitled", "Text.")), 0)
        statements: list[str] = []
        temp.connection.set_trace_callback(statements.append)
        assert sum(map(len, places.place())) == 300
        assert len(statements) < 8 * 300
        slugs = [note.slug for batch in places.placed_notes(500) for note in batch]
    assert slugs == ["untitled", *(f"untitled-{n}" for n in range(2, 301))]
