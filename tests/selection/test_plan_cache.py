"""The document cache is bounded by the tokens of its documents, not only by their number."""

from contextlib import suppress

import pytest
from graphql import parse

from schema.root import GRAPHQL
from selection import Engine
from selection.execute.operation import Invalid
from selection.execute.plan_cache import MAX_TOKENS_COUNTED, DocumentCache, tokens

TAGS = "{ wikiPages(filter: {tags: [" + '"a" ' * 3900 + "]}) { nodes { id } } }"
UNKNOWN = "{ viewer { " + " ".join(f"nothing{n}" for n in range(400)) + " } }"


@pytest.mark.parametrize("text", [TAGS, UNKNOWN])
async def test_large_documents_evict_others_by_weight_before_the_count_limit(text: str) -> None:
    engine = Engine(GRAPHQL)
    engine.documents.max_weight = 3 * tokens(text)
    for n in range(6):
        with suppress(Invalid):
            await engine.document(f"{text} # {n}", None)
    assert [key[1] for key in engine.documents.entries] == [None, None]  # type: ignore[index]
    assert engine.documents.total_weight <= engine.documents.max_weight


def test_token_counts_match_the_parser_up_to_the_maximum() -> None:
    assert tokens(TAGS) == parse(TAGS).token_count
    assert tokens("a " * 100_000) == MAX_TOKENS_COUNTED


def test_weights_count_entries_once_and_evicted_entries_not_at_all() -> None:
    cache: DocumentCache[str] = DocumentCache(3, lambda key, text: text)
    for key, text in (("a", "one two"), ("a", "one two three"), ("b", "{four}"), ("c", "five"), ("d", "six")):
        cache.put(key, text)
    assert list(cache.entries) == ["b", "c", "d"]
    assert cache.total_weight == 5
    cache.max_weight = 2
    cache.put("e", "a b c d")
    assert list(cache.entries) == ["e"]
    assert cache.total_weight == 4
