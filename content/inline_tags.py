"""Tags that stand in a text, as Obsidian has them: `#food`, `#travel/texas`."""

import re

from . import limits
from .prose import prose

TAG = re.compile(r"(?<!\S)#([\w/-]+)")


def inline_tags(text: str) -> tuple[str, ...]:
    """In their order, each once whatever its case. What is code or a comment says none, nor does a number."""
    if not TAG.search(text):
        return ()
    found: dict[str, str] = {}
    for tag in filter(is_tag, (written.strip("/") for written in TAG.findall(prose(text)))):
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def is_tag(written: str) -> bool:
    return len(written) <= limits.TAG.most and any(character.isalpha() for character in written)
