"""Other processes of this machine."""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from contextlib import suppress


def is_alive(pid: int) -> bool:
    """Return whether there is such a process, whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class OutOfTime(Exception):
    """A process that took too long; it was killed."""


async def run_bounded(arguments: Sequence[str], data: bytes, seconds: float, most: int) -> tuple[int, bytes]:
    """Run a program on some input; return how it ended and at most so many bytes of what it wrote. Raises OutOfTime.

    It inherits nothing but its path: no variable of ours, and no open file. It never outlives this call.
    """
    process = await asyncio.create_subprocess_exec(
        *arguments, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={"PATH": os.defpath}, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(seconds):
            async with asyncio.TaskGroup() as group:
                group.create_task(feed(process.stdin, data))
                reading = group.create_task(read_most(process.stdout, most))
            return await process.wait(), reading.result()
    except TimeoutError:
        raise OutOfTime from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())


async def feed(pipe: asyncio.StreamWriter, data: bytes) -> None:
    """Write all of it, unless the reader has gone."""
    with suppress(BrokenPipeError, ConnectionResetError):
        pipe.write(data)
        await pipe.drain()
    pipe.close()


async def read_most(pipe: asyncio.StreamReader, most: int) -> bytes:
    """Read up to the end, or until so many bytes are there."""
    found = bytearray()
    while len(found) < most and (piece := await pipe.read(min(1 << 16, most - len(found)))):
        found += piece
    return bytes(found)
