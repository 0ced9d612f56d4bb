"""An operation that runs out of time is stopped with an error; a cancellation by another task stays a cancellation."""

import asyncio

import pytest

from app.http.limits import Deadline, OperationTimeout


async def answer() -> str:
    return "done"


async def test_an_operation_that_ends_in_time_is_returned() -> None:
    deadline = Deadline(60)
    assert await deadline.within(answer()) == "done"
    assert not deadline.running


async def test_an_operation_that_takes_too_long_is_stopped_and_its_task_continues() -> None:
    deadline = Deadline(0.01)
    with pytest.raises(OperationTimeout):
        await deadline.within(asyncio.Event().wait())
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert await deadline.within(answer()) == "done"
    assert not deadline.running
    assert not deadline.stopped


async def test_a_cancellation_by_another_task_stays_a_cancellation() -> None:
    deadline = Deadline(60)
    task = asyncio.create_task(deadline.within(asyncio.Event().wait()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not deadline.running


async def test_each_of_several_operations_has_its_own_deadline() -> None:
    deadline = Deadline(0.02)
    slow = [asyncio.create_task(deadline.within(asyncio.Event().wait())) for _ in range(3)]
    assert await deadline.within(answer()) == "done"
    found = await asyncio.gather(*slow, return_exceptions=True)
    assert [type(one) for one in found] == [OperationTimeout] * 3
