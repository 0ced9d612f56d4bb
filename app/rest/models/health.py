"""Whether this can be used now."""

from typing import Literal

from .shown import Shown


class Health(Shown):
    status: Literal["ok"]
