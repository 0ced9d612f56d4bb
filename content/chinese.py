"""The words of Chinese texts, their parts of speech, and how often texts use them."""

from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from .search.words import simplify


class ChineseWord(NamedTuple):
    """A word of a text as it is written."""

    text: str
    tag: str
    """The part of speech as jieba has it: `n` a noun, `v` a verb, `ns` the name of a place, `x` no Chinese."""
    uses: int
    """How often the texts of which the dictionary was made have the word; 0 if it is in no dictionary, as names are."""


def load_dictionary() -> Any:
    """Return the dictionary. The first call reads it, which takes 0.1 s and 33 MB, so only readers of Chinese do."""
    import rjieba

    return rjieba


def chinese_words(text: str) -> list[ChineseWord]:
    """Return the words of a text, in order. The dictionary has simplified characters, so traditional ones are
    replaced to look them up."""
    simple = simplify(text)
    words = [_word(word, tag) for word, tag in load_dictionary().tag(simple)]
    if simple == text:
        return words
    ends = accumulate(len(word.text) for word in words)
    return [word._replace(text=text[end - len(word.text) : end]) for word, end in zip(words, ends, strict=True)]


@lru_cache(maxsize=4_000)
def _word(word: str, tag: str) -> ChineseWord:
    dictionary = load_dictionary()
    return ChineseWord(word, tag, int(dictionary.suggest_freq(word)) if dictionary.has_word(word) else 0)


@lru_cache(maxsize=2_000)
def verb_uses(character: str) -> int:
    """Return how often texts use a word of one character, or 0 if it is no verb."""
    word = chinese_words(character)[0]
    return word.uses if word.tag == "v" else 0
