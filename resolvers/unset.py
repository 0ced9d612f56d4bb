"""An argument that was not given, which is another thing than one given as nothing."""

from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar


class Unset(Enum):
    """The type of `UNSET`, its only value."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET

T = TypeVar("T")
Given: TypeAlias = T | Literal[Unset.UNSET]


def given(value: Given[T], otherwise: T) -> T:
    """The value, or what stands already when none was given."""
    return otherwise if value is UNSET else value
