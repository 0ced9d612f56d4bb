"""The mark behind a line that names its source: `[^ref]`, as markdown's footnotes look.

No text of a source can make one: brackets in a quote are escaped. Editing keeps it, for it is plain text, and linkify
passes over it, for it is no link. A ref's spaces, brackets and markup are percent-encoded; one that is too long is
replaced by the source's id.
"""

import re
from urllib.parse import quote, unquote

from ..planner import SourceText

REF_MAX = 200
MARK = re.compile(r"(?<!\\)\[\^([^\[\]\s^\\]{1,1000})\]")
KEPT = re.compile(r"[\w./:@+=,;~$!-]+")


def mark(source: SourceText) -> str:
    """`[^j029]`"""
    ref = source.ref if 0 < len(source.ref) <= REF_MAX else str(source.id)
    kept = "".join(
        part if KEPT.fullmatch(part) else quote(part, safe="") for part in re.split(f"({KEPT.pattern})", ref)
    )
    return f"[^{kept}]"


def marked_refs(text: str) -> list[str]:
    """The refs (or ids) of the sources that a text names, in order, each once."""
    return list(dict.fromkeys(unquote(found[1]) for found in MARK.finditer(text)))
