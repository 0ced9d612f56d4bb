"""How much a message may hold: known before the SDK reads it, which it does on the event loop."""

from graphql import GraphQLError

from selection import Limits
from selection.variables import extent

from .. import large_bodies
from ..request import Refused, parsed

DEPTH = 32


async def check_extent(body: bytes, most: int) -> None:
    """Refuse more than so many values in a message: what is left is long texts, which are read quickly.

    A short body cannot hold many, and one that is no JSON is for the SDK to refuse.
    """
    if len(body) > large_bodies.AT_ONCE:
        await large_bodies.read(len(body), lambda: check(body, most))


def check(body: bytes, most: int) -> None:
    try:
        message = parsed(body, "The message")
    except Refused:
        return
    try:
        extent({"message": message}, Limits(variable_values=most, variable_depth=DEPTH))
    except GraphQLError:
        raise Refused(413, f"A message holds {most} values at most, {DEPTH} levels deep.", "LIMIT_EXCEEDED") from None
