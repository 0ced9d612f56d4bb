"""The judge of contradictions, measured, and its bounds."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.claims.contradictions import disagree
from content.claims.corrections import SENTENCE_MAX
from tests.content.claims.contradiction_pairs import AGREE, DISAGREE, KEPT_BACK, PAIRS

Pairs = list[tuple[str, str, bool]]
WORDS = st.sampled_from(sorted({word for one, other, _ in PAIRS for word in f"{one} {other}".split()}))
TEXTS = st.text(alphabet=st.sampled_from("ab AZ.?\n“”'n't日0 9€"), max_size=60)


def measured(pairs: Pairs) -> tuple[float, float]:
    """Precision and recall of disagreements."""
    found = [(disagree(one, other), wanted) for one, other, wanted in pairs]
    right = sum(is_found and is_wanted for is_found, is_wanted in found)
    return right / sum(is_found for is_found, _ in found), right / sum(is_wanted for _, is_wanted in found)


def test_there_are_enough_pairs_to_measure_by() -> None:
    assert (len(PAIRS) >= 60, len(AGREE) > len(DISAGREE), len(KEPT_BACK) >= 30) == (True, True, True)


@pytest.mark.parametrize("pairs", [PAIRS, KEPT_BACK], ids=["looked at", "kept back"])
def test_the_judge_makes_no_contradiction_up_and_finds_most(pairs: Pairs) -> None:
    precision, recall = measured(pairs)
    assert precision >= 0.97
    assert recall >= 0.8


@pytest.mark.parametrize(("one", "other"), DISAGREE)
def test_it_is_the_same_the_other_way_round_and_nothing_disagrees_with_itself(one: str, other: str) -> None:
    assert disagree(one, other) == disagree(other, one)
    assert not disagree(one, one)
    assert not disagree(one, f"{other[:-1]}?")
    assert not disagree(one, f"If {other}")


def test_a_name_of_the_subject_is_as_good_as_another() -> None:
    names = {"Ana Ruiz", "Ana"}
    assert disagree("Ana Ruiz lives in Porto.", "Ana lives in Lisbon.", names)
    assert not disagree("Ana Ruiz lives in Porto.", "Ana lives in Lisbon.")
    assert not disagree("Ana Ruiz lives in Porto.", "Bruno lives in Lisbon.", names)


@given(st.lists(WORDS, max_size=30).map(" ".join), st.lists(WORDS, max_size=30).map(" ".join))
def test_any_words_get_an_answer(one: str, other: str) -> None:
    assert disagree(one, other) in (True, False)
    assert not disagree(one, one)


@given(TEXTS, TEXTS)
def test_any_text_gets_an_answer(one: str, other: str) -> None:
    assert disagree(one, other) in (True, False)


@pytest.mark.parametrize("piece", ["is not ", "The a is ", "lives in ", "9 ", "every Monday "])
def test_a_hostile_sentence_takes_no_longer_than_its_length(piece: str) -> None:
    began = time.process_time()
    for text in (piece * (SENTENCE_MAX // len(piece)), piece * 100_000):
        disagree("The ledger is 9 euros.", text)
        disagree(text, f"{text}no")
    assert time.process_time() - began < 2
