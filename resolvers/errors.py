"""Errors that a caller can meet, each with the code that every transport shows."""

from typing import Any
from uuid import UUID


class CairnError(Exception):
    """An error shown to the caller as it stands: the message must help and not tell what the caller may not know."""

    code = "INTERNAL"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code}


class Unauthenticated(CairnError):
    """The credential is not valid: malformed, expired, revoked or unknown."""

    code = "UNAUTHENTICATED"


class NoCredential(Unauthenticated):
    """No credential was sent."""


class Forbidden(CairnError):
    """The credential is valid but may not do this."""

    code = "FORBIDDEN"


class NotFound(CairnError):
    """There is no such thing, or none that the caller may know of."""

    code = "NOT_FOUND"


class BadInput(CairnError):
    """`field` names the argument to fix, as the caller wrote it: `title`, `sections.0.bodyMd`."""

    code = "BAD_USER_INPUT"

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, **({"field": self.field} if self.field else {})}


class Conflict(CairnError):
    """Somebody else was first. `current_version` of the page is what to look at before trying again."""

    code = "CONFLICT"

    def __init__(self, message: str, current_version: int | None = None, page_id: UUID | None = None) -> None:
        super().__init__(message)
        self.current_version = current_version
        self.page_id = page_id

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, **({"currentVersion": self.current_version} if self.current_version else {})}


class SlugTaken(BadInput):
    """Another page of the type has this slug, or had it; or another owner of the tenant, or another tenant, has it."""

    code = "SLUG_TAKEN"


class IdempotencyKeyNotAllowed(CairnError):
    """The answer to this request holds a secret, which must not be stored for repetitions."""

    code = "IDEMPOTENCY_KEY_NOT_ALLOWED"


class LimitExceeded(CairnError):
    """The call asks for more than one call may."""

    code = "LIMIT_EXCEEDED"


class Unavailable(CairnError):
    """The call cannot be served now: the same call may work in `retry_after` seconds. `reason` is told where no retry
    helps until an operator has done something."""

    code = "UNAVAILABLE"
    retry_after = 1

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def extensions(self) -> dict[str, Any]:
        told = {"code": self.code, "retryAfter": self.retry_after}
        return told | {"reason": self.reason} if self.reason else told
