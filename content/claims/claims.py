"""Identify superseded claims, show them to readers, and remove quotes from compiled texts."""

import re
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

SHOWN_MAX = 5  # superseded claims of a page that are shown before its text
QUOTE_MAX = 200  # characters of one quote


class ClaimRead(NamedTuple):
    """A superseded claim as it is shown to a reader."""

    fact: str
    replacement: str
    superseded_on: datetime


def digest(fact: str, kind: str = "", ref: str = "") -> bytes:
    """Return a hash that identifies a claim of a page: of the fact, except for case and spaces, and of the source
    (`kind`, `ref`) that overrode it."""
    return sha256("\0".join([kind, ref, " ".join(fact.split()).casefold()]).encode()).digest()


def context_header(claims: Iterable[ClaimRead]) -> str:
    """Return the lines that precede a page's text for a reader: its last superseded claims, newest first, at most
    five."""
    newest = sorted(claims, key=lambda claim: claim.superseded_on, reverse=True)
    return "\n".join(map(format_superseded, newest[:SHOWN_MAX]))


def format_superseded(claim: ClaimRead) -> str:
    """Return `Used to say "X" until 2026-03-02; now says "Y".` on one line."""
    day = claim.superseded_on.date().isoformat()
    return f'Used to say "{quote_line(claim.fact)}" until {day}; now says "{quote_line(claim.replacement)}".'


def quote_line(text: str) -> str:
    """Return a quote on one line of at most QUOTE_MAX characters, without double quotes, which would end it."""
    line = " ".join(text.replace('"', "'").split())
    return line if len(line) <= QUOTE_MAX else f"{line[: QUOTE_MAX - 1].rstrip()}…"


def has_claim(text: str, claim: str) -> bool:
    """Return whether a text contains the claim word for word, except for spaces."""
    return bool(claim.split()) and " ".join(claim.split()) in " ".join(text.split())


# -- claims in compiled texts: quotes in curly quotation marks, with the citation marks of their sources

QUOTED = re.compile(r"“((?:[^“”\\]|\\.)*)”")
MARKUP = re.compile(r"[\\`*_\[\]<>|~$&^“”]")
LISTED = re.compile(rf"- [^“”]*(?:{QUOTED.pattern} *)+(?:\[\^[^\[\]\s]+\] *)+")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
CITATION_MARK = re.compile(r"(?<!\\)\[\^([^\[\]\s^\\]{1,1000})\]")


class Statement(NamedTuple):
    """A quote in a section: the index of its line, its text, and the labels of its citation marks."""

    line: int
    text: str
    labels: tuple[str, ...]


def statements(body: str) -> list[Statement]:
    """Return the cited quotes of a section, each by itself."""
    found = []
    for number, line in enumerate(body.split("\n")):
        labels = tuple(CITATION_MARK.findall(line)) if "[^" in line else ()
        if labels:
            found += [Statement(number, unescaped(quote), labels) for quote in QUOTED.findall(line)]
    return found


def without_statement(body: str, wrong: Statement, instead: str | None = None) -> str:
    """Return the text without a quote, and with `instead` as a new line if it is given.

    A line without any other quote is removed. The new line takes its place, or follows a line that stays.
    """
    lines = body.split("\n")
    line = lines[wrong.line]
    left = QUOTED.sub(lambda found: "" if unescaped(found[1]) == wrong.text else found[0], line, count=0)
    if QUOTED.search(left):
        lines[wrong.line] = re.sub(r"(?<=\S)  +", " ", left)
        added = [] if instead is None else [instead]
        lines[wrong.line + 1 : wrong.line + 1] = added
    else:
        lines[wrong.line : wrong.line + 1] = [] if instead is None else [instead]
    return "\n".join(lines)


def unquoted(body: str, wrong: Statement, instead: str) -> str:
    """Return the text with `instead` in the place of a quote.

    A list item with nothing but quotes is replaced as a whole, because its day and its citation marks are not those of
    the new words.
    """
    lines = body.split("\n")
    if LISTED.fullmatch(lines[wrong.line]):
        return without_statement(body, wrong, f"- {instead}" if instead else None)
    lines[wrong.line] = QUOTED.sub(
        lambda found: instead if unescaped(found[1]) == wrong.text else found[0], lines[wrong.line]
    )
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return a text with a backslash before each character that could be markup, as in a quote."""
    return MARKUP.sub(lambda found: "\\" + found[0], text)


def unescaped(text: str) -> str:
    """Return a quote as its source has it, without the backslashes of `escaped`."""
    return ESCAPE.sub(r"\1", text)
