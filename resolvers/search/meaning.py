"""What a question says, before any wiki is asked."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from content.search_query import SearchQuery, understand
from content.words import words

from . import demands
from .results import Asked, Filter

MOST, LONGEST = 2_000, 200  # questions of a process that are kept, and characters of one


class Meaning(NamedTuple):
    """`wanted` is what the question and its filter demand together, `words` how many there are to look
    for, and `narrows` whether there is anything else to find pages by."""

    query: SearchQuery
    wanted: Filter
    words: int
    narrows: bool

    @property
    def says_anything(self) -> bool:
        """Is there anything to find pages by?"""
        return self.words > 0 or self.narrows


def meaning(asked: Asked) -> Meaning:
    """The same questions come again and again."""
    return (kept if len(asked.text) <= LONGEST else read)(asked.text, asked.filter)


def read(text: str, given: Filter) -> Meaning:
    query = understand(text)
    narrows = replace(query, words="") != SearchQuery() or given != Filter()
    return Meaning(query, demands.merged(query, given), len(words(query.words)), narrows)


kept = lru_cache(maxsize=MOST)(read)
