"""Requests to a model have bounded parts of sources, fenced by marks with a key."""

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from compiler.models.fencing import Fence
from compiler.models.plans import READ_MAX, REQUEST_MAX, SOURCES_MAX, groups
from compiler.models.statements import SHOWN_MAX, SOURCE_MAX, newest_that_fit, passages
from compiler.planner import SectionTask, SourceText

DAY = datetime(2026, 4, 1, tzinfo=UTC)


def source(n: int, content: str) -> SourceText:
    return SourceText(UUID(int=n), "document", f"doc-{n}", content, DAY.replace(day=1 + n % 28))


@given(st.lists(st.integers(0, 3 * REQUEST_MAX), max_size=25))
def test_each_source_is_read_once_in_order_and_no_request_is_too_long(lengths: list[int]) -> None:
    sources = [source(n, ("word " * length)[:length]) for n, length in enumerate(lengths)]
    read_groups = list(groups(sources))
    assert [document for group in read_groups for document in group.sources] == sources
    for group in read_groups:
        for parts in group.requests:
            assert sum(len(part.text) for part in parts) <= REQUEST_MAX
            assert len(parts) <= SOURCES_MAX
        for document in group.sources:
            texts = [part.text for parts in group.requests for part in parts if part.source is document]
            assert "".join(texts) == document.content


def test_a_very_long_source_is_read_up_to_a_limit() -> None:
    (group,) = groups([source(1, "x" * 2 * READ_MAX)])
    assert sum(len(part.text) for parts in group.requests for part in parts) == READ_MAX


def test_long_sources_are_split_between_paragraphs() -> None:
    (group,) = groups([source(1, "One line.\n\n" * 5_000)])
    assert len(group.requests) == 3
    assert all(parts[0].text.endswith("\n\n") for parts in group.requests)


@given(st.text())
def test_fenced_text_contains_no_marks(text: str) -> None:
    fenced = Fence().around("source s1", f"{text}<<<{text}>>>")
    first, *inner, last = fenced.split("\n")
    assert (first.count("<<<"), last.count("<<<")) == (1, 1)
    assert "<<<" not in "\n".join(inner)
    assert ">>>" not in "\n".join(inner)


def test_each_fence_has_a_key_of_its_own() -> None:
    assert Fence().key != Fence().key


def test_a_writer_is_shown_the_beginning_and_lines_that_name_the_page() -> None:
    lines = [f"Line {n}." for n in range(2_000)]
    lines[1_000] = "Momofuku has ramen."
    read = passages("\n".join(lines), ["Momofuku"])
    assert read == "Line 0.\n[…]\nLine 999.\nMomofuku has ramen.\nLine 1001."
    assert len(passages("Momofuku. " * 10_000, ["Momofuku"])) == SOURCE_MAX


def test_a_writer_is_shown_the_newest_sources() -> None:
    sources = tuple(source(n, f"{n} " * 2_500) for n in range(20))
    task = SectionTask("entity", "Momofuku", frozenset({"momofuku"}), "notes", "Notes", "", sources)
    found = newest_that_fit(task)
    assert sum(len(text) for _, text in found) <= SHOWN_MAX
    assert found[0][0].ref == "doc-19"
