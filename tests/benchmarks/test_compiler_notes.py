"""The generated sources that the compiler is measured with are repeatable, varied and complete."""

from datetime import timedelta
from hashlib import sha256

from benchmarks.compiler.lives import LANGUAGES, life
from benchmarks.compiler.notes import BEGAN, DAYS, notes, sources_by_scope
from benchmarks.compiler.writings import Writing

TEXTS = [
    Writing(f"manuals/{n}", f"Manual {n}", f"A kettle has a lid. Number {n} of them has two handles.")
    for n in range(40)
]


def test_the_same_seed_generates_identical_notes() -> None:
    generated = [repr(notes(200, 7, TEXTS)).encode() for _ in range(2)]
    assert generated[0] == generated[1] != repr(notes(200, 8, TEXTS)).encode()
    facts = [
        (draft.kind, draft.ref, draft.content, draft.title, draft.captured_at, draft.metadata) for draft in notes(50, 7)
    ]
    assert sha256(repr(facts).encode()).hexdigest().startswith("d93fc33277f5"), (
        "notes that were measured before are others now"
    )


def test_notes_have_unique_refs_four_kinds_and_dates_over_two_years() -> None:
    drafts = notes(600, 1, TEXTS)
    assert len({(draft.kind, draft.ref) for draft in drafts}) == 600
    assert {draft.kind for draft in drafts} == {"daily_note", "memory_unit", "journal_idea", "document"}
    moments = [draft.captured_at for draft in drafts]
    assert moments == sorted(moments)
    assert moments[0] >= BEGAN
    assert moments[-1] < BEGAN + timedelta(days=DAYS)
    assert moments[-1] - moments[0] > timedelta(days=DAYS - 60)
    named = {name for draft in drafts for name in draft.metadata}
    assert named == {"tags", "city", "place", "person", "journal_id", "thread_id"}


def test_notes_use_every_language_and_leave_no_placeholder_unfilled() -> None:
    texts = [draft.content for draft in notes(800, 2, TEXTS)]
    assert not [text for text in texts if "{" in text]
    for language in LANGUAGES:
        assert any(life(language).people[0] in text for text in texts), language


def test_sources_by_scope_have_the_requested_total_and_no_empty_wiki() -> None:
    sizes = [len(drafts) for _, drafts in sources_by_scope(500, 20)]
    assert (sum(sizes), len(sizes)) == (500, 20)
    assert min(sizes) > 5
