"""Readings of sources are cached within a bound on their memory."""

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
from tests.compiler.extraction.stories import compiled, note, notes


def test_an_unchanged_source_is_read_once() -> None:
    source = note(0, "Tea with Marguerite.")
    reading = reading_of(source)
    assert reading_of(replace(source)) is reading
    assert reading_of(replace(source, metadata={"city": "Lisbon"})) is not reading
    assert reading_of(replace(source, content="Tea.")).source.content == "Tea."


def test_the_cache_is_bounded_and_keeps_no_long_source() -> None:
    readings = ReadingCache()
    for number in range(400):
        readings.of(note(number, "x" * 9_000))
    assert len(readings.cached) == CACHE_MAX // (READING_BYTES + CHARACTER_BYTES * 9_000)
    assert readings.size == sum(readings.weights.values()) <= CACHE_MAX
    assert readings.of(note(399, "x" * 9_000)) is readings.cached[note(399, "").id]
    readings.of(note(399, "long " * 11_000))
    assert len(readings.cached[note(399, "").id].source.content) == 9_000, "the long source is not cached"


def test_short_sources_weigh_at_least_the_base_size_of_a_reading() -> None:
    readings = ReadingCache()
    for number in range(20_000):
        readings.of(note(number, "Tea."))
    assert len(readings.cached) <= CACHE_MAX // READING_BYTES
    assert readings.cached.keys() == readings.weights.keys()


def test_a_reading_weighs_the_ids_of_earlier_versions() -> None:
    readings, source = ReadingCache(), note(0, "Tea.")
    readings.of(source)
    first = readings.size
    readings.of(replace(source, earlier_ids=(source.id,) * 1_000))
    assert readings.size - first == 1_000 * VERSION_BYTES


def test_a_reading_that_grew_is_weighed_again() -> None:
    readings, source = ReadingCache(), note(0, "Tea with Marguerite.")
    before = weight_of(readings.of(source))
    for number in range(100):
        readings.of(source).saying(frozenset({f"name {number}"}))
    readings.of(source)
    assert readings.size == readings.weights[source.id] == before + 100 * ENTRY_BYTES


@pytest.mark.parametrize("by_writer", [False, True])
def test_word_lists_are_loaded_outside_the_main_thread(monkeypatch: pytest.MonkeyPatch, by_writer: bool) -> None:
    """Loading the word lists takes a third of a second, which would block the event loop."""
    texts = ["We decided that Rory keeps pgbouncer in the house, as it is quick."] * 3
    sources = notes(*texts)
    reading_threads: set[threading.Thread] = set()
    word_counts = languages._word_counts

    def record_thread(language: str) -> Iterator[tuple[str, int]]:
        reading_threads.add(threading.current_thread())
        return word_counts(language)

    def clear_caches() -> None:
        reading_cache.LOADED.clear()
        reading_cache.CACHE.__init__()
        for cached in (languages.usual_words, languages._hashes):
            cached.cache_clear()

    monkeypatch.setattr(languages, "_word_counts", record_thread)
    if by_writer:  # the planner has read the word lists in another process
        write = ExtractiveWriter.write

        async def write_with_empty_caches(self: ExtractiveWriter, task: object) -> str:
            clear_caches()
            return await write(self, task)

        monkeypatch.setattr(ExtractiveWriter, "write", write_with_empty_caches)
    clear_caches()
    assert compiled(sources).all
    assert reading_threads
    assert threading.main_thread() not in reading_threads
