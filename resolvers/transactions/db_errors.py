"""Translate errors of Postgres into the errors of resolvers/errors.py.

Input is validated before it is written, so these errors come from races and from limits of the server. On Citus an
error has no fields for table and constraint: the name is read from the message, without the number of the shard.
"""

import errno
import re
from types import TracebackType
from typing import TypeGuard

import asyncpg

from db.database import AnswerTooLarge
from db.pool import is_lost
from db.waiters import Exhausted, NoAnswer
from observability.trace import record_refusal

from ..errors import BadInput, CairnError, Conflict, LimitExceeded, NotFound, Unavailable

CONSTRAINT = re.compile(r'constraint "(.+?)(?:_\d{5,})?"')
REFUSED = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    Exhausted,
    AnswerTooLarge,
)
READ_ONLY = "25006"
# Connection, rollback, resources, locks, operator or time-out, files.
UNAVAILABLE_CLASSES = ("08", "40", "53", "55", "57", "58")
CAUSES = {
    READ_ONLY: "read_only",
    "53100": "disk_full",
    "53300": "connections",
    "57014": "timeout",
    "08": "unreachable",
    "40": "contention",
    "53": "resources",
    "55": "locked",
    "57": "unreachable",
    "58": "files",
}
"""The cause of an Unavailable error, by SQLSTATE or by its class (the first two characters)."""
BUSY, OTHER = "busy", "other"
ALL_CAUSES = sorted({*CAUSES.values(), BUSY, OTHER})
VALUE_CLASSES = ("22", "54")  # classes: a value is invalid, or exceeds a limit
DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO}  # never raised by a connection
CONNECTION_ERRORS = (ConnectionError, TimeoutError)  # any other OSError concerns a file
MAX_MESSAGE_LENGTH = 300  # characters of a message
CONSTRAINT_STATES = ("23502", "23514")  # NOT NULL and CHECK constraints
ABORTED = "25P02"  # an earlier statement of the transaction failed, so this statement was not executed


class translated_db_errors:
    """A context manager that raises the translation of an error of Postgres, if there is one."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, REFUSED) and (translation := translate(error)) is not None:
            raise translation from error


def refusal(error: Exception) -> CairnError | None:
    """Return the translation of an error that a caller can cause or wait out, or None for a fault of the program."""
    if isinstance(error, Exhausted):
        return Unavailable("The database is busy, or cannot be reached. Try again in a moment.")
    if isinstance(error, AnswerTooLarge):
        return LimitExceeded(f"{error} Ask for fewer rows or fields.")
    if is_disk_error(error):
        return Unavailable(f"A file cannot be written: {error.strerror}. Make room, then try again.")
    if isinstance(error, asyncpg.InterfaceError) and not is_lost(error):
        return None
    if isinstance(error, OSError) and not isinstance(error, CONNECTION_ERRORS):
        return None
    if not isinstance(error, asyncpg.PostgresError):
        return Unavailable("The database cannot be reached. Try again in a moment.")
    state = error.sqlstate or ""
    if state == "23505":
        return Conflict(f"Somebody else wrote the same thing first{constraint_name(error)}. Read it again, then retry.")
    if state == "23503":
        return NotFound(f"Something that this refers to is gone{constraint_name(error)}. Read it again, then retry.")
    if state in CONSTRAINT_STATES or state.startswith(VALUE_CLASSES):
        return BadInput(f"The database cannot hold this value{constraint_name(error)}.")
    if state == READ_ONLY:
        return Unavailable("The database takes no writes: it is a standby, or was set to read only.", "read_only")
    if state.startswith(UNAVAILABLE_CLASSES) or state == ABORTED:
        return Unavailable("The database cannot do this now. Try again in a moment.")
    return None


def translate_error(error: Exception) -> Exception:
    """Return the error to show to the caller for an error that reached a transport.

    Most errors are translated already. This translates those outside of an operation, such as a failed rollback.
    """
    if isinstance(error, (asyncpg.PostgresError, Exhausted)) or is_lost(error):
        return translate(error) or error
    return error


def translate(error: Exception) -> CairnError | None:
    """Return the translation of an error as `refusal` does, and log the cause of an Unavailable error.

    Callers are not shown the cause. A command has no configured log; it prints the cause with the error.
    """
    translation = refusal(error)
    if isinstance(translation, Unavailable):
        cause = cause_of(error)
        record_refusal(cause)
        state = error.sqlstate if isinstance(error, asyncpg.PostgresError) else None
        import structlog  # here, because a command that only reads is quicker without it

        if structlog.is_configured():
            structlog.get_logger().warning(
                "database refused", cause=cause, sqlstate=state, error=type(error).__name__, message=words(error)
            )
    return translation


def cause_of(error: Exception) -> str:
    """Return the cause of an Unavailable error, one of ALL_CAUSES."""
    if isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
        return CAUSES.get(state) or CAUSES.get(state[:2], OTHER)
    if isinstance(error, NoAnswer | TimeoutError):
        return "timeout"
    if isinstance(error, Exhausted):
        return BUSY
    return "files" if is_disk_error(error) else "unreachable"


def is_disk_error(error: BaseException) -> TypeGuard[OSError]:
    """Return whether an error concerns a file of this machine, and not the connection to Postgres."""
    return isinstance(error, OSError) and error.errno in DISK_ERRORS


def words(error: BaseException) -> str:
    """Return the first line of an error message, shortened.

    For errors about the state of the server, that line holds no value of a client. The detail and the context, which
    follow it, may hold such values.
    """
    return next(iter(str(error).splitlines()), "")[:MAX_MESSAGE_LENGTH]


def constraint_name(error: asyncpg.PostgresError) -> str:
    """Return the name of the violated constraint in brackets, or an empty string if the message names none."""
    found = CONSTRAINT.search(str(error))
    return f" ({found[1]})" if found else ""
