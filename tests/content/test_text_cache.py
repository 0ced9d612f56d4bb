"""Caches of texts are bounded by the total length of the texts."""

from content.claims import corrections, grounding
from content.text_cache import TextCache, cache_short


def test_short_texts_are_cached_and_long_ones_are_not() -> None:
    read: list[str] = []

    @cache_short(10, longest=5)
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    assert [length("short"), length("short"), length("longer"), length("longer")] == [5, 5, 6, 6]
    assert read == ["short", "longer", "longer"]


def test_the_least_recently_used_text_is_evicted_above_the_size_limit() -> None:
    read: list[str] = []
    cache = TextCache(lambda text: read.append(text) or len(text), 10)
    for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb"):
        assert cache(text) == 4
    assert read == ["aaaa", "bbbb", "cccc", "bbbb"], "the least recently used text is evicted"
    assert (list(cache.entries), cache.size) == (["aaaa", "bbbb"], 8)


def test_the_newest_text_is_cached_whatever_its_length() -> None:
    cache = TextCache(len, 10)
    cache("aaaa")
    cache("b" * 100)
    assert (list(cache.entries), cache.size) == (["b" * 100], 100)
    cache("cc")
    assert (list(cache.entries), cache.size) == (["cc"], 2)


def test_the_source_caches_of_grounding_are_bounded_by_size() -> None:
    for number in range(20):
        source = f"Source {number} says so. " * 4_000
        statement = grounding.ClaimSentence(f"Source {number} says so.", False, ())
        quote = grounding.ClaimSentence(f"Source {number} says so.", True, ())
        assert grounding.supports(source, statement)
        assert grounding.supports(source, quote)
    for cache in (grounding.windows, grounding.flat):
        assert cache.size == sum(map(len, cache.entries)) <= grounding.SOURCES_MAX


def test_words_of_sentences_are_interned() -> None:
    first, second = corrections.content("Marguerite roasted coffee."), corrections.content("Coffee for Marguerite!")
    assert {id(word) for word in second} <= {id(word) for word in first}
