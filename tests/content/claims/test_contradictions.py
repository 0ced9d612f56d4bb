"""Contradictions are found with measured precision and recall, in bounded time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.claims.contradictions import disagree
from content.claims.corrections import SENTENCE_MAX
from tests.content.claims.contradiction_pairs import AGREE, DISAGREE, HELD_OUT, PAIRS

Pairs = list[tuple[str, str, bool]]
WORDS = st.sampled_from(sorted({word for first, second, _ in PAIRS for word in f"{first} {second}".split()}))
TEXTS = st.text(alphabet=st.sampled_from("ab AZ.?\n“”'n't日0 9€"), max_size=60)


def measured(pairs: Pairs) -> tuple[float, float]:
    """Return precision and recall of the disagreements found."""
    found = [(disagree(first, second), wanted) for first, second, wanted in pairs]
    right = sum(is_found and is_wanted for is_found, is_wanted in found)
    return right / sum(is_found for is_found, _ in found), right / sum(is_wanted for _, is_wanted in found)


def test_there_are_enough_pairs_to_measure_by() -> None:
    assert (len(PAIRS) >= 60, len(AGREE) > len(DISAGREE), len(HELD_OUT) >= 30) == (True, True, True)


@pytest.mark.parametrize("pairs", [PAIRS, HELD_OUT], ids=["tuned", "held out"])
def test_contradictions_are_found_with_high_precision_and_recall(pairs: Pairs) -> None:
    precision, recall = measured(pairs)
    assert precision >= 0.97
    assert recall >= 0.8


@pytest.mark.parametrize(("first", "second"), DISAGREE)
def test_disagreement_is_symmetric_and_needs_two_statements(first: str, second: str) -> None:
    assert disagree(first, second) == disagree(second, first)
    assert not disagree(first, first)
    assert not disagree(first, f"{second[:-1]}?")
    assert not disagree(first, f"If {second}")


def test_names_of_one_subject_are_interchangeable() -> None:
    names = {"Ana Ruiz", "Ana"}
    assert disagree("Ana Ruiz lives in Porto.", "Ana lives in Lisbon.", names)
    assert not disagree("Ana Ruiz lives in Porto.", "Ana lives in Lisbon.")
    assert not disagree("Ana Ruiz lives in Porto.", "Bruno lives in Lisbon.", names)


@given(st.lists(WORDS, max_size=30).map(" ".join), st.lists(WORDS, max_size=30).map(" ".join))
def test_any_words_are_judged(first: str, second: str) -> None:
    assert disagree(first, second) in (True, False)
    assert not disagree(first, first)


@given(TEXTS, TEXTS)
def test_any_text_is_judged(first: str, second: str) -> None:
    assert disagree(first, second) in (True, False)


@pytest.mark.parametrize("piece", ["is not ", "The a is ", "lives in ", "9 ", "every Monday "])
def test_a_long_hostile_sentence_is_judged_in_bounded_time(piece: str) -> None:
    began = time.process_time()
    for text in (piece * (SENTENCE_MAX // len(piece)), piece * 100_000):
        disagree("The ledger is 9 euros.", text)
        disagree(text, f"{text}no")
    assert time.process_time() - began < 2
