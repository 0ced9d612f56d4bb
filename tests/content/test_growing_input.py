"""The time that each function of `content` takes grows no faster than the text that it reads."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest

import content
from content.edits import edits
from content.markdown import links
from content.notes import notes
from content.notes.frontmatter import NotPlain
from content.search import snippets
from tests.growth import assert_linear_time

LARGEST = 32_000  # characters
TEXTS: dict[str, Callable[[int], str]] = {
    "marks": lambda size: "a" + "\u0301\u0316" * (size // 2),
    "links": lambda size: "[[a](wiki:b)]" * (size // 13),
    "brackets open": lambda size: "[" * size,
    "brackets": lambda size: "[[" * (size // 4) + "](" * (size // 4),
    "quotes": lambda size: '"a' * (size // 2),
    "digits": lambda size: "9" * size,
    "lines": lambda size: "\n" * size,
    "list": lambda size: "- a\n" * (size // 4),
    "nested list": lambda size: "> - \n" * (size // 5),
    "headings": lambda size: "## a\n" * (size // 5),
    "code": lambda size: "".join("`" * (1 + n % 99) + " " for n in range(size // 50)),
    "fences": lambda size: "```\na\n~~~\n" * (size // 10),
    "stars": lambda size: "**" * (size // 2),
    "bold": lambda size: "**a** " * (size // 6),
    "comments": lambda size: "<!--" * (size // 8) + "%%" * (size // 4),
    "tags": lambda size: "<pre " * (size // 5),
    "escapes": lambda size: "\\[" * (size // 2),
    "spaces": lambda size: " " * (size - 1) + "x",
    "hashes": lambda size: "#a " * (size // 3),
    "bars": lambda size: "|" * size,
    "yaml": lambda size: "---\n" + "a: [" * (size // 4) + "\n---\n",
    "yaml lines": lambda size: "---\n" + "".join(f"k{n}: v\n" for n in range(size // 9)) + "---\n",
    "nesting": lambda size: "(" * (size // 2) + ")" * (size // 2),
    "dots": lambda size: "a." * (size // 2),
    "hyphens": lambda size: "-'" * (size // 2),
}


def readers() -> dict[str, Callable[..., Any]]:
    """Return the public functions that take one text and nothing else."""
    found = {}
    for module in pkgutil.walk_packages(content.__path__, "content."):
        for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            needed = [
                parameter
                for parameter in inspect.signature(function).parameters.values()
                if parameter.default is parameter.empty
            ]
            is_own = function.__module__ == module.name and not name.startswith("_")
            if is_own and [(parameter.annotation, parameter.name == "character") for parameter in needed] == [
                (str, False)
            ]:
                found[f"{module.name.rpartition('.')[2]}.{name}"] = function
    return found


def is_a(word: str) -> str | None:
    return word if word == "a" else None


READERS = readers() | {
    "notes.from_markdown": lambda text: notes.from_markdown("stem", text),
    "links.linkify": lambda text: links.linkify(text, lambda title: None),
    "links.rewrite_links": lambda text: links.rewrite_links(text, lambda link: True, "new"),
    "links.readdress_links": lambda text: links.readdress_links(text, lambda link: "team:new"),
    "snippets.choose": lambda text: snippets.choose([("h", text)], {"a": 1.0}, is_a),
    "edits.exactly": lambda text: edits.PASSES["exact"](text, text[:200] or "a"),
}


def ignore_refusals(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader that returns None for a text that is refused."""

    def reader(text: str) -> Any:
        try:
            found = read(text)
            return list(found) if inspect.isgenerator(found) else found
        except (ValueError, NotPlain):
            return None

    return reader


@pytest.mark.parametrize("reader", READERS)
def test_the_time_of_a_reader_grows_no_faster_than_the_text(reader: str) -> None:
    for make in TEXTS.values():
        assert_linear_time(make, ignore_refusals(READERS[reader]), LARGEST)


def test_the_known_readers_are_found() -> None:
    known = {"names.normalise", "links.find_links", "sections.parse", "frontmatter.split", "words.words"}
    assert known <= set(READERS)
    assert len(READERS) > 30
