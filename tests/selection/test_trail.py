"""What is noted of a request, and that nothing is noted where nobody asked for it."""

import asyncio
from collections.abc import Iterator

import pytest

from lib.lru import LRU, Tally
from observability.trace import MOST_PARTS, TRAIL, Trail, note_error, noted, request_id


@pytest.fixture
def trail() -> Iterator[Trail]:
    trail = Trail("id")
    token = TRAIL.set(trail)
    yield trail
    TRAIL.reset(token)


def test_without_a_trail_nothing_is_noted() -> None:
    with noted("sql", "SELECT 1"):
        note_error("NOT_FOUND")
    assert request_id() is None


def test_parts_have_moments_and_the_kind_of_error_but_not_its_words(trail: Trail) -> None:
    with noted("wait"):
        pass
    with pytest.raises(ValueError, match="hunter2"), noted("sql", "SELECT 1"):
        raise ValueError("hunter2")
    wait, sql = trail.parts
    assert trail.began <= wait.began <= wait.ended <= sql.began <= sql.ended
    assert (wait.error, sql.error, sql.sql) == (None, "ValueError", "SELECT 1")
    assert trail.spent("sql") == sql.took
    assert "hunter2" not in repr(trail.parts)


def test_a_request_of_very_many_statements_is_noted_up_to_a_number(trail: Trail) -> None:
    for _ in range(MOST_PARTS + 1):
        with noted("sql", "SELECT 1"):
            pass
    assert len(trail.parts) == MOST_PARTS


async def test_tasks_of_one_request_write_into_one_trail_and_requests_into_their_own(trail: Trail) -> None:
    async def step(name: str) -> None:
        with noted("sql", name):
            await asyncio.sleep(0)

    async def other() -> int:
        TRAIL.set(Trail("other"))
        await step("c")
        found = TRAIL.get()
        return len(found.parts) if found else 0

    *_, count = await asyncio.gather(step("a"), step("b"), asyncio.create_task(other()))
    assert sorted(part.sql for part in trail.parts) == ["a", "b"]
    assert count == 1


async def test_a_cache_tells_how_often_it_helped_and_only_a_miss_is_a_part(trail: Trail) -> None:
    tally = Tally()
    cache: LRU[int] = LRU(2, "plan", tally)
    for key in (1, 1, 2, 3, 1):
        assert await cache.get_apart(key, lambda: 7) == 7
    assert (tally.hits, tally.misses, tally.evictions) == (1, 4, 2)
    assert [part.what for part in trail.parts] == ["plan"] * 4
