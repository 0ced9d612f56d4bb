"""Messages of graphql-transport-ws as clients send them. Each is refused where it is too large or too deep."""

from typing import Any

import orjson
from graphql import GraphQLError

from selection import Limits
from selection.variables import extent

from .. import large_bodies

OPENING_MAX = 16_384
"""Characters of any message but `subscribe`: a token takes 1,000 to 4,000. Before a credential, of every message."""
OPENING = Limits(variable_values=200, variable_depth=6)
ENVELOPE = 10  # values and levels around the variables of an operation


class BadMessage(Exception):
    """It is not read on; the connection ends with this reason."""


class TooMuch(Exception):
    """An operation whose payload holds more than the limits allow. `id` is the operation's."""

    def __init__(self, id: str, reason: str) -> None:
        super().__init__(reason)
        self.id, self.reason = id, reason


async def read_message(text: str | None, limits: Limits, *, is_acknowledged: bool) -> dict[str, Any]:
    """The message; raises BadMessage or TooMuch. A large one is read beside the event loop."""
    if text is None:
        raise BadMessage("a message is a JSON object, sent as text.")
    if not is_acknowledged and len(text) > OPENING_MAX:
        raise BadMessage(f"it has more than {OPENING_MAX} characters, and no credential has been accepted.")
    return await large_bodies.read(len(text), lambda: parsed(text, limits))


def parsed(text: str, limits: Limits) -> dict[str, Any]:
    try:
        message = orjson.loads(text)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise BadMessage("a message is a JSON object, sent as text.")
    if message.get("type") == "subscribe":
        most = Limits(
            variable_values=limits.variable_values + ENVELOPE, variable_depth=limits.variable_depth + ENVELOPE
        )
        if reason := excess(message, most):
            raise TooMuch(str(message.get("id"))[:255], reason.replace("variables hold", "payload holds"))
    elif len(text) > OPENING_MAX or excess(message, OPENING):
        raise BadMessage(
            f"other messages than subscribe have {OPENING_MAX} characters and {OPENING.variable_values} values at most,"
            f" {OPENING.variable_depth} levels deep."
        )
    return message


def excess(message: dict[str, Any], limits: Limits) -> str | None:
    """What is too much of it."""
    try:
        extent(message, limits)
    except GraphQLError as error:
        return error.message
    return None
