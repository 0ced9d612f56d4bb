"""Create proposals on request, and accept, decline, withdraw and expire proposals."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from content.limits import EDIT_SUMMARY
from db.connection import Connection, Row
from db.database import Database
from db.ids import new_id
from db.one_transaction import OneTransaction
from db.scope import Actor, ActorKind, Review, Role, Scope, Terms

from .. import validation
from ..errors import BadInput, CairnError, Conflict, Forbidden, NotFound, Unavailable
from ..ingest import ingest
from ..knowledge import knowledge
from ..links import links
from ..pages import (
    aliases,
    batches,
    edits,
    hierarchy,
    history,
    lifecycle,
    merging,
    renaming,
    sections,
    stubs,
    transferring,
    upsert,
)
from ..pages.claims import claims, contradictions, decisions
from ..permissions import Action, authorise
from ..sources import sources
from ..tenants.tenants import list_tenants
from ..transactions.db_errors import translated_db_errors
from ..transactions.outbox import ProposalKind
from ..transactions.transaction import lock_wiki, process_lock, read_connection, transaction
from ..transactions.writer import Writer
from .amending import (
    Amendment,
    amend_draft,
    amended_values,
    draft_in,
    find_page_of_others,
    merge_body,
    merged_draft,
    with_content,
    with_present_fields,
    without_repeated,
)
from .events import announce_and_queue_events
from .gate import PROPOSALS, Policy, ReviewRequired, checked_terms, policy_for, rules_of
from .operations import PROPOSABLE, decode_arguments

OPERATIONS = (
    aliases, batches, claims, contradictions, decisions, edits, hierarchy, history, ingest, knowledge, lifecycle,
    links, merging, renaming, sections, sources, stubs, transferring, upsert,
)  # fmt: skip
"""The modules with proposable functions. Importing them registers the functions in PROPOSABLE."""
NO_PROPOSAL = "There is no such proposal, or none that you may see."
DECIDED = "This proposal is no longer open: it was decided, or it has expired."
DECISIONS_MAX = 50  # proposals of one batch
PORTION = 500  # proposals that expire in one transaction
EXPIRY_ACTOR = Actor(ActorKind.SERVICE, "expiries")

TEXT_EDITS = frozenset(
    {"append_to_page", "edit_page", "move_section", "patch_section", "remove_section", "restore_state", "update_page",
     "upsert_page", "write_cited", "write_ingested"}
)  # fmt: skip
"""The operations that edit the text of one page. Accepting them merges the text with changes made since."""
UPSERTS = frozenset({"upsert_page", "write_cited", "write_knowledge"})
"""The operations that create a page, or update it if it is there by now."""
REMOVALS = frozenset({"archive_page", "archive_scope", "delete_page", "merge_many", "merge_pages"})
"""The operations that remove a text. Accepting them raises Conflict if somebody else has changed the page since."""


class Decision(StrEnum):
    """The possible decisions about a proposal."""

    ACCEPT = "accept"
    DECLINE = "decline"
    WITHDRAW = "withdraw"


STATUSES = {Decision.ACCEPT: "accepted", Decision.DECLINE: "declined", Decision.WITHDRAW: "withdrawn"}


@dataclass(frozen=True, slots=True)
class Decided:
    """The result of a decision: the proposal, its page if there is one, and the new version if it was accepted."""

    proposal_id: UUID
    page_id: UUID | None = None
    version: int | None = None


async def propose_change(
    database: Database, scope: Scope, terms: Terms, write: Callable[[Scope], Awaitable[Any]]
) -> ReviewRequired:
    """Run `write` with a scope that turns its write into a proposal, whatever the policy. Raises BadInput."""
    checked = checked_terms(terms, datetime.now(UTC))
    try:
        await write(replace(scope, review=Review(terms=checked)))
    except ReviewRequired as error:
        if error.proposal_id is None:
            raise
        return error
    raise BadInput("Nothing was proposed, because the proposal would not change the page.")


async def accept_proposal(
    database: Database, scope: Scope, proposal_id: UUID, amendment: Amendment | None = None, reason: str | None = None
) -> Decided:
    """Execute a proposed operation in one transaction. Needs MANAGE.

    The author of the proposal is the author of the revision; the caller is stored in the proposal as the reviewer.
    Changes made since in other sections are kept. Raises Conflict if both changed the same section, or if the proposal
    has been decided.
    """
    reason = validation.optional(reason, "reason", EDIT_SUMMARY.maximum)
    found = await find_proposal(database, scope, proposal_id, Action.MANAGE)
    scope = scope.in_owner(found["owner_id"])
    await check_reviewer(database, scope, found)

    async def begin(connection: Connection) -> None:
        await lock_wiki(connection, scope)
        await decide(connection, scope, found, Decision.ACCEPT, reason)

    author = Actor(ActorKind(found["author_kind"]), found["author_id"])
    acting = replace(scope, actor=author, review=Review(reviewer=scope.actor), operation=None)
    with translated_db_errors():
        async with process_lock(database, scope), OneTransaction(database, begin) as whole:
            async with whole.transaction() as connection:
                current = await find_current(connection, scope, found["id"])
                name, arguments = await current_operation(connection, scope, current, amendment)
            page_id, version = written_version(await PROPOSABLE[name](whole, acting, **arguments), current)
            async with whole.transaction() as connection:
                done = {"id": found["id"], "page_id": page_id, "version": version}
                await connection.run(PROPOSALS["set_accepted_page"], tenant_id=scope.tenant_id, **done)
                accepted = {**current, "page_id": current["page_id"] or page_id}
                await announce_and_queue_events(Writer(connection, scope), ProposalKind.ACCEPTED, [accepted], version)
            await whole.commit()
    return Decided(found["id"], page_id, version)


def written_version(result: Any, found: Row) -> tuple[UUID | None, int | None]:
    """Return the page and the version that an operation has written, or None for an operation that wrote none."""
    saved = getattr(result, "saved", result)
    page_id = getattr(saved, "page_id", None) or found["page_id"]
    if found["operation"] == "delete_page":
        return None, None
    return page_id, getattr(saved, "version", None) or found["version"]


async def current_operation(
    connection: Connection, scope: Scope, found: Row, amendment: Amendment | None
) -> tuple[str, dict[str, Any]]:
    """Return the name and arguments of the operation to execute on the current version of the page.

    They contain the amendment of the reviewer, and edits of a text are merged with the changes since the base version.
    Raises BadInput, Conflict.
    """
    name = found["operation"]
    try:
        arguments = decode_arguments(name, found["arguments"])
    except (KeyError, ValueError):
        raise BadInput("This was proposed to an older version of Cairn. Decline it, and ask for it again.") from None
    is_moved = found["base_version"] is not None and found["base_version"] != found["version"]
    given = {} if amendment is None else amended_values(amendment)
    version = amendment.version if amendment else None
    if given and name not in TEXT_EDITS and name != "create_page":
        raise BadInput("This operation has no text to amend. Decline it, and say why.", "amendment")
    if found["base_version"] is None:
        if name in UPSERTS and (page := await find_page_of_others(connection, scope, found, draft_in(arguments))):
            here = {**found, "page_id": page.id, "version": page.version}
            proposed = given.get("body", found["proposed_body"])
            given["body"] = await merge_body(connection, scope, here, proposed, version)
            if name == "write_knowledge":
                return name, with_content(arguments, given["body"])
            arguments["draft"] = merged_draft(upsert.with_fields_of(arguments["draft"], page), given)
        elif "draft" in arguments and given:
            arguments["draft"] = amend_draft(arguments["draft"], given)
        return name, arguments
    if is_moved and name in REMOVALS and found["is_moved_by_others"]:
        raise Conflict(
            f"The page was changed since this was proposed: version {found['base_version']} was meant, "
            f"and it is at version {found['version']} now. Decline it, or let it be proposed again.",
            found["version"],
            found["page_id"],
        )
    if name == "write_knowledge" and is_moved:
        base_version, proposed = found["base_version"], found["proposed_body"]
        return name, with_content(arguments, await merge_body(connection, scope, found, proposed, base_version))
    for expected in ("expected_version", "from_expected_version"):
        arguments.pop(expected, None)
    if not (name in TEXT_EDITS and (is_moved or given)):
        return name, arguments
    proposed = given.pop("body", found["proposed_body"])
    body = await merge_body(connection, scope, found, proposed, version or found["base_version"])
    if "draft" in arguments:
        draft = await with_present_fields(connection, scope, found, arguments["draft"])
        return name, {**arguments, "draft": merged_draft(draft, {**given, "body": body})}
    if name == "update_page":
        changed = await without_repeated(connection, scope, found, arguments)
        return name, {**changed, **given, "body": body}
    page_id, edit_summary = found["page_id"], arguments.get("edit_summary") or arguments.get("summary")
    if name == "restore_state":
        fields = await history.restored_fields(connection, scope, page_id, arguments["version"], found["version"])
        return "update_page", {**fields, **given, "body": body, "page_id": page_id}
    return "update_page", {"edit_summary": edit_summary, **given, "body": body, "page_id": page_id}


async def decline_proposal(database: Database, scope: Scope, proposal_id: UUID, reason: str) -> Decided:
    """Decline a proposal, with a reason for its author. Needs MANAGE."""
    reason = validation.text(reason, "reason", EDIT_SUMMARY.maximum).strip()
    if not reason:
        raise BadInput("Give a reason for the author.", "reason")
    return await close_proposal(database, scope, proposal_id, Decision.DECLINE, reason)


async def withdraw_proposal(database: Database, scope: Scope, proposal_id: UUID, reason: str | None = None) -> Decided:
    """Withdraw a proposal. Raises BadInput unless the caller is its author."""
    return await close_proposal(
        database, scope, proposal_id, Decision.WITHDRAW, validation.optional(reason, "reason", EDIT_SUMMARY.maximum)
    )


async def close_proposal(
    database: Database, scope: Scope, proposal_id: UUID, decision: Decision, reason: str | None
) -> Decided:
    is_own = decision is Decision.WITHDRAW
    found = await find_proposal(database, scope, proposal_id, Action.WRITE if is_own else Action.MANAGE)
    if is_own and (found["author_kind"], found["author_id"]) != (scope.actor.kind.value, scope.actor.id):
        raise BadInput("Only its author can withdraw a proposal. Decline it instead.", "proposalId")
    scope = scope.in_owner(found["owner_id"])
    async with process_lock(database, scope), transaction(database) as connection:
        await lock_wiki(connection, scope)
        await decide(connection, scope, found, decision, reason)
        kind = ProposalKind(f"proposal.{STATUSES[decision]}")
        await announce_and_queue_events(Writer(connection, scope), kind, [found])
    return Decided(found["id"], found["page_id"])


async def decide_proposals(
    database: Database, scope: Scope, proposal_ids: Sequence[UUID], decision: Decision, reason: str | None = None
) -> list[batches.BatchOutcome]:
    """Make the same decision about several proposals, each in its own transaction. Return the outcomes."""
    validation.check_count(proposal_ids, DECISIONS_MAX, "proposalIds")
    outcomes: list[batches.BatchOutcome] = []
    for position, proposal_id in enumerate(proposal_ids):
        try:
            match decision:
                case Decision.ACCEPT:
                    await accept_proposal(database, scope, proposal_id, reason=reason)
                case Decision.DECLINE:
                    await decline_proposal(database, scope, proposal_id, reason or "")
                case Decision.WITHDRAW:
                    await withdraw_proposal(database, scope, proposal_id, reason)
            outcomes.append(batches.BatchOutcome(position))
        except CairnError as error:
            outcomes.append(batches.BatchOutcome(position, error=error))
    return outcomes


async def find_proposal(database: Database, scope: Scope, proposal_id: UUID, action: Action) -> Row:
    """Return a proposal, if the caller may do the action in its wiki. Raises NotFound, Forbidden."""
    async with read_connection(database) as connection:
        own = {"tenant_id": scope.tenant_id, "id": proposal_id}
        owner_id = await connection.value(PROPOSALS["find_owner"], **own)
        if owner_id is None:
            raise NotFound(NO_PROPOSAL)
        try:
            await authorise(connection, scope, owner_id, action)
        except NotFound:
            raise NotFound(NO_PROPOSAL) from None
        return await find_current(connection, scope.in_owner(owner_id), proposal_id)


async def find_current(connection: Connection, scope: Scope, proposal_id: UUID) -> Row:
    """Return a proposal with the current version of its page. Raises NotFound."""
    own = scope.wiki_values
    found = await connection.one(PROPOSALS["find_proposal"], **own, id=proposal_id)
    if found is None:
        raise NotFound(NO_PROPOSAL)
    return found


async def check_reviewer(database: Database, scope: Scope, found: Row) -> None:
    """Raise Forbidden if the caller is the author of the proposal and the caller's own writes are reviewed."""
    if (found["author_kind"], found["author_id"]) != (scope.actor.kind.value, scope.actor.id):
        return
    async with read_connection(database) as connection:
        own = scope.wiki_values
        rules = await connection.value(PROPOSALS["find_policy"], **own)
    types = None if found["page_type"] is None else [found["page_type"]]
    if policy_for(rules_of(rules), scope, types) is not Policy.OPEN:
        raise Forbidden("Your own writes are reviewed here, so somebody else has to accept this.")


async def decide(connection: Connection, scope: Scope, found: Row, decision: Decision, reason: str | None) -> None:
    """Store the decision about a proposal, and log it. Raises Conflict if the proposal is not open any more."""
    own = {**scope.wiki_values, "now": datetime.now(UTC)}
    actor = {"actor_kind": scope.actor.kind.value, "actor_id": scope.actor.id}
    status = STATUSES[decision]
    row = await connection.one(PROPOSALS["decide"], **own, **actor, id=found["id"], status=status, reason=reason)
    if row is None:
        raise Conflict(DECIDED)
    await log(connection, {**own, **actor}, f"proposal.{status}", found["id"], row["page_id"])


async def log(
    connection: Connection, own: dict[str, Any], action: str, proposal_id: UUID, page_id: UUID | None
) -> None:
    detail = {"proposalId": str(proposal_id)}
    await connection.run(PROPOSALS["log"], **own, line_id=new_id(), action=action, page_id=page_id, detail=detail)


async def expire_proposals(database: Database) -> int:
    """Expire the overdue proposals of all tenants, and log each. Return how many expired."""
    ended = 0
    for tenant in await list_tenants(database):
        async with read_connection(database) as connection:
            rows = await connection.all(PROPOSALS["find_expired"], tenant_id=tenant.id)
        for row in rows:
            scope = Scope(tenant.id, row["owner_id"], Role.SERVICE, EXPIRY_ACTOR, (row["owner_id"],))
            with suppress(Unavailable, NotFound):  # the wiki is busy and is tried again in the next call, or is deleted
                ended += await expire_in_wiki(database, scope)
    return ended


async def expire_in_wiki(database: Database, scope: Scope) -> int:
    """Expire the overdue proposals of a wiki, PORTION in each transaction. Return how many expired."""
    ended, found = 0, PORTION
    while found == PORTION:
        async with process_lock(database, scope), transaction(database) as connection:
            await lock_wiki(connection, scope)
            writer = Writer(connection, scope)
            rows = await writer.all(PROPOSALS["expire"], size=PORTION)
            for row in rows:
                author = {"actor_kind": row["author_kind"], "actor_id": row["author_id"]}
                await log(writer, author, "proposal.expired", row["id"], row["page_id"])
            await announce_and_queue_events(writer, ProposalKind.EXPIRED, rows)
        found = len(rows)
        ended += found
    return ended
