"""Metadata is what JSON can hold."""

from datetime import date
from typing import Any

import orjson
import pytest
from hypothesis import given

from content.limits import BadText
from content.values import DEPTH_MAX, VALUES_MAX, jsonable, scalar
from tests.content.strategies import JSON


@given(JSON)
def test_json_passes_unchanged(value: Any) -> None:
    assert jsonable(value) == value
    assert orjson.loads(orjson.dumps(jsonable(value))) == value


def test_keys_become_texts_and_dates_iso() -> None:
    assert jsonable({2: date(2026, 1, 2), True: (), None: 0}) == {"2": "2026-01-02", "true": [], "null": 0}


@pytest.mark.parametrize("value", [b"x", {1, 2}, float("nan"), float("inf"), 2**64, "\0", {"\ud800": 1}, {(1, 2): 3}])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(BadText):
        jsonable([value])


def test_depth_and_number_are_limited() -> None:
    deep: list[Any] = []
    for _ in range(DEPTH_MAX + 1):
        deep = [deep]
    with pytest.raises(BadText, match="nested"):
        jsonable(deep)
    with pytest.raises(BadText, match="more than"):
        jsonable([0] * VALUES_MAX)


def test_a_scalar_is_written_as_yaml_would() -> None:
    assert [scalar(value) for value in (True, 3, "x", None, [])] == ["true", "3", "x", None, None]
