"""Folding the fixed parts of a cost in advance does not change its total."""

from math import ceil
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from selection.compile.parameters import Fixed
from selection.limits import Cost

sizes = some.tuples(some.integers(0, 9), some.integers(1, 4), some.booleans())
trees: Any = some.recursive(
    some.tuples(sizes, some.just([])), lambda below: some.tuples(sizes, some.lists(below, max_size=4)), max_leaves=12
)
REQUEST: Any = None


def plant(cost: Cost, trees: list[Any]) -> int:
    """Add the lists below the cost, and return how many rows they have."""
    total = 0
    for (size, per_row, is_fixed), below in trees:
        child = cost.add(Fixed(size) if is_fixed else lambda request, size=size: size, per_row)
        total += ceil(size / per_row) + size * plant(child, below)
    return total


@given(some.lists(trees, max_size=4))
def test_folding_does_not_change_the_total_cost(trees: list[Any]) -> None:
    cost = Cost()
    expected = 1 + plant(cost, trees)
    assert cost.total(REQUEST) == expected
    cost.fold()
    assert cost.total(REQUEST) == expected


@given(some.lists(some.integers(0, 9), max_size=4))
def test_fixed_costs_fold_into_one_number(fixed: list[int]) -> None:
    cost = Cost()
    plant(cost, [((size, 2, True), [((size, 1, True), [])]) for size in fixed])
    cost.fold()
    assert not cost.children
