"""The sources that the compiler is measured with."""

from datetime import timedelta
from hashlib import sha256

from benchmarks.compiler.lives import LANGUAGES, life
from benchmarks.compiler.notes import BEGAN, DAYS, notes, sources_by_scope
from benchmarks.compiler.writings import Writing

TEXTS = [
    Writing(f"manuals/{n}", f"Manual {n}", f"A kettle has a lid. Number {n} of them has two handles.")
    for n in range(40)
]


def test_the_same_number_gives_the_same_sources_to_the_byte() -> None:
    made = [repr(notes(200, 7, TEXTS)).encode() for _ in range(2)]
    assert made[0] == made[1] != repr(notes(200, 8, TEXTS)).encode()
    facts = [(one.kind, one.ref, one.content, one.title, one.captured_at, one.metadata) for one in notes(50, 7)]
    assert sha256(repr(facts).encode()).hexdigest().startswith("d93fc33277f5"), (
        "notes that were measured before are others now"
    )


def test_sources_are_many_kinds_over_two_years_each_with_a_ref_of_its_own() -> None:
    made = notes(600, 1, TEXTS)
    assert len({(draft.kind, draft.ref) for draft in made}) == 600
    assert {draft.kind for draft in made} == {"daily_note", "memory_unit", "journal_idea", "document"}
    moments = [draft.captured_at for draft in made]
    assert moments == sorted(moments)
    assert moments[0] >= BEGAN
    assert moments[-1] < BEGAN + timedelta(days=DAYS)
    assert moments[-1] - moments[0] > timedelta(days=DAYS - 60)
    named = {name for draft in made for name in draft.metadata}
    assert named == {"tags", "city", "place", "person", "journal_id", "thread_id"}


def test_every_language_is_written_and_no_room_in_a_sentence_is_left_empty() -> None:
    texts = [draft.content for draft in notes(800, 2, TEXTS)]
    assert not [text for text in texts if "{" in text]
    for language in LANGUAGES:
        assert any(life(language).people[0] in text for text in texts), language


def test_a_load_is_as_large_as_it_is_told_and_no_wiki_is_empty() -> None:
    sizes = [len(drafts) for _, drafts in sources_by_scope(500, 20)]
    assert (sum(sizes), len(sizes)) == (500, 20)
    assert min(sizes) > 5
