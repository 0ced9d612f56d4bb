"""Tests that wait for something fail when it does not come."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import within

TESTS = Path(__file__).parent
BOUNDS = ("monotonic()", "poll()", "is_alive()")
"""What bounds a loop where its condition asks for it: a moment, or the end of a process."""


async def test_a_wait_ends_with_what_did_not_come() -> None:
    with pytest.raises(AssertionError, match=r"^After 0\.05 s there was no answer\.$"):
        async with within("there was no answer", 0.05):
            await asyncio.Event().wait()


async def test_a_timeout_of_what_is_waited_for_is_its_own() -> None:
    with pytest.raises(TimeoutError, match="own"):
        async with within("there was no answer"):
            raise TimeoutError("own")


def test_no_test_waits_for_ever() -> None:
    found = [f"{path.relative_to(TESTS)}:{line}" for path in sorted(TESTS.rglob("*.py")) for line in unbounded(path)]
    assert found == [], "A loop that sleeps until something holds stands in `async with within(what is missing)`."


def unbounded(path: Path) -> Iterator[int]:
    """The lines of loops that do nothing but sleep until something holds, and have no bound."""

    def look(node: ast.AST, *, is_bound: bool) -> Iterator[int]:
        if isinstance(node, ast.AsyncWith):
            calls = [ast.unparse(item.context_expr) for item in node.items]
            is_bound = is_bound or any(call.startswith(("asyncio.timeout(", "within(")) for call in calls)
        elif isinstance(node, ast.While) and not is_bound and only_waits(node):
            yield node.lineno
        for child in ast.iter_child_nodes(node):
            yield from look(child, is_bound=is_bound)

    yield from look(ast.parse(path.read_text()), is_bound=False)


def only_waits(loop: ast.While) -> bool:
    texts = [ast.unparse(statement) for statement in loop.body]
    if any(bound in text for bound in BOUNDS for text in (ast.unparse(loop.test), *texts)):
        return False
    return any("sleep(" in text for text in texts) and all("sleep(" in text or "assert" in text for text in texts)
