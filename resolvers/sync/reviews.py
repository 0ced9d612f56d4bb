"""The proposals of a sync: edits of files that wait for a reviewer, and what becomes of the files once one has decided.

Each edit is proposed once. A file that changes again withdraws its proposal, and one whose edit was declined stays.
"""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from db.connection import Row
from db.database import Database
from db.restricted import restricted
from db.scope import Scope
from db.sql import statements

from ..errors import CairnError, Conflict, NotFound
from ..pages.revision_store import find_states
from ..proposals.decisions import withdraw_proposal
from ..proposals.gate import PROPOSALS, Policy, PolicyRule, ReviewRequired, policy_for, rules_of
from ..proposals.operations import TooManyProposals
from ..transactions.transaction import read_connection
from .planning import WRITES_WIKI, Action, Direction, Event, SyncResult
from .state import UNKNOWN, Entry, Proposed, State

SYNC = statements("import_export/sync")
TEXTS = frozenset({"create_page", "update_page"})
"""The operations that carry the text of a file."""
CHANGED_AGAIN = "The file was changed again"


@dataclass(frozen=True, slots=True)
class Review:
    """A proposal of an item, and what became of it."""

    proposed: Proposed
    row: Row | None
    is_same: bool
    """Whether the file is still as it was proposed."""

    @property
    def is_open(self) -> bool:
        return self.row is not None and self.row["status"] == "open"

    @property
    def is_accepted(self) -> bool:
        """Return whether the wiki has taken the text of the file, as it is or amended."""
        return self.row is not None and self.row["status"] == "accepted" and self.row["operation"] in TEXTS

    @property
    def is_declined(self) -> bool:
        return self.proposed.declined is not None and self.is_same

    def instead(self, action: Action, page: str | None) -> Action:
        """Return what to do in place of an action, now that this was decided; `page` is the fingerprint of the page."""
        if not self.is_same or action not in (*WRITES_WIKI, Action.CONFLICT):
            return action
        if self.is_accepted:
            return Action.PULL if page else Action.REMOVE
        if self.is_declined and action is Action.ARCHIVE:
            return Action.PULL
        if self.is_declined and page and (action is Action.MERGE or not self.proposed.is_told):
            return Action.CONFLICT
        return action

    @property
    def message(self) -> str:
        why = f": {self.proposed.declined}" if self.proposed.declined else ""
        return f"it was declined{why} (proposal {self.proposed.id}). Edit the file to propose it anew, or delete it"


class Reviews:
    """The proposals that one folder has made."""

    def __init__(
        self, database: Database, scope: Scope, state: State, direction: Direction, result: SyncResult, *, dry_run: bool
    ) -> None:
        self.database, self.scope, self.state, self.result = database, scope, state, result
        self.wiki: dict[str, Any] = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
        self.is_active = direction is not Direction.PULL and not dry_run
        self.rows: dict[str, Row] = {}
        self.rules: list[PolicyRule] | None = None

    async def look(self) -> None:
        """Learn what became of the proposals since the last look."""
        self.result.proposed = []
        asked = [UUID(one.id) for one in self.state.proposed.values() if one.declined is None]
        if not asked:
            return
        async with read_connection(self.database) as connection:
            rows = await connection.all(SYNC["find_proposals"], **self.wiki, ids=asked)
        self.rows = {str(row["id"]): row for row in rows}
        for key, one in list(self.state.proposed.items()):
            row = self.rows.get(one.id)
            if one.declined is not None or (row and row["status"] == "open"):
                continue
            if row is None or row["status"] == "expired":
                del self.state.proposed[key]
            elif row["status"] in ("declined", "withdrawn"):
                one.declined = row["reason"] or ""
            elif row["operation"] == "create_page" and key == one.path:
                self.adopt(one, row)

    def adopt(self, proposed: Proposed, row: Row) -> None:
        """Note the page that an accepted file has become."""
        del self.state.proposed[proposed.path]
        page_id = str(row["page_id"])
        if row["type"] is not None and page_id not in self.state.pages:
            self.state.pages[page_id] = Entry(
                proposed.path, proposed.file or UNKNOWN, UNKNOWN, type=row["type"], slug=row["slug"]
            )
            self.state.proposed[page_id] = proposed

    def of(self, key: str, path: str, hash: str | None) -> Review | None:
        """Return the review of an item."""
        if (one := self.state.proposed.get(key)) is None:
            return None
        return Review(one, self.rows.get(one.id), (one.path, one.file) == (path, hash))

    def is_waiting(self, review: Review) -> bool:
        """Return whether nothing is to be done but to wait; that is in the result then."""
        if review.is_open and (review.is_same or not self.is_active):
            self.result.proposed.append((review.proposed.path, review.proposed.id))
            return True
        return False

    def leave(self, review: Review) -> None:
        """Name a file whose edit was declined."""
        self.result.left.append((review.proposed.path, "DECLINED", review.message))

    async def supersede(self, key: str, review: Review) -> None:
        """Forget what the file does not say any more, and take it back. Raises Conflict as `withdraw` does."""
        if not (review.is_same or review.is_accepted):
            await self.withdraw(key, review)

    async def withdraw(self, key: str, review: Review) -> None:
        """Take back what the file does not say any more. Raises Conflict where it was decided at this moment."""
        if review.is_open:
            try:
                await withdraw_proposal(self.database, self.scope, UUID(review.proposed.id), CHANGED_AGAIN)
            except Conflict:
                raise
            except CairnError:
                pass  # somebody else's, or erased: it stays as it is
        self.state.proposed.pop(key, None)

    async def withdraw_gone(self, keys: set[str]) -> None:
        """Take back proposals of new files that are gone, or lie elsewhere now; `keys` are of those that are there."""
        if not self.is_active:
            return
        for key in [key for key in self.state.proposed if key not in keys and key not in self.state.pages]:
            one = self.state.proposed[key]
            try:
                await self.withdraw(key, Review(one, self.rows.get(one.id), False))
            except Conflict:
                continue  # the next look sees what became of it

    async def base(self, entry: Entry, review: Review) -> Entry:
        """Return what page and file were when they were last the same: what was accepted, if that was all of it."""
        row = review.row
        assert row is not None
        version = row["accepted_version"]
        if version is None or version != (row["base_version"] or 0) + 1:
            return entry
        async with read_connection(restricted(self.database, self.scope)) as connection:
            try:
                (state,) = await find_states(connection, self.scope, row["page_id"], (version,))
            except NotFound:
                return entry
        said = state.title, state.summary, state.body
        if said != (row["proposed_title"], row["proposed_summary"], row["proposed_body"]):
            return entry
        return replace(entry, version=version)

    def keep(self, key: str, path: str, hash: str | None, held: ReviewRequired) -> None:
        """Note that an edit waits, or that it cannot."""
        if held.proposal_id is None:
            self.result.left.append((path, held.code, held.message))
            return
        id = str(held.proposal_id)
        self.state.proposed[key] = Proposed(path, hash, id)
        self.result.events.append(Event(Action.PROPOSE, path, f"proposal {id}"))
        self.result.proposed.append((path, id))

    # -- too many

    async def fill(self) -> None:
        """Note that no more proposals of this author may wait: nothing else is tried that would be one."""
        if self.rules is None:
            async with read_connection(self.database) as connection:
                self.rules = rules_of(await connection.value(PROPOSALS["find_policy"], **self.wiki) or ())

    def check_room(self, page_type: str | None) -> None:
        """Raise TooManyProposals for what would be one proposal too many."""
        types = None if page_type is None else [page_type]
        if self.rules is not None and policy_for(self.rules, self.scope, types) is Policy.REVIEW:
            raise TooManyProposals
