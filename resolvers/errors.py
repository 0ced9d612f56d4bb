"""Errors that are shown to callers. All transports show the same code for an error."""

from typing import Any
from uuid import UUID


class CairnError(Exception):
    """An error whose message is shown to the caller unchanged, so it must not reveal what the caller may not read."""

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
    """The object does not exist, or the caller may not know that it exists."""

    code = "NOT_FOUND"


class BadInput(CairnError):
    """An argument is invalid. `field` is its path as the caller wrote it: `title`, `sections.0.bodyMd`."""

    code = "BAD_USER_INPUT"

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, **({"field": self.field} if self.field else {})}


class Conflict(CairnError):
    """Another write came first. The caller should read `current_version` of the page before trying again."""

    code = "CONFLICT"

    def __init__(self, message: str, current_version: int | None = None, page_id: UUID | None = None) -> None:
        super().__init__(message)
        self.current_version = current_version
        self.page_id = page_id

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, **({"currentVersion": self.current_version} if self.current_version else {})}


class SlugTaken(BadInput):
    """The slug is taken: another page of the type has or had it, or another owner of the tenant, or another tenant."""

    code = "SLUG_TAKEN"


class IdempotencyKeyNotAllowed(CairnError):
    """The response to this request contains a secret, so it must not be stored for repeated requests."""

    code = "IDEMPOTENCY_KEY_NOT_ALLOWED"


class LimitExceeded(CairnError):
    """The call exceeds a limit on a single call."""

    code = "LIMIT_EXCEEDED"


class Unavailable(CairnError):
    """The call cannot be served now; the same call may succeed in `retry_after` seconds.

    `reason` is set if a retry cannot succeed until an operator has intervened.
    """

    code = "UNAVAILABLE"
    retry_after = 1

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def extensions(self) -> dict[str, Any]:
        extensions = {"code": self.code, "retryAfter": self.retry_after}
        return extensions | {"reason": self.reason} if self.reason else extensions
