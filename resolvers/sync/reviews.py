"""The proposals of a sync: edits of files that wait for a reviewer, and how the files are synced after the decision.

Each edit is proposed once. If the file changes again, its proposal is withdrawn. A file whose edit was declined is left
unchanged.
"""

from dataclasses import dataclass, replace
from uuid import UUID

from db.connection import Row
from db.database import Database
from db.scope import Scope
from db.sensitivity import restricted
from db.sql import statements

from ..errors import CairnError, Conflict, NotFound
from ..pages.revision_store import find_states
from ..proposals.gate import PROPOSALS, Policy, PolicyRule, ReviewRequired, policy_for, rules_of
from ..proposals.operations import TooManyProposals
from ..proposals.proposals import withdraw_proposal
from ..transactions.transaction import read_connection
from .planning import WRITES_WIKI, Action, Direction, Event, SyncResult
from .state import UNKNOWN, Entry, Proposed, State

SYNC = statements("import_export/sync")
TEXTS = frozenset({"create_page", "update_page"})
"""The operations that write the text of a file."""
CHANGED_AGAIN = "The file was changed again"


@dataclass(frozen=True, slots=True)
class Review:
    """A proposal of an item, with its row in the database."""

    proposed: Proposed
    row: Row | None
    is_same: bool
    """Whether the file is unchanged since it was proposed."""

    @property
    def is_open(self) -> bool:
        return self.row is not None and self.row["status"] == "open"

    @property
    def is_accepted(self) -> bool:
        """Return whether the text of the file was accepted, unchanged or amended."""
        return self.row is not None and self.row["status"] == "accepted" and self.row["operation"] in TEXTS

    @property
    def is_declined(self) -> bool:
        return self.proposed.declined is not None and self.is_same

    def instead(self, action: Action, page: str | None) -> Action:
        """Return the action in place of `action` after the decision; `page` is the fingerprint of the page."""
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
    """The proposals of one folder."""

    def __init__(
        self, database: Database, scope: Scope, state: State, direction: Direction, result: SyncResult, *, dry_run: bool
    ) -> None:
        self.database, self.scope, self.state, self.result = database, scope, state, result
        self.wiki = scope.wiki_values
        self.is_active = direction is not Direction.PULL and not dry_run
        self.rows: dict[str, Row] = {}
        self.rules: list[PolicyRule] | None = None

    async def load_decisions(self) -> None:
        """Load the status of the open proposals, and update the state of those that were decided."""
        self.result.proposed = []
        undecided = [UUID(proposed.id) for proposed in self.state.proposed.values() if proposed.declined is None]
        if not undecided:
            return
        async with read_connection(self.database) as connection:
            rows = await connection.all(SYNC["find_proposals"], **self.wiki, ids=undecided)
        self.rows = {str(row["id"]): row for row in rows}
        for key, proposed in list(self.state.proposed.items()):
            row = self.rows.get(proposed.id)
            if proposed.declined is not None or (row and row["status"] == "open"):
                continue
            if row is None or row["status"] == "expired":
                del self.state.proposed[key]
            elif row["status"] in ("declined", "withdrawn"):
                proposed.declined = row["reason"] or ""
            elif row["operation"] == "create_page" and key == proposed.path:
                self.adopt(proposed, row)

    def adopt(self, proposed: Proposed, row: Row) -> None:
        """Add an entry for the page that was created by an accepted proposal."""
        del self.state.proposed[proposed.path]
        page_id = str(row["page_id"])
        if row["type"] is not None and page_id not in self.state.pages:
            self.state.pages[page_id] = Entry(
                proposed.path, proposed.file or UNKNOWN, UNKNOWN, type=row["type"], slug=row["slug"]
            )
            self.state.proposed[page_id] = proposed

    def find_review(self, key: str, path: str, hash: str | None) -> Review | None:
        """Return the review of an item, or None."""
        if (proposed := self.state.proposed.get(key)) is None:
            return None
        return Review(proposed, self.rows.get(proposed.id), (proposed.path, proposed.file) == (path, hash))

    def is_waiting(self, review: Review) -> bool:
        """Return whether an item waits for a reviewer, and if so, add its proposal to the result."""
        if review.is_open and (review.is_same or not self.is_active):
            self.result.proposed.append((review.proposed.path, review.proposed.id))
            return True
        return False

    def leave_declined(self, review: Review) -> None:
        """Add a file whose edit was declined to the items that are left unchanged."""
        self.result.left.append((review.proposed.path, "DECLINED", review.message))

    async def supersede(self, key: str, review: Review) -> None:
        """Withdraw the proposal if its file has changed, unless it was accepted. Raises Conflict as `withdraw` does."""
        if not (review.is_same or review.is_accepted):
            await self.withdraw(key, review)

    async def withdraw(self, key: str, review: Review) -> None:
        """Withdraw a proposal if it is open, and forget it. Raises Conflict if a reviewer has just decided it."""
        if review.is_open:
            try:
                await withdraw_proposal(self.database, self.scope, UUID(review.proposed.id), CHANGED_AGAIN)
            except Conflict:
                raise
            except CairnError:
                pass  # another author's proposal, or an erased one: it stays
        self.state.proposed.pop(key, None)

    async def withdraw_gone(self, keys: set[str]) -> None:
        """Withdraw the proposals of new files that were deleted or moved. `keys` are those of the files that exist."""
        if not self.is_active:
            return
        for key in [key for key in self.state.proposed if key not in keys and key not in self.state.pages]:
            proposed = self.state.proposed[key]
            try:
                await self.withdraw(key, Review(proposed, self.rows.get(proposed.id), False))
            except Conflict:
                continue  # the next sync reads the decision

    async def merge_base(self, entry: Entry, review: Review) -> Entry:
        """Return the entry to merge from: the accepted version if it was accepted unchanged, else the given entry."""
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

    def store_proposal(self, key: str, path: str, hash: str | None, error: ReviewRequired) -> None:
        """Store the proposal of an edit, or add the file to the items left unchanged if there is no proposal."""
        if error.proposal_id is None:
            self.result.left.append((path, error.code, error.message))
            return
        id = str(error.proposal_id)
        self.state.proposed[key] = Proposed(path, hash, id)
        self.result.events.append(Event(Action.PROPOSE, path, f"proposal {id}"))
        self.result.proposed.append((path, id))

    # -- too many

    async def refuse_more(self) -> None:
        """Load the write policy, because this author has too many open proposals, so that `check_room` refuses more."""
        if self.rules is None:
            async with read_connection(self.database) as connection:
                self.rules = rules_of(await connection.value(PROPOSALS["find_policy"], **self.wiki) or ())

    def check_room(self, page_type: str | None) -> None:
        """Raise TooManyProposals if the author has too many proposals and this edit would be another one."""
        types = None if page_type is None else [page_type]
        if self.rules is not None and policy_for(self.rules, self.scope, types) is Policy.REVIEW:
            raise TooManyProposals
