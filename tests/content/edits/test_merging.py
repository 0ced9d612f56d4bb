"""A merge of two texts with a common base has the changes of both, or reports a conflict."""

from hypothesis import given
from hypothesis import strategies as st

from content.edits.merging import MergedText, merge_tags, merge_texts
from content.markdown.sections import Section, parse, render

WORDS = st.sampled_from(["Low at six.", "Low at seven.", "Three boats.", "- A list\n- of two", "*Fine.*"])
NAMES = ("Tides", "Boats", "People", "Lights")
BODIES = st.dictionaries(st.sampled_from(NAMES), WORDS).map(
    lambda texts: render(Section(name.lower(), name, text) for name, text in texts.items())
)


def texts(body: str) -> dict[str, str]:
    return {section.slug: section.body for section in parse(body)}


@given(base=BODIES, own=BODIES, other=BODIES)
def test_a_merged_section_has_the_changed_text_or_is_a_conflict(base: str, own: str, other: str) -> None:
    merged = merge_texts(base, own, other)
    was, mine, theirs, found = map(texts, (base, own, other, merged.body))
    for slug in {*was, *mine, *theirs, *found}:
        if slug in merged.conflicts:
            assert was.get(slug) != mine.get(slug) != theirs.get(slug) != was.get(slug)
        elif mine.get(slug) == was.get(slug):
            assert found.get(slug) == theirs.get(slug)
        else:
            assert found.get(slug) == mine.get(slug)


@given(base=BODIES, own=BODIES)
def test_changes_of_one_side_only_are_taken_unchanged(base: str, own: str) -> None:
    assert merge_texts(base, own, base).body == own
    assert merge_texts(base, base, own).body == own
    assert merge_texts(base, own, own).body == own
    assert merge_texts(base, own, own).conflicts == ()


@given(base=BODIES, own=BODIES, other=BODIES)
def test_conflicts_do_not_depend_on_the_order_of_the_texts(base: str, own: str, other: str) -> None:
    assert set(merge_texts(base, own, other).conflicts) == set(merge_texts(base, other, own).conflicts)


def test_a_new_section_keeps_its_position() -> None:
    base = "Lead.\n\n## A\n\na\n\n## B\n\nb"
    own, other = base.replace("b", "bb"), base.replace("## B", "## New\n\nn\n\n## B")
    assert merge_texts(base, own, other).body == "Lead.\n\n## A\n\na\n\n## New\n\nn\n\n## B\n\nbb"
    assert merge_texts(base, other, own).body == "Lead.\n\n## A\n\na\n\n## New\n\nn\n\n## B\n\nbb"


def test_a_lead_of_one_text_only_comes_first() -> None:
    base = "## A\n\na"
    assert merge_texts(base, "## A\n\nb", "Lead.\n\n## A\n\na").body == "Lead.\n\n## A\n\nb"


PARTS = st.sets(st.integers(0, 5))


@given(mine=PARTS, theirs=PARTS)
def test_sections_with_one_heading_are_told_apart_by_their_texts(mine: set[int], theirs: set[int]) -> None:
    """Each version lacks some of them, and the merged text lacks the same."""
    base, own, other, both = (
        render(Section(f"day-{n}", "Day", f"Text {n}.") for n in range(6) if n not in removed)
        for removed in (set(), mine, theirs, mine | theirs)
    )
    assert merge_texts(base, own, other) == MergedText(both, ())


def test_edits_beside_a_removed_section_with_the_same_heading_are_no_conflict() -> None:
    base = "## Day\n\na\n\n## Day\n\nb\n\n## Day 2\n\nc"
    own, other = "## Day\n\nb\n\n## Day 2\n\nc", base.replace("b", "bb").replace("c", "cc")
    assert merge_texts(base, own, other) == MergedText("## Day\n\nbb\n\n## Day 2\n\ncc", ())


def test_tags_that_either_version_added_or_removed_are_merged() -> None:
    assert merge_tags(["a", "b"], ["b", "c"], ["a", "b", "d"]) == ["b", "d", "c"]
    assert merge_tags(["a"], ["a"], ["d"]) == ["d"]
    assert merge_tags([], ["a"], ["a"]) == ["a"]
