"""Ids are UUIDv7, made here rather than in Postgres: they sort by time and work on every supported server."""

import os
import time
from uuid import UUID


def new_id() -> UUID:
    """48 bits of milliseconds, then 74 random bits (RFC 9562)."""
    stamp = time.time_ns() // 1_000_000
    value = (stamp << 80) | int.from_bytes(os.urandom(10), "big")
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    return UUID(int=(value & ~(0x3 << 62)) | (0x2 << 62))
