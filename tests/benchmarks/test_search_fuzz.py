"""Strange questions: the same for a seed, of all lengths up to the longest, and each one text that can be sent."""

import random

from benchmarks.search.fuzz import LONGEST, OPERATORS, strange_question


def drawn(seed: int) -> list[str]:
    rng = random.Random(seed)
    return [strange_question(rng) for _ in range(300)]


def test_a_seed_has_its_own_questions() -> None:
    assert drawn(1) == drawn(1) != drawn(2)


def test_questions_are_short_and_as_long_as_may_be_and_can_be_sent() -> None:
    sizes = [len(text.encode()) for text in drawn(1)]
    assert min(sizes) < 50
    assert LONGEST - 4 < max(sizes) <= LONGEST
    assert not any("\0" in text for text in drawn(1))


def test_operators_stand_in_them() -> None:
    texts = drawn(1)
    assert all(any(operator in text for text in texts) for operator in OPERATORS)
