"""Corrections are found with measured precision and recall, and claims are read from compiled texts."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.claims import claims
from content.claims.claims import ClaimRead, Statement
from content.claims.corrections import SENTENCE_MAX, Verdict, changes, judge, may_correct
from tests.content.claims.correction_pairs import ADDS, HELD_OUT, OVERRIDES, PAIRS, UNRELATED

TEXTS = st.text(alphabet=st.sampled_from("ab AZ.?\n“”\\[]^-é日0 "), max_size=60)
WORDS = st.sampled_from(sorted({word for older, newer, _ in PAIRS for word in f"{older} {newer}".split()}))


def measured(pairs: list[tuple[str, str, str]]) -> tuple[float, float]:
    """Return precision and recall of the verdict *overrides*."""
    found = [(judge(older, newer) is Verdict.OVERRIDES, wanted == "overrides") for older, newer, wanted in pairs]
    right = sum(is_found and is_wanted for is_found, is_wanted in found)
    return right / sum(is_found for is_found, _ in found), right / sum(is_wanted for _, is_wanted in found)


def test_there_are_enough_pairs_to_measure_by() -> None:
    assert (len(PAIRS) >= 60, len(HELD_OUT) >= 30) == (True, True)
    assert min(map(len, (OVERRIDES, ADDS, UNRELATED))) >= 10


@pytest.mark.parametrize("pairs", [PAIRS, HELD_OUT], ids=["tuned", "held out"])
def test_corrections_are_found_with_high_precision_and_recall(pairs: list[tuple[str, str, str]]) -> None:
    precision, recall = measured(pairs)
    assert precision >= 0.95
    assert recall >= 0.8


@pytest.mark.parametrize(("older", "newer"), OVERRIDES)
def test_questions_and_repeated_sentences_override_nothing(older: str, newer: str) -> None:
    assert judge(older, f"{newer[:-1]}?") is not Verdict.OVERRIDES
    assert judge(newer, newer) is Verdict.UNRELATED


def test_another_statement_on_the_same_subject_adds() -> None:
    assert judge("The ledger runs on Postgres.", "The ledger also runs a nightly report.") is Verdict.ADDS
    assert judge("The ledger runs on Postgres.", "Tomas roasts on Tuesdays.") is Verdict.UNRELATED


def test_a_correction_must_name_the_subject_by_one_of_its_names() -> None:
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
def test_a_long_hostile_sentence_is_judged_in_bounded_time(piece: str) -> None:
    began = time.process_time()
    for text in (piece * (SENTENCE_MAX // len(piece)), piece * 100_000):
        judge("The ledger runs on Postgres.", text)
    assert time.process_time() - began < 2


# -- claims in texts


def test_context_header_lists_the_five_newest_claims_one_per_line() -> None:
    read = [ClaimRead(f"Fact {n}", f'Say\n"{n}"', datetime(2026, 3, n, tzinfo=UTC)) for n in range(1, 8)]
    lines = claims.context_header(read).splitlines()
    assert lines[0] == """Used to say "Fact 7" until 2026-03-07; now says "Say '7'"."""
    assert len(lines) == 5


def test_quotes_in_a_line_are_statements_of_the_cited_sources() -> None:
    body = "- 2026-04-03: “Ana \\*lives\\* in Porto.” “She \\[sings\\].” [^a] [^b]\nAna “says” so."
    assert claims.statements(body) == [
        Statement(0, "Ana *lives* in Porto.", ("a", "b")),
        Statement(0, "She [sings].", ("a", "b")),
    ]
    first = claims.statements(body)[0]
    assert claims.without_statement(body, first) == "- 2026-04-03: “She \\[sings\\].” [^a] [^b]\nAna “says” so."
    alone = "- “Ana lives in Porto.” [^a]\n- “More.” [^b]"
    (statement, _) = claims.statements(alone)
    assert claims.without_statement(alone, statement) == "- “More.” [^b]"
    assert claims.without_statement(alone, statement, "- “Faro.” [^c]") == "- “Faro.” [^c]\n- “More.” [^b]"


@given(st.lists(TEXTS, max_size=5))
def test_removing_a_statement_keeps_the_others(texts: list[str]) -> None:
    body = "\n".join([*texts, "- “Ana.” “Bo.” [^a]", "- “Ana.” [^b]"])
    while found := claims.statements(body):
        removed = found[0]
        after = claims.without_statement(body, removed)
        remaining = claims.statements(after)
        lines = [statement for statement in found if statement.line == removed.line and statement.text == removed.text]
        assert len(remaining) == len(found) - len(lines)
        assert [statement.text for statement in remaining] == [
            statement.text for statement in found if statement not in lines
        ]
        body = after


@given(st.text(max_size=80), st.text(max_size=20))
def test_the_digest_of_a_claim_ignores_whitespace_but_not_its_kind(fact: str, ref: str) -> None:
    assert claims.digest(f" {fact}\n", "document", ref) == claims.digest(" ".join(fact.split()), "document", ref)
    assert claims.digest(fact, "document", ref) != claims.digest(fact, "url", ref)
