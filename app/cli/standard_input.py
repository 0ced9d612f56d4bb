"""What comes on stdin: UTF-8, whatever the terminal speaks."""

import io
import sys

from resolvers.errors import BadInput


def piped() -> str:
    """All of it, without the mark that Windows puts before a text."""
    try:
        return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise BadInput(f"What comes on stdin is not UTF-8: {error.reason}.") from None
