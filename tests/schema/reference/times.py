"""Parses moments as documents write them."""

from datetime import UTC, datetime


def moment(text: str) -> datetime:
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=UTC)
