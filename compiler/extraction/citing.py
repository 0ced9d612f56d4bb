"""The mark behind a line that names its source: `[^ref]`, as markdown's footnotes look.

No text of a source can make one: brackets in a quote are escaped. Editing keeps it, for it is plain text, and linkify
passes over it, for it is no link. A ref's spaces, brackets and markup are percent-encoded; one that is too long is
replaced by the source's id.
"""

import re
from functools import lru_cache
from urllib.parse import quote, unquote

from ..planner import SourceText

REF_MAX = 200
MARK = re.compile(r"(?<!\\)\[\^([^\[\]\s^\\]{1,1000})\]")
KEPT = re.compile(r"[\w./:@+=,;~$!-]+")


def mark(source: SourceText) -> str:
    """`[^j029]`"""
    return f"[^{kept_label(source)}]"


def kept_label(source: SourceText) -> str:
    """What stands between the brackets of its mark."""
    return _kept(source.ref) if 0 < len(source.ref) <= REF_MAX else str(source.id)


def marked_refs(text: str) -> list[str]:
    """The refs (or ids) of the sources that a text names, in order, each once."""
    return list(dict.fromkeys(map(unquote, MARK.findall(text))))


@lru_cache(maxsize=10_000)
def _kept(ref: str) -> str:
    """All but what could be markup or space stays as it is."""
    parts = re.split(f"({KEPT.pattern})", ref)
    return "".join(part if KEPT.fullmatch(part) else quote(part, safe="") for part in parts)
