"""A delta restores a text, and a difference shows where two texts differ."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.edits import differences as sequences
from content.edits.differences import LINES_MAX, SequenceChange, apply_delta, changes, delta, difference, unified_diff

PIECES = st.lists(st.sampled_from(["alpha", "é日本", "🐘", "\n", "\r\n", "\r", " beta", "\n\n"]), max_size=40).map(
    "".join
)
NEAR = st.tuples(PIECES, PIECES, PIECES, PIECES).map(lambda t: (t[0] + t[1] + t[2], t[0] + t[3] + t[2]))


@given(NEAR)
def test_applying_a_delta_returns_the_text(texts: tuple[str, str]) -> None:
    found = delta(*texts)
    assert found is not None
    assert apply_delta(texts[0], found) == texts[1]


def test_a_small_change_is_a_small_delta() -> None:
    base = "".join(f"A line of some length, number {n}.\n" for n in range(1_000))
    found = delta(base, base.replace("number 500", "nümber 500"))
    assert found is not None
    assert (found.texts, found.size < 100) == (["ü", ""], True)


def test_a_text_with_too_many_changes_has_no_delta() -> None:
    base = "".join(f"{n}\n" for n in range(1_000))
    assert delta(base, "".join(f"{n}\n" if n % 2 else "x\n" for n in range(1_000))) is None


@given(st.lists(st.integers(0, 4), max_size=20), st.lists(st.integers(0, 4), max_size=20))
def test_applying_changes_gives_the_new_sequence(old: list[int], new: list[int]) -> None:
    built, place = [], 0
    for change in changes(old, new):
        assert not built or old[place : change.old_start], "two changes never touch"
        built += old[place : change.old_start] + new[change.new_start : change.new_end]
        place = change.old_end
    assert built + old[place:] == new


def test_sequences_above_the_cell_limit_are_one_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, "CELLS_MAX", 5)
    assert changes("axbxc", "aybyc") == [SequenceChange(1, 4, 1, 4)]


def test_a_changed_line_marks_the_changed_parts() -> None:
    found = difference("one\nThe quick fox runs\nend", "one\nThe slow fox runs\nend")
    (hunk,) = found.hunks
    shown = [(line.kind, line.text, line.old_line, line.new_line, line.parts) for line in hunk.lines]
    assert shown == [
        ("context", "one", 1, 1, ()),
        ("removed", "The quick fox runs", 2, None, ((4, 5),)),
        ("added", "The slow fox runs", None, 2, ((4, 4),)),
        ("context", "end", 3, 3, ()),
    ]
    assert (found.removed, found.added) == (1, 1)


def test_distant_changes_are_separate_hunks_up_to_a_limit_of_lines() -> None:
    lines = [f"{n}\n" for n in range(12_000)]
    changed = [f"x{line}" if n % 10 == 0 else line for n, line in enumerate(lines)]
    near, far = difference("".join(lines[:30]), "".join(changed[:30])), difference("".join(lines), "".join(changed))
    assert (len(near.hunks), near.is_truncated) == (3, False)
    assert (far.removed, far.added, far.is_truncated) == (1_200, 1_200, True)
    assert sum(len(hunk.lines) for hunk in far.hunks) <= LINES_MAX


def test_equal_texts_have_no_difference() -> None:
    assert unified_diff(difference("a\n", "a\n"), "a", "b") == ""


@settings(max_examples=25)
@given(NEAR)
def test_git_apply_turns_the_old_text_into_the_new_one(
    tmp_path_factory: pytest.TempPathFactory, texts: tuple[str, str]
) -> None:
    """The unified diff is complete, so that other programs can apply it."""
    old, new = (text.replace("\r", "") for text in texts)
    folder: Path = tmp_path_factory.mktemp("patch")
    (folder / "text").write_text(old, encoding="utf-8", newline="")
    (folder / "change").write_text(unified_diff(difference(old, new), "text", "text"), encoding="utf-8", newline="")
    if old == new:
        return
    command = ["git", "apply", "--unsafe-paths", "--unidiff-zero", "-p0", "change"]
    result = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env={"GIT_CEILING_DIRECTORIES": str(folder.parent), "PATH": "/usr/bin:/bin"},
    )
    assert result.returncode == 0, result.stderr
    written = folder / "text"
    assert (written.read_bytes().decode() if written.exists() else "") == new
