"""Headers as most people write them, read line by line: fifty times as fast as by a reader of all of YAML.

A line is `key: text`, `key: "text"`, `key: [text, text]`, or `key:` with lines of `- text` under it. What is read is
what YAML means by it; a header with anything else in it is not read at all.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from .values import INTEGERS

# What can stand without quotes and mean itself, to readers of YAML 1.2 and of 1.1.
PLAIN = re.compile(r"(?:[^\W_]|/(?=\w))(?:[\w.,()/'+&%@=$*~!?;-]|:(?=[\w/])| (?=[\w(/&+-])){0,200}")
TAKEN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
NUMERIC = frozenset("-0123456789NItf")  # what JSON begins a number with, or what Python takes for one
ENTRY = re.compile(
    r"(?P<key>[A-Za-z][A-Za-z0-9_-]{0,100}):(?: (?P<value>[^\n]+)|(?P<items>(?:\n {0,8}- [^\n]+)*))(?:\n|\Z)"
)
QUOTED = re.compile(r"\"([\w ,.:;!?'()\[\]{}/|#&+*%@=$~<>-]*)\"")
LIST = re.compile(r"\[([^\W_][\w.()/'+, -]*)\]")


class NotPlain(Exception):
    """Only a reader of all of YAML knows what this means."""


def read_plain(header: str) -> dict[str, Any] | None:
    """Its values: texts, lists of texts, and None where nothing is given. None when it is not plain."""
    found: dict[str, Any] = {}
    try:
        for key, value in entries(header):
            if key in found:
                return None
            found[key] = value
    except NotPlain:
        return None
    return found


def entries(header: str) -> Iterator[tuple[str, Any]]:
    at = 0
    while at < len(header):
        entry = ENTRY.match(header, at)
        if entry is None:
            raise NotPlain
        at = entry.end()
        yield plain(entry["key"]), read_value(entry["value"]) if entry["value"] else read_items(entry["items"])


def read_value(value: str) -> str | list[str]:
    listed = LIST.fullmatch(value)
    return [plain(text.strip(" ")) for text in listed[1].split(",")] if listed else read_text(value)


def read_items(items: str) -> list[str] | None:
    parted = [line.partition("- ") for line in items.split("\n")[1:]]
    if len({margin for margin, *_ in parted}) > 1:
        raise NotPlain
    return [read_text(text) for *_, text in parted] or None


def read_text(text: str) -> str:
    quoted = QUOTED.fullmatch(text)
    return quoted[1] if quoted else plain(text)


def plain(text: str) -> str:
    if not is_plain(text):
        raise NotPlain
    return text


def is_plain(text: str) -> bool:
    """Whether it is a text that means itself without quotes."""
    return bool(PLAIN.fullmatch(text)) and text.lower() not in TAKEN and not is_json_number(text)


def is_json_number(text: str) -> bool:
    if text[:1] not in NUMERIC:
        return False
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return json.dumps(value) == text and (isinstance(value, float) or value in INTEGERS)
