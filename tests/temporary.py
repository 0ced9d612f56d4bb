"""Puts temporary folders in memory: on a disk, creating and removing a database takes longer than most tests."""

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path

MEMORY = Path("/dev/shm")  # Linux alone has it
PREFIX = "cairn-tests-"
OWNER = "owner"
FREE_MIN = 2 << 30  # bytes that must be free there; a run of all tests with three workers needs a quarter of them


def use_memory(memory: Path = MEMORY) -> None:
    """Put the temporary folders of this run in memory, unless TMPDIR is set or there is too little memory.

    pytest's own folders stay on the disk, where they can be inspected after a failure.
    """
    if "TMPDIR" not in os.environ and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= FREE_MIN:
        remove_abandoned(memory)
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        os.environ["TMPDIR"] = str(make_folder(memory))
        tempfile.tempdir = None
        atexit.register(shutil.rmtree, os.environ["TMPDIR"], ignore_errors=True)
    elif (owner := Path(tempfile.gettempdir()) / OWNER).exists():
        flock(os.open(owner, os.O_RDONLY), LOCK_SH)  # this is a worker, which has inherited TMPDIR


def make_folder(memory: Path) -> Path:
    """Return a new folder that later runs keep until this process and its workers have ended, however they end."""
    place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=memory))
    place.chmod(0o755)  # Postgres must get into it, with an account of its own
    made = place / "new"
    flock(os.open(made, os.O_RDONLY | os.O_CREAT), LOCK_SH)
    made.rename(place / OWNER)
    return place


def remove_abandoned(memory: Path) -> None:
    """Remove the folders of runs that have no process left."""
    for owner in memory.glob(f"{PREFIX}*/{OWNER}"):
        with suppress(OSError), owner.open("rb") as lock:
            flock(lock, LOCK_EX | LOCK_NB)  # refused while a process of its run lives
            shutil.rmtree(owner.parent)
