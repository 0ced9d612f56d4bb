"""Read and write the YAML header of a markdown file.

The header is YAML 1.2, where `no` and `on` are texts. A value that JSON would write differently, such as a date, `1.10`
or `007`, is read as a text.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.resolver import VersionedResolver

from ..limits import BadText, clean
from ..values import DEPTH_MAX, INTEGERS, jsonable

# Texts that need no quotes to be read as themselves, by readers of YAML 1.2 and of YAML 1.1.
PLAIN = re.compile(r"(?:[^\W_]|/(?=\w))(?:[\w.,()/'+&%@=$*~!?;-]|:(?=[\w/])| (?=[\w(/&+-])){0,200}")
RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
NUMERIC = frozenset("-0123456789NItf")  # first characters of the numbers and constants of Python's JSON reader
ENTRY = re.compile(
    r"(?P<key>[A-Za-z][A-Za-z0-9_-]{0,100}):(?: (?P<value>[^\n]+)|(?P<items>(?:\n {0,8}- [^\n]+)*))(?:\n|\Z)"
)
QUOTED = re.compile(r"\"([\w ,.:;!?'()\[\]{}/|#&+*%@=$~<>-]*)\"")
LIST = re.compile(r"\[([^\W_][\w.()/'+, -]*)\]")


class NotPlain(Exception):
    """The header is YAML that needs a full YAML reader."""


def read_plain(header: str) -> dict[str, Any] | None:
    """Read a simple header without a YAML reader; return None if the header is not that simple.

    The values are texts, lists of texts, and None for an empty value.
    """
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
    split_lines = [line.partition("- ") for line in items.split("\n")[1:]]
    if len({margin for margin, *_ in split_lines}) > 1:
        raise NotPlain
    return [read_text(text) for *_, text in split_lines] or None


def read_text(text: str) -> str:
    quoted = QUOTED.fullmatch(text)
    return quoted[1] if quoted else plain(text)


def plain(text: str) -> str:
    if not is_plain(text):
        raise NotPlain
    return text


def is_plain(text: str) -> bool:
    """Return whether a YAML reader reads the text without quotes as the same text."""
    return bool(PLAIN.fullmatch(text)) and text.lower() not in RESERVED and not is_json_number(text)


def is_json_number(text: str) -> bool:
    if text[:1] not in NUMERIC:
        return False
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return json.dumps(value) == text and (isinstance(value, float) or value in INTEGERS)


HEADER_MAX = 256 * 1024  # characters
ALIASES_MAX = 10
# The values that any header may have. A longer header may have one for each character. Aliases multiply values.
VALUES_MIN = 20_000

OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\r|\n)")
CLOSING = re.compile(r"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)")
BLANK = re.compile(r"[ \t]*(?:\r\n|\r|\n)")
BOM = "\ufeff"
# A header of Hexo may lack the opening line: keys and items of lists up to the closing line.
BARE = re.compile(
    r"\ufeff?(?=(?:.{0,1000}\n){0,30}?(?:title|date)[ \t]*:)"
    r"(?:(?:[a-zA-Z_]{2,40}[ \t]*:|[ \t]*- |[ \t]*#)[^\n]{0,1000}\n){1,60}---[ \t]*(?:\r?\n|\Z)"
)
TOML_OPENING = re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n")
TOML_CLOSING = re.compile(r"(?<=\n)\+\+\+[ \t]*(?:\r?\n|\Z)")
# Characters that YAML allows only as escapes, or reads as line ends.
UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
KEY_MAX = 1_000  # characters of a key; a longer key is written after `?`


class BadFrontmatter(ValueError):
    """A header cannot be read. The message names the line of the file."""


def split(text: str) -> tuple[dict[str, Any], str]:
    """Return the values of the header, and the text after it without one blank line.

    For a text without a header, return {} and the text. Raises BadFrontmatter.
    """
    opening = OPENING.match(text)
    if not opening:
        return {}, text
    closing = CLOSING.search(text, opening.end())
    if not closing:
        raise BadFrontmatter("line 1: the frontmatter is not closed: end it with a line of three dashes")
    header = text[opening.end() : closing.start()]
    if len(header) > HEADER_MAX and not header.startswith("{"):
        raise BadFrontmatter(f"line 1: the frontmatter is longer than {HEADER_MAX:,} characters: shorten it")
    blank = BLANK.match(text, closing.end())
    return _read(header), text[blank.end() if blank else closing.end() :]


def split_any(text: str) -> tuple[dict[str, Any], str]:
    """Split a text as `split` does. The header may also be TOML, as in Hugo, or lack its opening line, as in Hexo."""
    if BARE.match(text):
        try:
            return split(f"---\n{text.removeprefix(BOM)}")
        except BadFrontmatter:
            return {}, text
    opening = TOML_OPENING.match(text)
    closing = TOML_CLOSING.search(text, opening.end(), opening.end() + HEADER_MAX) if opening else None
    if not opening or not closing:
        return split(text)
    try:
        values = dict(jsonable(_as_texts(tomllib.loads(text[opening.end() : closing.start()].replace("\r\n", "\n")))))
    except (tomllib.TOMLDecodeError, BadText, RecursionError) as error:
        raise BadFrontmatter(f"line 1: the frontmatter is not TOML: {error}") from error
    blank = BLANK.match(text, closing.end())
    return values, text[blank.end() if blank else closing.end() :]


def _as_texts(value: Any) -> Any:
    """Return a value of TOML with its dates and times as texts in ISO 8601."""
    if isinstance(value, dict):
        return {key: _as_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_texts(item) for item in value]
    return value.isoformat() if isinstance(value, date | time) else value


def join(metadata: Mapping[str, Any], body: str) -> str:
    """Return the text that `split` splits into this metadata and body. Without metadata it is the body alone."""
    if not metadata and not OPENING.match(body):
        return body
    values = jsonable(metadata)
    header = "".join(f"{line}\n" for line in _mapping(values, ""))
    if len(header) > HEADER_MAX:
        header = f"{_escaped(json.dumps(values, ensure_ascii=False))}\n"
    return f"---\n{header}---\n\n{body}"


def _read(header: str) -> dict[str, Any]:
    if header.startswith("{"):
        return read_json(header)
    values = read_plain(header)
    return read_in_full(header) if values is None else values


def read_json(header: str) -> dict[str, Any]:
    """Read a header that is one line of JSON, which is YAML too.

    `join` writes long headers in this form, because YAML readers are slow.
    """
    try:
        return dict(jsonable(json.loads(clean(header), object_pairs_hook=_without_duplicates)))
    except (BadText, ValueError, RecursionError) as error:
        if len(header) > HEADER_MAX:
            raise BadFrontmatter(f"line 1: the frontmatter is not JSON: {error}") from error
    return read_in_full(header)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dict. Raises ValueError for a duplicate key, which YAML does not allow."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def read_in_full(header: str) -> dict[str, Any]:
    try:
        values = _yaml().load(clean(header))
        if isinstance(values, dict):
            return dict(jsonable(values, max(len(header), VALUES_MIN)))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 2 if mark else 1
        raise BadFrontmatter(f"line {line}: the frontmatter is not YAML: {error.problem or error.context}") from error
    except ReaderError as error:
        line = header.count("\n", 0, error.position) + 2
        raise BadFrontmatter(f"line {line}: the frontmatter holds a control character: remove it") from error
    except (YAMLError, BadText, ValueError, RecursionError) as error:
        raise BadFrontmatter(f"line 1: the frontmatter cannot be read: {error}") from error
    if values is None:
        return {}
    raise BadFrontmatter("line 2: the frontmatter is not a mapping: write `key: value` on each line")


class BoundedComposer(Composer):
    """A YAML composer that refuses many aliases and deep nesting, which make a short header expensive to read."""

    aliases = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.warn_double_anchors = False
        event = self.parser.peek_event()
        self.aliases += isinstance(event, AliasEvent)
        if self.aliases > ALIASES_MAX:
            raise MarkedYAMLError(problem=f"more than {ALIASES_MAX} aliases", problem_mark=event.start_mark)
        if self.depth > DEPTH_MAX:
            raise MarkedYAMLError(problem=f"nested more than {DEPTH_MAX} deep", problem_mark=event.start_mark)
        return super().compose_node(parent, index)


class VerbatimResolver(VersionedResolver):
    """A YAML resolver that reads a date as a text, and also a number that JSON would write differently."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        tag = super().resolve(kind, value, implicit)
        name = str(tag).rpartition(":")[2]
        stays = name in ("timestamp", "value") or (name in ("int", "float") and not is_json_number(value))
        return self.DEFAULT_SCALAR_TAG if stays else tag


def _mapping(values: Mapping[str, Any], margin: str) -> Iterator[str]:
    """Yield the lines of a mapping, in the order of its keys."""
    for key, value in values.items():
        name = _scalar(key)
        if len(name) > KEY_MAX:
            yield f"{margin}? {name}"
            name = ""
        if _is_short(value):
            yield f"{margin}{name}: {_short(value)}"
        else:
            yield f"{margin}{name}:"
            yield from _lines(value, margin + "  ")


def _items(values: Iterable[Any], margin: str) -> Iterator[str]:
    """Yield the lines of a list. A list or mapping in an item begins on the line of that item."""
    for value in values:
        if _is_short(value):
            yield f"{margin}- {_short(value)}"
        else:
            first, *others = _lines(value, margin + "  ")
            yield f"{margin}- {first.lstrip(' ')}"
            yield from others


def _lines(value: Any, margin: str) -> Iterator[str]:
    return _mapping(value, margin) if isinstance(value, dict) else _items(value, margin)


def _is_short(value: Any) -> bool:
    return not (isinstance(value, dict | list) and value)


def _short(value: Any) -> str:
    return _scalar(value) if isinstance(value, str) else json.dumps(value)


def _scalar(text: str) -> str:
    return text if is_plain(text) else _escaped(json.dumps(text, ensure_ascii=False))


def _escaped(text: str) -> str:
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _yaml() -> YAML:
    """Return a new YAML reader. Readers have state, so none can be shared."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer, yaml.Resolver = BoundedComposer, VerbatimResolver
    return yaml
