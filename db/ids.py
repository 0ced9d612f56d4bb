"""Ids: UUIDv7, which sort by time. They are generated here, because not every supported Postgres can."""

import os
import time
from datetime import datetime
from uuid import UUID

FRACTIONS = 4_096  # fractions of a millisecond that 12 bits can express


def new_id() -> UUID:
    """Return a UUIDv7: 48 bits of milliseconds, 12 bits of the fraction, and 62 random bits (RFC 9562, 6.2, method 3).

    The fraction keeps ids of one process in the order of their creation within a millisecond, too.
    """
    millisecond, rest = divmod(time.time_ns(), 1_000_000)
    fraction = rest * FRACTIONS // 1_000_000
    random = int.from_bytes(os.urandom(8), "big") >> 2
    return UUID(int=millisecond << 80 | 0x7 << 76 | fraction << 64 | 0x2 << 62 | random)


def first_id(at: datetime) -> UUID:
    """Return a lower bound of the ids that are generated from this time on. Nearly all older ids are below it."""
    return UUID(int=int(at.timestamp() * 1_000) << 80)


def numbered_ids() -> tuple[str, int]:
    """Return the first 24 characters of ids that a statement generates itself, and the number of its first id.

    The number is in the last 12 hexadecimal digits, and the statement counts up from it. The ids sort in that order,
    and among other ids like one that is generated now.
    """
    first = new_id()
    return str(first)[:24], first.int & ((1 << 47) - 1)
