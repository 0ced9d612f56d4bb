"""What is kept of texts is bounded by how long they are."""

from content.claims import corrections, grounding
from content.text_cache import TextCache, cache_short


def test_a_long_text_is_read_anew_and_a_short_one_once() -> None:
    read: list[str] = []

    @cache_short(10, longest=5)
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    assert [length("short"), length("short"), length("longer"), length("longer")] == [5, 5, 6, 6]
    assert read == ["short", "longer", "longer"]


def test_texts_are_kept_while_all_of_them_are_not_too_long_together() -> None:
    read: list[str] = []
    kept = TextCache(lambda text: read.append(text) or len(text), 10)
    for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb"):
        assert kept(text) == 4
    assert read == ["aaaa", "bbbb", "cccc", "bbbb"], "the one that was asked for longest ago is gone"
    assert (list(kept.entries), kept.size) == (["aaaa", "bbbb"], 8)


def test_the_newest_text_is_kept_however_long_it_is() -> None:
    kept = TextCache(len, 10)
    kept("aaaa")
    kept("b" * 100)
    assert (list(kept.entries), kept.size) == (["b" * 100], 100)
    kept("cc")
    assert (list(kept.entries), kept.size) == (["cc"], 2)


def test_sources_that_a_section_is_held_against_are_kept_up_to_a_size() -> None:
    for number in range(20):
        source = f"Source {number} says so. " * 4_000
        said = grounding.ClaimSentence(f"Source {number} says so.", False, ())
        quote = grounding.ClaimSentence(f"Source {number} says so.", True, ())
        assert grounding.supports(source, said)
        assert grounding.supports(source, quote)
    for kept in (grounding.windows, grounding.flat):
        assert kept.size == sum(map(len, kept.entries)) <= grounding.SOURCES_MAX


def test_the_words_of_sentences_are_the_same_objects() -> None:
    one, other = corrections.content("Marguerite roasted coffee."), corrections.content("Coffee for Marguerite!")
    assert {id(word) for word in other} <= {id(word) for word in one}
