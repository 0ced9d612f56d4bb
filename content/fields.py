"""The fields of a note, taken out one after another; what nobody takes stays."""

from collections.abc import Iterator, Mapping
from typing import Any

from .values import scalar


class BadNote(ValueError):
    """A note that cannot become a page. The message says what to fix."""


class Fields:
    """`values` holds the fields that are not taken yet."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)

    def text(self, *names: str) -> str | None:
        """The first of these fields that has a value, on one line. The others stay where they are."""
        for name in names:
            value = _unwrapped(self.values.get(name))
            if value is None or value == "":
                self.values.pop(name, None)
                continue
            text = scalar(value)
            if text is None:
                raise BadNote(f"{name} is not a single text: write it as one")
            del self.values[name]
            return " ".join(text.split()) or None
        return None

    def texts(self, name: str, separator: str | None = ",") -> tuple[str, ...]:
        """A list, or one text with separators, without repetitions. A separator of None takes a text whole."""
        value = self.values.pop(name, None)
        if isinstance(value, str):
            value = value.split(separator) if separator else [value]
        stripped = (text.strip() for text in _flat(name, value))
        return tuple(dict.fromkeys(filter(None, stripped)))


def _unwrapped(value: Any) -> Any:
    """YAML reads an unquoted `[[Page]]` as a list in a list."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _flat(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(name, item)
    elif value is not None:
        text = scalar(value)
        if text is None:
            raise BadNote(f"{name} holds something that is no text: write a list of texts")
        yield text
