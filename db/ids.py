"""Ids are UUIDv7, made here rather than in Postgres: they sort by time and work on every supported server."""

import os
import time
from datetime import datetime
from uuid import UUID

FRACTIONS = 4_096  # of a millisecond, that 12 bits can tell


def new_id() -> UUID:
    """Return 48 bits of milliseconds, 12 of the fraction of one, then 62 random bits (RFC 9562, 6.2, method 3).

    So ids that one process makes one after the other sort like that, within a millisecond, too.
    """
    millisecond, rest = divmod(time.time_ns(), 1_000_000)
    fraction = rest * FRACTIONS // 1_000_000
    own = int.from_bytes(os.urandom(8), "big") >> 2
    return UUID(int=millisecond << 80 | 0x7 << 76 | fraction << 64 | 0x2 << 62 | own)


def first_id(at: datetime) -> UUID:
    """Return an id that is not above those which are made from this moment on, and above nearly all before."""
    return UUID(int=int(at.timestamp() * 1_000) << 80)


def numbered_ids() -> tuple[str, int]:
    """The beginning of ids that a statement makes by itself, and a number that it counts on from in their last digits.

    Any number of such ids sort in the order of their numbers; they are as new as one that is made now.
    """
    first = new_id()
    return str(first)[:24], first.int & ((1 << 47) - 1)
