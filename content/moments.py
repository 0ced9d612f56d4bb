"""Moments as files write them: a date, or a date and a time."""

import re
from datetime import UTC, datetime, time

WRITTEN = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?: ?(?:[Zz]|[+-]\d\d:?\d\d))?)?")


def moment(text: str) -> datetime | None:
    """The moment, in UTC where no zone is given; None for what is none. A date is its first moment.

    The years 1 and 9999 are for placeholders: their ends are infinity in a database, and have none in other zones.
    """
    if not WRITTEN.fullmatch(text.strip()):
        return None
    try:
        found = datetime.fromisoformat(text.strip().upper().replace(" ", "T", 1).replace(" ", ""))
        found = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return found if 1 < found.year < 9999 else None


def written(moment: datetime) -> str:
    """The shortest that `moment` reads as the same: `2026-02-15`, `2026-02-15T10:00:00.5Z`."""
    moment = moment.astimezone(UTC)
    if moment.timetz() == time(tzinfo=UTC):
        return moment.date().isoformat()
    return moment.replace(tzinfo=None).isoformat() + "Z"
