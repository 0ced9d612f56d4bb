"""Claims that a page used to make: how one is recognised, and how readers are told of it."""

import re
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

SHOWN_MAX = 5
SAID_MAX = 200  # characters of one quote


class ClaimRead(NamedTuple):
    """A superseded claim as a reader is told of it."""

    fact: str
    replacement: str
    superseded_on: datetime


def digest(fact: str, kind: str = "", ref: str = "") -> bytes:
    """Return what makes a claim of a page the same one: the fact, but for case and spaces, and what overrode it."""
    return sha256("\0".join([kind, ref, " ".join(fact.split()).casefold()]).encode()).digest()


def context_header(claims: Iterable[ClaimRead]) -> str:
    """Return the lines that a page's text is read after: what it used to say, newest first, five claims at most."""
    newest = sorted(claims, key=lambda one: one.superseded_on, reverse=True)
    return "\n".join(map(format_superseded, newest[:SHOWN_MAX]))


def format_superseded(claim: ClaimRead) -> str:
    """Return `Used to say "X" until 2026-03-02; now says "Y".` on one line."""
    day = claim.superseded_on.date().isoformat()
    return f'Used to say "{quote_line(claim.fact)}" until {day}; now says "{quote_line(claim.replacement)}".'


def quote_line(text: str) -> str:
    """Return a quote on one line, without the quotation marks that would end it, and cut where it is long."""
    line = " ".join(text.replace('"', "'").split())
    return line if len(line) <= SAID_MAX else f"{line[: SAID_MAX - 1].rstrip()}…"


def has_claim(text: str, claim: str) -> bool:
    """Return whether a text has the claim in it, word for word, whatever its spaces."""
    return bool(claim.split()) and " ".join(claim.split()) in " ".join(text.split())


# -- claims in the texts that a compile writes: quotes in curly quotation marks, with the marks of their sources

QUOTED = re.compile(r"“((?:[^“”\\]|\\.)*)”")
MARKUP = re.compile(r"[\\`*_\[\]<>|~$&^“”]")
LISTED = re.compile(rf"- [^“”]*(?:{QUOTED.pattern} *)+(?:\[\^[^\[\]\s]+\] *)+")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
MARKED = re.compile(r"(?<!\\)\[\^([^\[\]\s^\\]{1,1000})\]")


class Statement(NamedTuple):
    """Something that a section says and cites: the number of its line, the text of the quote, and the labels."""

    line: int
    text: str
    labels: tuple[str, ...]


def statements(body: str) -> list[Statement]:
    """Return what the lines of a section quote, each quote by itself."""
    found = []
    for number, line in enumerate(body.split("\n")):
        labels = tuple(MARKED.findall(line)) if "[^" in line else ()
        if labels:
            found += [Statement(number, unescaped(quote), labels) for quote in QUOTED.findall(line)]
    return found


def without_statement(body: str, wrong: Statement, instead: str | None = None) -> str:
    """Return the text without the quote; a line that quotes nothing else goes, or makes way for another line."""
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
    """Return the text with words of its own where it quoted something. A line of a list that only quotes makes way for
    a line that says `instead`: neither its day nor its marks are those of the new words."""
    lines = body.split("\n")
    if LISTED.fullmatch(lines[wrong.line]):
        return without_statement(body, wrong, f"- {instead}" if instead else None)
    lines[wrong.line] = QUOTED.sub(
        lambda found: instead if unescaped(found[1]) == wrong.text else found[0], lines[wrong.line]
    )
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return a text with a backslash before whatever could be markup, as a quote has it."""
    return MARKUP.sub(lambda found: "\\" + found[0], text)


def unescaped(text: str) -> str:
    """Return a quote as its source says it: without the backslashes before what could be markup."""
    return ESCAPE.sub(r"\1", text)
