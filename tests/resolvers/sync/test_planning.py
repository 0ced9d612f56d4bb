"""The plan of a sync: after any changes of both sides they become equal, and no text is lost."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolvers.sync.planning import (
    Action,
    Base,
    Direction,
    KnownFile,
    NewFile,
    NewPage,
    allowed_action,
    decide,
    find_moves,
    match_files,
    merge_fields,
)

SIDES = st.one_of(st.none(), st.sampled_from("abcd"))


@pytest.mark.parametrize(
    ("base", "file", "page", "action"),
    [
        (None, None, None, Action.NOTHING),
        (None, "a", None, Action.PUSH),
        (None, None, "a", Action.PULL),
        (None, "a", "b", Action.CONFLICT),
        (None, "a", "a", Action.ADOPT),
        (Base("a", "a"), "a", "a", Action.NOTHING),
        (Base("a", "a"), "b", "a", Action.PUSH),
        (Base("a", "a"), "a", "b", Action.PULL),
        (Base("a", "a"), "b", "c", Action.MERGE),
        (Base("a", "a"), "b", "b", Action.ADOPT),
        (Base("a", "a"), None, "a", Action.ARCHIVE),
        (Base("a", "a"), "a", None, Action.REMOVE),
        (Base("a", "a"), None, None, Action.FORGET),
        (Base("a", "a"), None, "b", Action.PULL),
        (Base("a", "a"), "b", None, Action.PUSH),
    ],
)
def test_each_combination_of_changes_has_its_action(
    base: Base | None, file: str | None, page: str | None, action: Action
) -> None:
    assert decide(base, file, page, same=file == page) is action


@dataclass
class Sides:
    """A note in a folder and its page in a wiki, whose history has all texts that the page ever had."""

    file: str | None = None
    page: str | None = None
    base: Base | None = None
    history: set[str] = field(default_factory=set)
    conflicts: set[str] = field(default_factory=set)

    def edit_page(self, text: str | None) -> None:
        self.page = text
        if text:
            self.history.add(text)

    def sync(self, direction: Direction = Direction.BOTH) -> None:
        action = decide(self.base, self.file, self.page, same=self.file == self.page)
        match allowed_action(action, direction):
            case Action.PUSH:
                self.edit_page(self.file)
            case Action.ARCHIVE:
                self.page = None
            case Action.PULL | Action.REMOVE:
                self.file = self.page
            case Action.MERGE | Action.CONFLICT:
                assert self.page
                self.conflicts.add(self.page)
                self.edit_page(self.file)  # as a person does who keeps the file
            case None | Action.NOTHING:
                return
        self.base = None if self.file is None else Base(self.file, self.page)


@given(st.lists(st.tuples(st.sampled_from(["file", "page", "sync"]), SIDES)))
def test_no_text_is_lost_and_both_sides_end_equal(operations: list[tuple[str, str | None]]) -> None:
    pair, seen = Sides(), set[str]()
    for operation, text in operations:
        if operation == "sync":
            pair.sync()
            seen |= {pair.file} if pair.file else set()
            assert pair.file == pair.page
        elif operation == "file":
            pair.file = text
        else:
            pair.edit_page(text)
    before = {pair.file} if pair.file else set()
    pair.sync()
    assert pair.file == pair.page
    assert seen | before <= pair.history, "what a sync met in a file is in the history of the wiki"
    again = decide(pair.base, pair.file, pair.page, same=True)
    assert again is Action.NOTHING, "a second sync has nothing to do"


@given(st.one_of(st.none(), st.builds(Base, SIDES, SIDES)), SIDES, SIDES, st.booleans())
def test_a_one_way_sync_never_writes_the_other_side(
    base: Base | None, file: str | None, page: str | None, same: bool
) -> None:
    action = decide(base, file, page, same=same)
    assert allowed_action(action, Direction.PULL) not in {Action.PUSH, Action.MERGE, Action.ARCHIVE}
    assert allowed_action(action, Direction.PUSH) not in {Action.PULL, Action.REMOVE}
    assert allowed_action(action, Direction.BOTH) is action


@given(st.one_of(st.none(), st.builds(Base, SIDES, SIDES)), SIDES, SIDES)
def test_a_side_is_only_overwritten_if_it_did_not_change(base: Base | None, file: str | None, page: str | None) -> None:
    action = decide(base, file, page, same=file == page)
    if action in (Action.PULL, Action.REMOVE) and file is not None:
        assert base is not None
        assert file == base.file
    if action is Action.ARCHIVE or (action is Action.PUSH and page is not None):
        assert base is not None
        assert page == base.page


def test_a_moved_file_keeps_its_page() -> None:
    missing = [KnownFile("1", "a.md", "x"), KnownFile("2", "b.md", "y", "topic/b"), KnownFile("3", "c.md", "x")]
    new = [NewFile("d/c.md", "x"), NewFile("e.md", "changed", "topic/b"), NewFile("f.md", "x"), NewFile("g.md", "z")]
    assert find_moves(missing, new) == {"1": "f.md", "2": "e.md", "3": "d/c.md"}


def test_new_files_are_matched_with_pages_by_path_then_header_then_title() -> None:
    pages = [
        NewPage("1", "topic/kiln", "Kiln.md"),
        NewPage("2", "topic/glaze"),
        NewPage("3", "reference/clay"),
        NewPage("4", "topic/salt"),
    ]
    new = [
        NewFile("kiln.md", "a", named="reference/kiln"),
        NewFile("x.md", "b", "topic/glaze", "topic/glaze"),
        NewFile("Clay.md", "c", named="reference/clay"),
        NewFile("Other.md", "d", named="reference/other"),
    ]
    assert match_files(new, pages) == {"kiln.md": "1", "x.md": "2", "Clay.md": "3"}


def test_paths_that_differ_in_unicode_normalisation_are_matched() -> None:
    assert match_files([NewFile("Cafe\u0301.md", "a")], [NewPage("1", "topic/x", "Caf\u00e9.md")]) == {
        "Cafe\u0301.md": "1"
    }


FIELDS = st.dictionaries(st.sampled_from(["title", "summary", "tags"]), st.sampled_from("abc"))


@given(FIELDS, FIELDS, FIELDS)
def test_fields_changed_on_one_side_are_merged(
    base: dict[str, str], own: dict[str, str], other: dict[str, str]
) -> None:
    found, conflicts = merge_fields(base, own, other)
    for name in {*base, *own, *other}:
        changed = {side.get(name) for side in (own, other)} - {base.get(name)}
        assert (name in conflicts) == (len(changed) == 2)
        if len(changed) == 1:
            assert found.get(name) == changed.pop()
