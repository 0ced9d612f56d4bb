"""The history of a page: compare two versions, or restore an earlier version."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from content.edits.differences import Difference, difference, unified_diff
from content.sensitivity import stricter
from db.connection import Connection
from db.database import Database
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from ..errors import BadInput, NotFound
from ..model import outline
from ..model.pages import Saved
from ..permissions import Action, authorise
from ..proposals.operations import proposable
from ..transactions.transaction import NO_PAGE, check_version, read_connection, writing_page
from ..transactions.writer import record
from .claims.claims import withdraw_undone
from .insert import read_body
from .revision_store import State, find_states
from .update import save

PAGES = statements("pages/pages")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference between the texts of two versions of a page. `unified` is a unified diff."""

    old: State
    new: State
    difference: Difference
    unified: str


async def compare_states(database: Database, scope: Scope, page_id: UUID, old: int, new: int) -> Comparison:
    """Compare two versions of a page, in either order.

    Raises NotFound if one of them does not exist or was erased, or if the caller may not read the page.
    """
    async with read_connection(database) as connection:
        owner_id = await connection.value(PAGES["find_owner"], tenant_id=scope.tenant_id, id=page_id)
        if owner_id is None:
            raise NotFound(NO_PAGE)
        await authorise(connection, scope, owner_id, Action.READ)
        states = await find_states(connection, scope.in_owner(owner_id), page_id, (old, new))
    before, after = states
    return await offload(len(before.body) + len(after.body), make_comparison, before, after)


def make_comparison(old: State, new: State) -> Comparison:
    found = difference(old.body, new.body)
    return Comparison(old, new, found, unified_diff(found, f"version {old.version}", f"version {new.version}"))


@proposable
async def restore_state(
    database: Database,
    scope: Scope,
    page_id: UUID,
    version: int,
    *,
    expected_version: int | None = None,
) -> Saved:
    """Write a new version with the title, summary, text, tags and metadata of an earlier version.

    The slug and the aliases stay as they are. So does the sensitivity of the page and its sections where it was lower.
    Superseded claims that this undoes are withdrawn.
    """
    if version < 1:
        raise BadInput("Versions count from 1.", "version")
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        (state,) = await find_states(writer, writer.scope, page.id, (version,))
        text = await read_body(state.body, restored=True)
        after = replace(
            page,
            title=state.title,
            summary=state.summary,
            tags=state.tags,
            metadata=page.metadata if state.metadata is None else stricter(state.metadata, page.metadata),
            sections=outline.keep_marks(outline.keep_identities(text.sections, page.sections), page.sections),
        )
        saved = await save(writer, page, after, text=text, edit_summary=restoration(version))
        if saved.changed:
            await record(writer, "page.restored", page.id, version=saved.version, restoredVersion=version)
            await withdraw_undone(writer, after, version)
        return saved


async def restored_fields(
    connection: Connection, scope: Scope, page_id: UUID, version: int, current: int
) -> dict[str, Any]:
    """Return what `restore_state` restores besides the text, as arguments of `update_page`."""
    states = await find_states(connection, scope, page_id, sorted({version, current}))
    before, now = states[0], states[-1]
    fields: dict[str, Any] = {"title": before.title, "summary": before.summary, "tags": list(before.tags)}
    if before.metadata is not None:
        fields["metadata"] = stricter(before.metadata, now.metadata)
    return fields | {"edit_summary": restoration(version)}


def restoration(version: int) -> str:
    return f"Restored to version {version}"
