"""How long texts may be, in characters, and which characters no text may hold."""

import re

TITLE_MAX = 500
SUMMARY_MAX = 2_000
BODY_MAX = 1_000_000
TAG_MAX = 100
TAGS_MAX = 50

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class BadText(ValueError):
    """A text that cannot be stored. The message says where, and what to do."""


def clean(text: str) -> str:
    """The text itself: NUL cannot be stored by Postgres, and half of a surrogate pair is not a character."""
    if found := UNSTORABLE.search(text):
        what = "NUL" if found[0] == "\0" else "half of a surrogate pair"
        raise BadText(f"the text holds {what} (U+{ord(found[0]):04X}) at character {found.start()}: remove it")
    return text
