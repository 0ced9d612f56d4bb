"""What is common to all that is answered."""

from pydantic import BaseModel


class Shown(BaseModel):
    """Something that is answered."""


class Listed(Shown):
    """`next` is the `cursor` of the next items; null after the last."""

    next: str | None
