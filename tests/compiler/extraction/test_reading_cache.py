"""Which readings of sources are kept, and how many."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from compiler.extraction import ExtractiveWriter, reading_cache
from compiler.extraction.reading_cache import (
    CACHE_MAX,
    CHARACTER_BYTES,
    ENTRY_BYTES,
    READING_BYTES,
    VERSION_BYTES,
    ReadingCache,
    reading_of,
    weight_of,
)
from content import languages
from tests.compiler.extraction.stories import compiled, note, story


def test_a_source_is_read_once_as_long_as_it_is_the_same() -> None:
    source = note(0, "Tea with Marguerite.")
    kept = reading_of(source)
    assert reading_of(replace(source)) is kept
    assert reading_of(replace(source, metadata={"city": "Lisbon"})) is not kept
    assert reading_of(replace(source, content="Tea.")).source.content == "Tea."


def test_what_is_kept_is_bounded() -> None:
    readings = ReadingCache()
    for number in range(400):
        readings.of(note(number, "x" * 9_000))
    assert len(readings.cached) == CACHE_MAX // (READING_BYTES + CHARACTER_BYTES * 9_000)
    assert readings.size == sum(readings.weights.values()) <= CACHE_MAX
    assert readings.of(note(399, "x" * 9_000)) is readings.cached[note(399, "").id]
    readings.of(note(399, "long " * 11_000))
    assert len(readings.cached[note(399, "").id].source.content) == 9_000, "a long one is not kept"


def test_short_sources_are_kept_by_what_their_readings_take_and_not_by_their_length() -> None:
    readings = ReadingCache()
    for number in range(20_000):
        readings.of(note(number, "Tea."))
    assert len(readings.cached) <= CACHE_MAX // READING_BYTES
    assert readings.cached.keys() == readings.weights.keys()


def test_a_version_weighs_with_the_ids_of_those_before() -> None:
    readings, source = ReadingCache(), note(0, "Tea.")
    readings.of(source)
    first = readings.size
    readings.of(replace(source, earlier_ids=(source.id,) * 1_000))
    assert readings.size - first == 1_000 * VERSION_BYTES


def test_a_reading_that_grew_is_weighed_anew() -> None:
    readings, source = ReadingCache(), note(0, "Tea with Marguerite.")
    before = weight_of(readings.of(source))
    for number in range(100):
        readings.of(source).saying(frozenset({f"name {number}"}))
    readings.of(source)
    assert readings.size == readings.weights[source.id] == before + 100 * ENTRY_BYTES


@pytest.mark.parametrize("by_writer", [False, True])
def test_the_lists_of_words_are_read_in_a_thread(monkeypatch: pytest.MonkeyPatch, by_writer: bool) -> None:
    """They take a third of a second, in which nobody else on the event loop would get a turn."""
    texts = ["We decided that Rory keeps pgbouncer in the house, as it is quick."] * 3
    sources = story(*texts)
    read_by: set[threading.Thread] = set()
    uses = languages._word_counts

    def noted(language: str) -> Iterator[tuple[str, int]]:
        read_by.add(threading.current_thread())
        return uses(language)

    def forget() -> None:
        reading_cache.LOADED.clear()
        reading_cache.CACHE.__init__()
        for cached in (languages.usual_words, languages._hashes):
            cached.cache_clear()

    monkeypatch.setattr(languages, "_word_counts", noted)
    if by_writer:  # the planner has read them in another process
        write = ExtractiveWriter.write

        async def written(self: ExtractiveWriter, task: object) -> str:
            forget()
            return await write(self, task)

        monkeypatch.setattr(ExtractiveWriter, "write", written)
    forget()
    assert compiled(sources).all
    assert read_by
    assert threading.main_thread() not in read_by
