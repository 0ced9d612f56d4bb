"""Texts of others as a model is shown them: between marks that nobody can guess and no text can hold.

It is a help for the model, not what keeps a wiki safe: that are the checks of what it answers.
"""

import re
import secrets

from content.normalization import INVISIBLE

ANGLES = re.compile(r"<{3,}|>{3,}")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


class Fence:
    """The marks of one request."""

    def __init__(self) -> None:
        self.key = secrets.token_hex(8)

    def around(self, name: str, text: str) -> str:
        return f"<<<{name} {self.key}>>>\n{neutralise(text)}\n<<<end of {name} {self.key}>>>"


def neutralise(text: str) -> str:
    """Return the text without anything that looks like such a mark, and without what cannot be seen."""
    text = INVISIBLE.sub("", CONTROL.sub(" ", text))
    return ANGLES.sub(lambda found: " ".join(found[0]), text)


def one_line(text: str, most: int) -> str:
    """Return a title or the like on one line, cut so that a long one does not push out the rest."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
