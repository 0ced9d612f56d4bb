"""`Deadline` stops operations that take too long and passes on cancellations by other tasks."""

import asyncio

import pytest

from app.http.limits import Deadline, OperationTimeout


async def answer() -> str:
    return "done"


async def test_an_operation_within_its_deadline_returns_its_result() -> None:
    deadline = Deadline(60)
    assert await deadline.within(answer()) == "done"
    assert not deadline.running


async def test_an_operation_over_its_deadline_is_stopped_but_not_its_task() -> None:
    deadline = Deadline(0.01)
    with pytest.raises(OperationTimeout):
        await deadline.within(asyncio.Event().wait())
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert await deadline.within(answer()) == "done"
    assert not deadline.running
    assert not deadline.stopped


async def test_a_cancellation_by_another_task_is_not_a_timeout() -> None:
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
    errors = await asyncio.gather(*slow, return_exceptions=True)
    assert [type(error) for error in errors] == [OperationTimeout] * 3
