"""The judge of corrections, measured, and its bounds; and claims in the texts that a compile writes."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.claims import claims
from content.claims.claims import ClaimRead, Statement
from content.claims.corrections import SENTENCE_MAX, Verdict, changes, judge, may_correct
from tests.content.claims.correction_pairs import ADDS, KEPT_BACK, OVERRIDES, PAIRS, UNRELATED

TEXTS = st.text(alphabet=st.sampled_from("ab AZ.?\n“”\\[]^-é日0 "), max_size=60)
WORDS = st.sampled_from(sorted({word for older, newer, _ in PAIRS for word in f"{older} {newer}".split()}))


def measured(pairs: list[tuple[str, str, str]]) -> tuple[float, float]:
    """Precision and recall of *overrides*."""
    found = [(judge(older, newer) is Verdict.OVERRIDES, wanted == "overrides") for older, newer, wanted in pairs]
    right = sum(is_found and is_wanted for is_found, is_wanted in found)
    return right / sum(is_found for is_found, _ in found), right / sum(is_wanted for _, is_wanted in found)


def test_there_are_enough_pairs_to_measure_by() -> None:
    assert (len(PAIRS) >= 60, len(KEPT_BACK) >= 30) == (True, True)
    assert min(map(len, (OVERRIDES, ADDS, UNRELATED))) >= 10


@pytest.mark.parametrize("pairs", [PAIRS, KEPT_BACK], ids=["looked at", "kept back"])
def test_the_judge_makes_no_correction_up_and_finds_most(pairs: list[tuple[str, str, str]]) -> None:
    precision, recall = measured(pairs)
    assert precision >= 0.95
    assert recall >= 0.8


@pytest.mark.parametrize(("older", "newer"), OVERRIDES)
def test_a_question_and_the_same_again_override_nothing(older: str, newer: str) -> None:
    assert judge(older, f"{newer[:-1]}?") is not Verdict.OVERRIDES
    assert judge(newer, newer) is Verdict.UNRELATED


def test_more_on_the_same_subject_adds() -> None:
    assert judge("The ledger runs on Postgres.", "The ledger also runs a nightly report.") is Verdict.ADDS
    assert judge("The ledger runs on Postgres.", "Tomas roasts on Tuesdays.") is Verdict.UNRELATED


def test_a_pronoun_is_the_page_only_where_the_page_says_so() -> None:
    older, newer = "Ana lives in Porto.", "She moved to Lisbon."
    assert judge(older, newer) is not Verdict.OVERRIDES
    assert judge(older, "Bruno moved to Lisbon.", {"Ana Ruiz"}) is not Verdict.OVERRIDES
    assert judge(older, "Ana Ruiz moved to Lisbon.", {"Ana Ruiz", "Ana"}) is Verdict.OVERRIDES


@given(st.lists(WORDS, max_size=30).map(" ".join), st.lists(WORDS, max_size=30).map(" ".join))
def test_any_words_get_a_verdict(older: str, newer: str) -> None:
    verdict = judge(older, newer)
    assert verdict in Verdict
    if verdict is Verdict.OVERRIDES:
        assert may_correct(newer)
        assert changes(newer)


@given(TEXTS, TEXTS)
def test_any_text_gets_a_verdict(older: str, newer: str) -> None:
    assert judge(older, newer) in Verdict


@pytest.mark.parametrize("piece", ["from a to ", "moved ", "not a, but ", "now ", "a instead of ", "replaced "])
def test_a_hostile_sentence_takes_no_longer_than_its_length(piece: str) -> None:
    began = time.process_time()
    for text in (piece * (SENTENCE_MAX // len(piece)), piece * 100_000):
        judge("The ledger runs on Postgres.", text)
    assert time.process_time() - began < 2


# -- claims in texts


def test_a_reader_is_told_in_one_line_the_newest_first_and_five_at_most() -> None:
    read = [ClaimRead(f"Fact {n}", f'Say\n"{n}"', datetime(2026, 3, n, tzinfo=UTC)) for n in range(1, 8)]
    lines = claims.context_header(read).splitlines()
    assert lines[0] == """Used to say "Fact 7" until 2026-03-07; now says "Say '7'"."""
    assert len(lines) == 5


def test_what_a_line_quotes_is_a_statement_of_its_sources() -> None:
    body = "- 2026-04-03: “Ana \\*lives\\* in Porto.” “She \\[sings\\].” [^a] [^b]\nAna “says” so."
    assert claims.statements(body) == [
        Statement(0, "Ana *lives* in Porto.", ("a", "b")),
        Statement(0, "She [sings].", ("a", "b")),
    ]
    first = claims.statements(body)[0]
    assert claims.without_statement(body, first) == "- 2026-04-03: “She \\[sings\\].” [^a] [^b]\nAna “says” so."
    alone = "- “Ana lives in Porto.” [^a]\n- “More.” [^b]"
    (said, _) = claims.statements(alone)
    assert claims.without_statement(alone, said) == "- “More.” [^b]"
    assert claims.without_statement(alone, said, "- “Faro.” [^c]") == "- “Faro.” [^c]\n- “More.” [^b]"


@given(st.lists(TEXTS, max_size=5))
def test_a_statement_that_is_taken_out_is_gone_and_the_others_stay(texts: list[str]) -> None:
    body = "\n".join([*texts, "- “Ana.” “Bo.” [^a]", "- “Ana.” [^b]"])
    while found := claims.statements(body):
        gone = found[0]
        after = claims.without_statement(body, gone)
        left = claims.statements(after)
        lines = [one for one in found if one.line == gone.line and one.text == gone.text]
        assert len(left) == len(found) - len(lines)
        assert [one.text for one in left] == [one.text for one in found if one not in lines]
        body = after


@given(st.text(max_size=80), st.text(max_size=20))
def test_a_claim_is_the_same_whatever_its_case_and_spaces(fact: str, ref: str) -> None:
    assert claims.digest(f" {fact}\n", "document", ref) == claims.digest(" ".join(fact.split()), "document", ref)
    assert claims.digest(fact, "document", ref) != claims.digest(fact, "url", ref)
