"""The authorship of the lines of a page. A model may rewrite lines of the compiler, but not those of people."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from content.markdown.plain import plain
from db.database import Database
from db.scope import Scope
from db.sql import statements
from resolvers.transactions.transaction import read_connection
from resolvers.transactions.writer import Writer

AUTHORSHIP, REVISIONS = statements("pages/authorship"), statements("pages/revisions")
VERSIONS_MAX = 64  # newest versions of a page that are compared
COMPILER = "compiler"


class Authorship:
    """The authorship of lines on the pages of one wiki."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self.database, self.scope = database, scope

    async def lines_of_people(self, page_id: UUID) -> frozenset[str]:
        """Return the lines of people, as `key_of` returns them.

        A line belongs to the author of the oldest of the VERSIONS_MAX newest versions that has it.
        """
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            found = await reader.all(AUTHORSHIP["find_versions"], page_id=page_id, limit=VERSIONS_MAX)
            kinds = {row["version"]: row["author_kind"] for row in found}
            if set(kinds.values()) <= {COMPILER}:
                return frozenset()
            states = await reader.all(REVISIONS["find_states"], page_id=page_id, versions=list(kinds))
        return first_by_people({row["version"]: row["body_md"] for row in states}, kinds)


def first_by_people(bodies: Mapping[int, str], kinds: Mapping[int, str]) -> frozenset[str]:
    """Return the lines whose oldest version was not written by the compiler."""
    authors: dict[str, str] = {}
    for version in sorted(bodies):
        for key in keys_of(bodies[version]):
            authors.setdefault(key, kinds[version])
    return frozenset(key for key, kind in authors.items() if kind != COMPILER)


def keys_of(text: str) -> Sequence[str]:
    return [key for line in text.splitlines() if (key := key_of(line))]


def key_of(line: str) -> str:
    """Return the line without markup, because the compiler turns titles in it into links."""
    return plain(line)
