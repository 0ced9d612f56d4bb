"""Errors of compiling and executing an operation."""

from typing import Any

from graphql import GraphQLError


class NotCompilable(Exception):
    """Raised where a selection cannot become SQL, so that graphql-core has to execute it. A mutation is an example."""


class FieldError(GraphQLError):
    """An error of one field. `code` and the keyword arguments become the `extensions` of the GraphQL error."""

    def __init__(self, message: str, code: str, **more: Any) -> None:
        super().__init__(message, extensions={"code": code, **more})


class BadInput(FieldError):
    """An invalid argument, with the code BAD_USER_INPUT."""

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(message, "BAD_USER_INPUT", **more)


class OperationError(GraphQLError):
    """An error of the whole operation. The engine does not retry the operation field by field with graphql-core."""


class RequestRejected(Exception):
    """Raised when a request is refused before execution, for example by a rate limit.

    It is not a GraphQL error: the HTTP layer answers it.
    """


class TooExpensive(OperationError):
    """Raised when the cost of an operation, counted in rows, exceeds the limit."""

    def __init__(self, cost: int, limit: int) -> None:
        message = f"This operation costs {cost} rows; the limit is {limit}. Ask for smaller pages or less depth."
        super().__init__(message, extensions={"code": "LIMIT_EXCEEDED", "cost": cost, "limit": limit})


class MoreErrors(GraphQLError):
    """The last error of a response, which says how many further errors are left out."""

    def __init__(self, left: int) -> None:
        message = f"There are {left} more errors than are shown."
        super().__init__(message, extensions={"code": "LIMIT_EXCEEDED", "left": left})
