"""Runs and looks for other processes on this machine."""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from contextlib import suppress


def is_alive(pid: int) -> bool:
    """Return whether a process with this id exists, whichever user it runs as."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class ProcessTimeout(Exception):
    """A process took too long and was killed."""


async def run_bounded(arguments: Sequence[str], data: bytes, seconds: float, max_output: int) -> tuple[int, bytes]:
    """Run a program with `data` as its input; return its exit code and the first `max_output` bytes of its output.

    The program gets no environment variable but PATH, and no open files. It never outlives this call. Raises
    ProcessTimeout.
    """
    process = await asyncio.create_subprocess_exec(
        *arguments, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={"PATH": os.defpath}, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(seconds):
            async with asyncio.TaskGroup() as group:
                group.create_task(write_input(process.stdin, data))
                reading = group.create_task(read_output(process.stdout, max_output))
            return await process.wait(), reading.result()
    except TimeoutError:
        raise ProcessTimeout from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())


async def write_input(pipe: asyncio.StreamWriter, data: bytes) -> None:
    """Write the data and close the pipe. A process that closes its end early is no error."""
    with suppress(BrokenPipeError, ConnectionResetError):
        pipe.write(data)
        await pipe.drain()
    pipe.close()


async def read_output(pipe: asyncio.StreamReader, max_bytes: int) -> bytes:
    """Read to the end of the output, but `max_bytes` at most."""
    output = bytearray()
    while len(output) < max_bytes and (piece := await pipe.read(min(1 << 16, max_bytes - len(output)))):
        output += piece
    return bytes(output)
