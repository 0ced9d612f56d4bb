"""Errors that a person at a terminal can do something about, in one line each."""

from typing import Any


def details(error: Exception) -> dict[str, Any]:
    """What programs are told besides: the lines of an ambiguous edit, the version of a conflict."""
    extensions = getattr(error, "extensions", None)
    return {name: value for name, value in extensions.items() if name != "code"} if extensions else {}


def quoted(error: Exception) -> str | None:
    """For people, below the message: the text that an edit may have meant, and how its own was looked for."""
    from resolvers.pages.edits import EditFailed

    if not isinstance(error, EditFailed) or error.nearest is None:
        return None
    return f"Looked for by {', '.join(error.passes)}. At line {error.nearest.line}:\n\n{error.nearest.text}"


def explained(error: Exception) -> tuple[str, str] | None:
    """Code and message; none for what can only be a fault of the program."""
    from pydantic import ValidationError

    from db.embedded import EmbeddedServerFailed
    from db.migrate import MigrationRefused
    from resolvers.errors import CairnError
    from resolvers.transactions import db_errors

    from ..http.validation_messages import said

    if isinstance(error, (CairnError, EmbeddedServerFailed, MigrationRefused)):
        return error.code, str(error)
    if isinstance(error, ValidationError):
        return "BAD_SETTING", "; ".join(setting(one["loc"], said(one)) for one in error.errors())
    known = db_errors.explained(error)
    if isinstance(known, CairnError):
        return known.code, known.message
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return "UNREADABLE", f"{where}{error.strerror or error}."
    return None


def with_field(error: Exception, message: str) -> str:
    """For people: the name of the field to fix before a message that does not have it. Programs are told both."""
    field = getattr(error, "field", None)
    return f"{field}: {message}" if field and field.lower() not in message.lower() else message


def setting(place: tuple[int | str, ...], message: str) -> str:
    """What is wrong with a variable, or with several together, which their message names."""
    return f"CAIRN_{str(place[0]).upper()}: {message}" if place else message
