"""Proposable operations: register the functions whose writes can be proposed, and store their calls as JSON."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cache, wraps
from hashlib import sha256
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, get_type_hints
from uuid import UUID

import orjson
from pydantic import TypeAdapter

from content.sensitivity import levels_in, strictest
from db.database import Database
from db.ids import new_id
from db.scope import Operation, Scope, Terms
from lib.threads import run_in_thread

from ..errors import BadInput, LimitExceeded
from ..tenants.tenants import as_id
from ..transactions.db_errors import translated_db_errors
from ..transactions.outbox import ProposalKind
from ..transactions.transaction import lock_wiki, process_lock
from ..transactions.writer import Writer
from ..validation import UNSET
from .events import announce_and_queue_events, find_pages, levels_of_row
from .gate import DAYS, OPEN_MAX, PROPOSALS, HeldForReview, ReviewRequired, Significance

P = ParamSpec("P")
T = TypeVar("T")
Write = Callable[Concatenate[Database, Scope, P], Coroutine[Any, Any, T]]

PROPOSABLE: dict[str, Callable[..., Awaitable[Any]]] = {}
"""The proposable functions by name. Names and parameters are stored in proposals."""


def proposable(write: Write[P, T]) -> Write[P, T]:
    """Decorate a write: its call is stored as a proposal and ReviewRequired is raised if the write policy holds it.

    The call is passed in the scope. A proposable function that is called by another one is a part of that operation.
    """
    name, taken = write.__name__, signature(write)

    @wraps(write)
    async def run(database: Database, scope: Scope, *args: P.args, **kwargs: P.kwargs) -> T:
        if scope.operation is not None:  # a part of another operation, which is proposed as a whole
            return await write(database, scope, *args, **kwargs)
        given = taken.bind(database, scope, *args, **kwargs).arguments
        arguments = {name: value for name, value in list(given.items())[2:] if value is not UNSET}
        try:
            return await write(database, replace(scope, operation=Operation(name, arguments)), *args, **kwargs)
        except HeldForReview as held:
            raise await keep_proposal(database, held) from None

    PROPOSABLE[name] = write
    return cast("Write[P, T]", run)


@cache
def adapters(name: str) -> Mapping[str, TypeAdapter[Any]]:
    """Return the type adapters that convert the arguments of a function to JSON and back, by parameter name."""
    write = PROPOSABLE[name]
    hints = get_type_hints(write)
    return {parameter: TypeAdapter(hints[parameter]) for parameter in list(signature(write).parameters)[2:]}


async def encode_arguments(operation: Operation) -> dict[str, Any]:
    """Return the arguments of an operation as JSON values. Raises BadInput if they exceed ARGUMENTS_MAX."""
    known = adapters(operation.name)
    arguments = {
        name: known[name].dump_python(value, mode="json", warnings=False) for name, value in operation.arguments.items()
    }
    if (size := len(orjson.dumps(arguments))) > ARGUMENTS_MAX:
        raise BadInput(f"A proposal has at most {ARGUMENTS_MAX:,} bytes; this has {size:,}. Propose parts of it.")
    return arguments


def decode_arguments(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function from their JSON values. Raises KeyError or ValueError for invalid ones."""
    known = adapters(name)
    return {parameter: known[parameter].validate_python(value) for parameter, value in arguments.items()}


ARGUMENTS_MAX = 8_000_000  # bytes: enough for a page of the maximum length in any script
ID_LENGTH = 36  # characters


async def keep_proposal(database: Database, held: HeldForReview) -> ReviewRequired:
    """Store a held write as a proposal, and return the error to raise.

    If the author has an open proposal of the same operation and arguments on the same version, the error names that
    one, and nothing is stored.
    """
    scope = held.scope
    assert scope.operation is not None, "proposable has set the operation"
    arguments = await encode_arguments(scope.operation)
    with translated_db_errors():
        async with process_lock(database, scope), database.transaction() as connection:
            await lock_wiki(connection, scope)
            writer = Writer(connection, scope)
            row = await row_of(writer, held, scope.operation, arguments)
            await check_open_count(writer)
            new_proposal_id = await writer.value(PROPOSALS["propose"], **row)
            proposal_id = new_proposal_id or await writer.value(PROPOSALS["find_open"], digest=row["digest"])
            if new_proposal_id is not None:
                await announce_and_queue_events(writer, ProposalKind.CREATED, [row])
    if proposal_id is None:
        return ReviewRequired("The same change was decided at this moment. Read the page again. Nothing was written.")
    return ReviewRequired(
        f"This waits for a reviewer as the proposal {proposal_id}. Nothing was written yet.",
        proposal_id,
        is_new=new_proposal_id is not None,
    )


class TooManyProposals(LimitExceeded):
    """The author has OPEN_MAX open proposals in the wiki."""

    def __init__(self) -> None:
        super().__init__(
            f"{OPEN_MAX:,} proposals of yours wait in this wiki. Withdraw some, or wait until they are decided."
        )


async def check_open_count(writer: Writer) -> None:
    if await writer.value(PROPOSALS["count_open"], **author_of(writer)) >= OPEN_MAX:
        raise TooManyProposals


async def row_of(
    writer: Writer, held: HeldForReview, operation: Operation, arguments: dict[str, Any]
) -> dict[str, Any]:
    """Return the columns of a proposal.

    Its sensitivity is the strictest level in its arguments and of the pages that it would change or names by id,
    before and after the write.
    """
    before, after = held.states or (None, None)
    page_id = held.page_id
    argument_levels, argument_ids = await run_in_thread(levels_and_ids, arguments)
    found = await find_pages(writer, {*held.page_ids, *argument_ids})
    levels = [*held.levels, *argument_levels, *(level for page in found.values() for level in levels_of_row(page))]
    row: dict[str, Any] = {"page_type": None, "title": None, "base_version": None}
    if after is not None and before is None:
        page_id, row = None, {"page_type": after.type, "title": after.title, "base_version": None}
    elif page_id is not None:
        page = found.get(page_id)
        if page is None or page["owner_id"] != writer.scope.owner_id:
            page_id = None
        else:
            version = before.version if before else page["version"]
            row = {"page_type": page["type"], "title": page["title"], "base_version": version}
    terms = (held.scope.review and held.scope.review.terms) or default_terms(operation)
    author = author_of(writer)
    identity = [operation.name, arguments, row["base_version"], *author.values()]
    return (
        row
        | author
        | {
            "id": new_id(),
            "line_id": new_id(),
            "page_id": page_id,
            "operation": operation.name,
            "arguments": arguments,
            "proposed_title": after and after.title,
            "proposed_summary": after and after.summary,
            "proposed_body": after and after.body,
            "why": terms.why or None,
            "evidence": list(terms.evidence),
            "significance": terms.significance,
            "sensitivity": strictest(levels),
            "digest": sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).digest(),
            "expires_at": terms.expires_at,
            "usual": timedelta(days=DAYS[Significance(terms.significance)]),
        }
    )


def author_of(writer: Writer) -> dict[str, str]:
    return {"author_kind": writer.scope.actor.kind.value, "author_id": writer.scope.actor.id}


def levels_and_ids(arguments: Mapping[str, Any]) -> tuple[set[str], set[UUID]]:
    """Return the sensitivity levels anywhere in the arguments, and all UUIDs in them, which may be ids of pages."""
    return {*levels_in(arguments)}, {*ids_in(arguments)}


def ids_in(value: Any) -> Iterator[UUID]:
    if isinstance(value, str):
        if len(value) == ID_LENGTH and (id := as_id(value)):
            yield id
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from ids_in(item)


def default_terms(operation: Operation) -> Terms:
    """Return the terms of a write that was not meant as a proposal: the reason is its edit summary."""
    arguments = operation.arguments
    if operation.name == "update_page":  # its argument `summary` is the summary of the page
        return Terms(arguments.get("edit_summary") or "")
    draft_summary = getattr(arguments.get("draft"), "edit_summary", None)
    why = arguments.get("edit_summary") or arguments.get("summary") or draft_summary or ""
    return Terms(why, tuple(arguments.get("evidence") or ()))
