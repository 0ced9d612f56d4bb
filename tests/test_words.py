"""Code and public texts are written in the words of the field: no private vocabulary, and docstrings are sentences."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_docs import ROOT, banned_words

PRODUCT = ("app", "compiler", "content", "db", "lib", "observability", "resolvers", "schema", "selection")
PUBLIC = (
    "schema/schema.graphql", "schema/openapi.json", "schema/admin-openapi.json", "tests/app/cli/cli_help.txt",
    "tests/app/mcp/mcp_tools.json",
)  # fmt: skip
# Words in Dutch, an example of a link kind, and the names of columns that servers of the release before still read.
ALLOWED = re.compile(r"als bij daar dan dat|journal:austin-trip|\bshel(?:f|ves)\b")
ALLOWED_IN = re.compile(
    r"compiler/extraction/texts/language\.py|schema/|resolvers/links/links.py|db/(?:queries/search/\w+|queries/sources/forgetting|tables/search)\.\w+"
)
FRAGMENT = re.compile(
    r"(?:What|Who|Whose|The same|Where|Whether|Which|How|Why|Those|That|As|Of|For|By|From|In|With|At|To|On|When|If|Or"
    r"|And|But|Nothing|Only|All|Also|So)\b"
)

UNFINISHED = re.compile(
    r"(?:What|Who|Whose|The same|Where|Which|Why|How|Those|That|As|Of|By|From|Until|Since|When|If|Its|It|They)\b"
)


def sources(*suffixes: str) -> Iterator[Path]:
    for package in PRODUCT:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in suffixes and "sample" not in path.parts and path.name != "released.graphql":
                yield path


def is_allowed(path: Path, line: str) -> bool:
    return bool(ALLOWED_IN.match(str(path.relative_to(ROOT))) and ALLOWED.search(line))


def test_neither_code_nor_public_texts_use_a_private_word() -> None:
    banned = banned_words()
    read = [*sources(".py", ".sql", ".graphql", ".md"), *(ROOT / name for name in PUBLIC)]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in read
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if not is_allowed(path, line)
        for match in banned.finditer(line)
    ]
    assert found == []


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each docstring of a module with the name of its class or function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and (
            text := ast.get_docstring(node)
        ):
            yield getattr(node, "name", "the module"), text


def test_no_docstring_begins_as_a_fragment() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}: {text.splitlines()[0]}"
        for path in sources(".py")
        for name, text in docstrings(path)
        if FRAGMENT.match(text)
    ]
    assert found == []


def descriptions(part: object) -> Iterator[str]:
    """Yield the descriptions in a list of MCP tools or an OpenAPI document."""
    if isinstance(part, dict):
        if isinstance(text := part.get("description"), str):
            yield text
        for inner in part.values():
            yield from descriptions(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from descriptions(inner)


def public_texts() -> Iterator[tuple[str, str]]:
    """Yield each description of the contracts and each text of `--help` with the name of its file."""
    schema = (ROOT / "schema/schema.graphql").read_text(encoding="utf-8")
    yield from (("schema.graphql", text) for text in re.findall(r'"""\s*(.*?)\s*"""', schema, re.DOTALL))
    for name in PUBLIC[1:3] + PUBLIC[4:]:
        yield from ((name, text) for text in descriptions(json.loads((ROOT / name).read_text(encoding="utf-8"))))
    shown = (ROOT / "tests/app/cli/cli_help.txt").read_text(encoding="utf-8")
    yield from (("cli_help.txt", text) for text in re.findall(r"^  \S.*?  +(\S.*)", shown, re.MULTILINE))


def test_no_public_text_begins_as_a_fragment() -> None:
    texts = list(public_texts())
    assert len(texts) > 3_000
    assert [(name, text) for name, text in texts if UNFINISHED.match(text)] == []


@pytest.mark.parametrize("text", ["What is asked.", "The same of many.", "Whether it is there."])
def test_the_openings_of_fragments_are_recognized(text: str) -> None:
    assert FRAGMENT.match(text)
    assert not FRAGMENT.match("Return whether it is there.")
