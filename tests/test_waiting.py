"""Tests that wait for an event fail with a message if it does not occur in time."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import within

TESTS = Path(__file__).parent
BOUNDS = ("monotonic()", "poll()", "is_alive()")
"""Texts in a loop that bound it: a deadline, or the end of a process."""


async def test_a_wait_that_times_out_fails_with_its_message() -> None:
    with pytest.raises(AssertionError, match=r"^After 0\.05 s there was no answer\.$"):
        async with within("there was no answer", 0.05):
            await asyncio.Event().wait()


async def test_a_timeout_error_raised_inside_a_wait_is_passed_on() -> None:
    with pytest.raises(TimeoutError, match="own"):
        async with within("there was no answer"):
            raise TimeoutError("own")


def test_every_waiting_loop_of_the_tests_has_a_bound() -> None:
    found = [f"{path.relative_to(TESTS)}:{line}" for path in sorted(TESTS.rglob("*.py")) for line in unbounded(path)]
    assert found == [], "A loop that sleeps until something holds stands in `async with within(what is missing)`."


def unbounded(path: Path) -> Iterator[int]:
    """Yield the lines of loops that only sleep until a condition holds, and have no bound."""

    def visit(node: ast.AST, *, is_bound: bool) -> Iterator[int]:
        if isinstance(node, ast.AsyncWith):
            calls = [ast.unparse(item.context_expr) for item in node.items]
            is_bound = is_bound or any(call.startswith(("asyncio.timeout(", "within(")) for call in calls)
        elif isinstance(node, ast.While) and not is_bound and only_waits(node):
            yield node.lineno
        for child in ast.iter_child_nodes(node):
            yield from visit(child, is_bound=is_bound)

    yield from visit(ast.parse(path.read_text()), is_bound=False)


def only_waits(loop: ast.While) -> bool:
    texts = [ast.unparse(statement) for statement in loop.body]
    if any(bound in text for bound in BOUNDS for text in (ast.unparse(loop.test), *texts)):
        return False
    return any("sleep(" in text for text in texts) and all("sleep(" in text or "assert" in text for text in texts)
