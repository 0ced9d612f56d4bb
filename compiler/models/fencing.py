"""Fencing untrusted texts in a request to a model, between marks that nobody can guess.

This helps the model to tell data from instructions. The safety of the wiki does not depend on it, but on the checks of
the answers.
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
    """Return the text without invisible characters and without anything that looks like a mark of a fence."""
    text = INVISIBLE.sub("", CONTROL.sub(" ", text))
    return ANGLES.sub(lambda found: " ".join(found[0]), text)


def one_line(text: str, max_length: int) -> str:
    """Return the text on one line, cut to at most `max_length` characters."""
    text = " ".join(text.split())
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"
