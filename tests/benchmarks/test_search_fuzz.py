"""Strange questions are repeatable for a seed, have all lengths up to the longest, and are text that can be sent."""

import random

from benchmarks.search.fuzz import LONGEST, OPERATORS, strange_question


def questions(seed: int) -> list[str]:
    rng = random.Random(seed)
    return [strange_question(rng) for _ in range(300)]


def test_questions_depend_only_on_the_seed() -> None:
    assert questions(1) == questions(1) != questions(2)


def test_questions_range_up_to_the_longest_size_and_contain_no_nul() -> None:
    sizes = [len(text.encode()) for text in questions(1)]
    assert min(sizes) < 50
    assert LONGEST - 4 < max(sizes) <= LONGEST
    assert not any("\0" in text for text in questions(1))


def test_questions_contain_every_operator() -> None:
    texts = questions(1)
    assert all(any(operator in text for text in texts) for operator in OPERATORS)
