"""The reasons why a selection is not compiled, or not run."""

from typing import Any

from graphql import GraphQLError


class NotCompilable(Exception):
    """A selection that needs graphql-core: mutations, introspection."""


class Refused(GraphQLError):
    """An error of one field, with a code for programs and whatever else there is for them."""

    def __init__(self, message: str, code: str, **more: Any) -> None:
        super().__init__(message, extensions={"code": code, **more})


class BadInput(Refused):
    """An argument that no statement can be made of."""

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(message, "BAD_USER_INPUT", **more)


class Final(GraphQLError):
    """An error that answers the whole operation: running it again as values would only cost the same once more."""


class RequestRejected(Exception):
    """An error that refuses a request for now: nothing of it is run, and it is no answer to the operation."""


class TooExpensive(Final):
    """An operation that asks for more rows than one may return."""

    def __init__(self, cost: int, limit: int) -> None:
        message = f"This operation costs {cost} rows; the limit is {limit}. Ask for smaller pages or less depth."
        super().__init__(message, extensions={"code": "LIMIT_EXCEEDED", "cost": cost, "limit": limit})


class MoreErrors(GraphQLError):
    """The last error of an answer that has more of them than it shows."""

    def __init__(self, left: int) -> None:
        message = f"There are {left} more errors than are shown."
        super().__init__(message, extensions={"code": "LIMIT_EXCEEDED", "left": left})
