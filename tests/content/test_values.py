"""Metadata are converted to values that JSON can hold."""

from datetime import date
from typing import Any

import orjson
import pytest
from hypothesis import given

from content.limits import METADATA_DEPTH, METADATA_VALUES, BadText
from content.values import copy_bounded, jsonable, scalar
from tests.content.strategies import JSON


@given(JSON)
def test_json_passes_unchanged(value: Any) -> None:
    assert jsonable(value) == value
    assert orjson.loads(orjson.dumps(jsonable(value))) == value


def test_keys_become_texts_and_dates_iso() -> None:
    assert jsonable({2: date(2026, 1, 2), True: (), None: 0}) == {"2": "2026-01-02", "true": [], "null": 0}


@pytest.mark.parametrize("value", [b"x", {1, 2}, float("nan"), float("inf"), 2**64, "\0", {"\ud800": 1}, {(1, 2): 3}])
def test_values_that_json_cannot_hold_are_refused(value: Any) -> None:
    with pytest.raises(BadText):
        jsonable([value])


def test_copy_bounded_limits_depth_and_number_of_values() -> None:
    deep: list[Any] = []
    for _ in range(METADATA_DEPTH.maximum - 1):
        deep = [deep]
    assert copy_bounded({"a": deep}) == {"a": deep}
    with pytest.raises(BadText, match="too deep"):
        copy_bounded({"a": [deep]})
    many = [0] * (METADATA_VALUES.maximum - 2)
    assert copy_bounded({"a": many}) == {"a": many}
    with pytest.raises(BadText, match="too many"):
        copy_bounded({"a": [0, *many]})


def test_jsonable_accepts_bounded_metadata_nested_in_a_record() -> None:
    deep: list[Any] = []
    for _ in range(METADATA_DEPTH.maximum - 1):
        deep = [deep]
    assert jsonable({"revision": {"metadata": {"a": deep, "b": [0] * METADATA_VALUES.maximum}}})
    for _ in range(100):
        deep = [deep]
    with pytest.raises(BadText, match="too deep"):
        jsonable(deep)


def test_scalars_are_written_as_in_yaml() -> None:
    assert [scalar(value) for value in (True, 3, "x", None, [])] == ["true", "3", "x", None, None]
