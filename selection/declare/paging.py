"""Paging: the part of a list that is asked for, by limit or by Relay's first/after/last/before."""

from contextlib import suppress

from ..compile.parameters import Fixed, Getter
from ..errors import BadInput
from .arguments import Argument
from .mapping import Paging

PAGING = {"limit", "first", "after", "last", "before"}


class PageArgs:
    """The asked part of one list."""

    def __init__(self, arguments: dict[str, Argument], paging: Paging) -> None:
        given = {name: argument.get for name, argument in arguments.items() if argument.value is not None}
        if "first" in given and "last" in given:
            raise BadInput("first and last together have no meaning; ask for one.")
        self.after: Getter | None = given.get("after")
        self.before: Getter | None = given.get("before")
        self.backward = "last" in given
        self.per_row = paging.per_row
        asked = given.get("last") or given.get("first") or given.get("limit")
        self.size = asked_size(asked, paging) if asked else Fixed(paging.default)


def asked_size(asked: Getter, paging: Paging) -> Getter:
    if isinstance(asked, Fixed):
        with suppress(BadInput):  # each request is told so, before any SQL
            return Fixed(size_of(asked.value, paging))
    return lambda request: size_of(asked(request), paging)


def size_of(value: int, paging: Paging) -> int:
    if paging.least is not None:
        value = max(value, paging.least)
    if value < 0:
        raise BadInput("A list cannot have a negative size.")
    return min(value, paging.most)


def length(items: Argument) -> Getter:
    """Return a getter of the number of items in a list that is an argument."""
    return lambda request: len(items.get(request))
