"""Parses the text that a driver sends into statements and trees.

sqlglot does not read all of PostgreSQL. What it cannot read and the rules do not check is rewritten first, outside of
literals: parameters, JSON_OBJECT, the trigram operators. Its parser cannot be subclassed, because it is compiled.
"""

import re
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

QUERIES = Path(__file__).parents[1] / "db" / "queries"
NOUNS = sorted(
    path.relative_to(QUERIES).with_suffix("").as_posix()
    for path in QUERIES.rglob("*.sql")
    if path.parent.name != "temp"
)
"""The files of named statements for Postgres, such as pages/aliases. Those in temp are for SQLite."""
LEXEME = re.compile(
    r"""(?P<key>'(?:''|[^'])*')\s*:(?!:)
    | (?P<text>\bE'(?:\\.|''|[^'\\])*' | '(?:''|[^'])*' | "(?:""|[^"])*" | \$(?P<tag>(?:[a-z_]\w*)?)\$.*?\$(?P=tag)\$)
    | (?P<ignored>--[^\n]* | /\*.*?\*/ | \b(?:ABSENT|NULL)\s+ON\s+NULL\b | \bRETURNING\s+jsonb?(?=\s*\)))
    | (?P<parameter>\$\d+)
    | (?P<object>\bJSON_OBJECT\b)
    | (?P<operator><<?% | %>>? | <<<?-> | <->>>?)
    | (?P<end>;)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
WRAPPER = re.compile(
    r"""EXPLAIN (?:\s*\((?!\s*(?:SELECT|WITH)\b)[^)]*\))? (?:\s+(?:ANALYZE|VERBOSE)\b)*\s*
    | PREPARE\s+\w+\s*(?:\([^)]*\))?\s*AS\s+
    | DECLARE\s+\w+\s.*?\bFOR\s+""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


def split(sql: str) -> list[str]:
    """Return the statements of a text, without comments, and without the EXPLAIN, PREPARE or DECLARE before them."""
    parts = (part.strip() for part in LEXEME.sub(respelt, sql).split("\0"))
    unwrapped = (part[start.end() :] if (start := WRAPPER.match(part)) else part for part in parts)
    return [statement for statement in unwrapped if statement]


def respelt(lexeme: re.Match[str]) -> str:
    match lexeme.lastgroup:
        case "parameter":
            return f"{lexeme[0]} "  # `$1,$2` would be read as the start of one dollar-quoted string
        case "object":
            return "json_build_object"
        case "key":
            return f"{lexeme['key']}, "
        case "operator":
            return "<"
        case "ignored":
            return " "
        case "end":
            return "\0"
        case _:
            return lexeme[0]


def tree(statement: str) -> exp.Expr:
    """Parse a statement. Raises SqlglotError if it cannot be read."""
    try:
        parsed: Any = sqlglot.parse_one(statement, read="postgres")
    except TypeError as error:  # sqlglot raises it for some texts that are not SQL
        raise sqlglot.ParseError(str(error)) from error
    assert isinstance(parsed, exp.Expr)
    return parsed
