"""The wikis that a caller may read, and the wikis that a search covers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from content.limits import DISPLAY_NAME
from content.names import is_slug
from db.connection import Connection, Row
from db.database import Database
from db.scope import Role, Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput, NotFound
from ..tenants.tenants import as_id
from ..transactions.transaction import read_connection

SPACES = statements("search/spaces")
SPACES_MAX = 20
LISTED_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Space:
    """A wiki that is searched. The scores of its pages are multiplied by `score_boost`."""

    id: UUID
    slug: str
    score_boost: float


async def find_spaces(connection: Connection, scope: Scope, names: Sequence[str] | None) -> list[Space]:
    """Return the wikis with these slugs or ids, or by default the caller's wiki and the shared spaces that it may read.

    Takes one statement. Raises NotFound for a wiki that does not exist or that the caller may not read, and BadInput
    for an empty list or more than SPACES_MAX wikis.
    """
    caller = {"tenant_id": scope.tenant_id, "owners": list(scope.owners), "spans_tenant": scope.spans_tenant}
    if names is None:
        rows = await connection.all(
            SPACES["find_own_spaces"], **caller, owner_id=scope.owner_id, limit=SPACES_MAX
        )  # fmt: skip
        if len(rows) > SPACES_MAX:
            raise BadInput(f"You may read more than {SPACES_MAX} spaces: name those to search in.", "spaces")
        return [Space(row["id"], row["slug"], row["score_boost"]) for row in rows]
    if not names:
        raise BadInput("Name a space to search in, or leave spaces out to search in all that you may read.", "spaces")
    validation.check_count(names, SPACES_MAX, "spaces")
    ids = [owner_id for name in names if (owner_id := as_id(name))]
    slugs = [name for name in names if not as_id(name) and is_slug(name)]
    rows = await connection.all(SPACES["find_named_spaces"], **caller, ids=ids, slugs=slugs)
    known = {key: Space(row["id"], row["slug"], row["score_boost"]) for row in rows for key in (row["id"], row["slug"])}
    for name in names:
        if (as_id(name) or name) not in known:
            raise NotFound(f"There is no space `{name[: DISPLAY_NAME.maximum]}`, or none that you may read.")
    return list(dict.fromkeys(known[as_id(name) or name] for name in names))


@dataclass(frozen=True, slots=True)
class ReadableSpace:
    """A wiki that the caller may read in the given `role`. `pages` has the number of active pages by type."""

    id: UUID
    kind: str
    slug: str
    name: str
    role: str
    score_boost: float
    pages: Mapping[str, int]


async def list_spaces(database: Database, scope: Scope) -> list[ReadableSpace]:
    """Return the wikis that the caller may read, its own first and then by slug. Takes one statement."""
    caller = {"tenant_id": scope.tenant_id, "owners": list(scope.owners), "spans_tenant": scope.spans_tenant}
    async with read_connection(database) as connection:
        rows = await connection.all(SPACES["list_spaces"], **caller, limit=LISTED_MAX)
    return [
        ReadableSpace(
            row["id"], row["kind"], row["slug"], row["name"], role_in(scope, row), row["score_boost"], row["pages"]
        )
        for row in rows
    ]


def role_in(scope: Scope, row: Row) -> str:
    """Return the caller's role in a wiki: its own role, or the role of a grant if its own role is not just READER."""
    if scope.spans_tenant or row["is_own"] or scope.role is Role.READER:
        return scope.role.value
    return str(row["role"])
