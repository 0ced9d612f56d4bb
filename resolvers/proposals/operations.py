"""Writes as data: the functions whose writes can be proposed, and their arguments as JSON and back."""

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
from .events import find_pages, levels_of_row, tell
from .gate import DAYS, OPEN_MAX, PROPOSALS, Held, ReviewRequired, Significance

P = ParamSpec("P")
T = TypeVar("T")
Write = Callable[Concatenate[Database, Scope, P], Coroutine[Any, Any, T]]

PROPOSABLE: dict[str, Callable[..., Awaitable[Any]]] = {}
"""The functions by their names."""


def proposable(write: Write[P, T]) -> Write[P, T]:
    """Say in the scope what is being written, and keep it as a proposal where the gate holds it."""
    name, taken = write.__name__, signature(write)

    @wraps(write)
    async def run(database: Database, scope: Scope, *args: P.args, **kwargs: P.kwargs) -> T:
        if scope.operation is not None:  # a part of an operation, which is proposed as a whole
            return await write(database, scope, *args, **kwargs)
        given = taken.bind(database, scope, *args, **kwargs).arguments
        arguments = {name: value for name, value in list(given.items())[2:] if value is not UNSET}
        try:
            return await write(database, replace(scope, operation=Operation(name, arguments)), *args, **kwargs)
        except Held as held:
            raise await keep_proposal(database, held) from None

    PROPOSABLE[name] = write
    return cast("Write[P, T]", run)


@cache
def adapters(name: str) -> Mapping[str, TypeAdapter[Any]]:
    """Return what reads and writes each argument of a function."""
    write = PROPOSABLE[name]
    hints = get_type_hints(write)
    return {one: TypeAdapter(hints[one]) for one in list(signature(write).parameters)[2:]}


async def encode_arguments(operation: Operation) -> dict[str, Any]:
    """Return the arguments of an operation as JSON has them. Raises BadInput for what is too large to keep."""
    known = adapters(operation.name)
    arguments = {
        name: known[name].dump_python(value, mode="json", warnings=False) for name, value in operation.arguments.items()
    }
    if (size := len(orjson.dumps(arguments))) > ARGUMENTS_MAX:
        raise BadInput(f"A proposal has at most {ARGUMENTS_MAX:,} bytes; this has {size:,}. Propose parts of it.")
    return arguments


def decode_arguments(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function again."""
    known = adapters(name)
    return {one: known[one].validate_python(value) for one, value in arguments.items()}


ARGUMENTS_MAX = 8_000_000  # bytes: a page of the longest text, in any letters
ID_LENGTH = 36  # characters


async def keep_proposal(database: Database, held: Held) -> ReviewRequired:
    """Keep what was held as a proposal, whole or not at all, and return the error that says so.

    The same operation of one author on the same version waits once, however often it is sent.
    """
    scope = held.scope
    assert scope.operation is not None, "whoever calls this has said what it writes"
    arguments = await encode_arguments(scope.operation)
    with translated_db_errors():
        async with process_lock(database, scope), database.transaction() as connection:
            await lock_wiki(connection, scope)
            writer = Writer(connection, scope)
            row = await row_of(writer, held, scope.operation, arguments)
            await check_number(writer)
            made = await writer.value(PROPOSALS["propose"], **row)
            proposal_id = made or await writer.value(PROPOSALS["find_open"], digest=row["digest"])
            if made is not None:
                await tell(writer, ProposalKind.CREATED, [row])
    if proposal_id is None:
        return ReviewRequired("The same change was decided at this moment. Read the page again. Nothing was written.")
    return ReviewRequired(
        f"This waits for a reviewer as the proposal {proposal_id}. Nothing was written yet.",
        proposal_id,
        is_new=made is not None,
    )


class TooManyProposals(LimitExceeded):
    """Raised when as many proposals of one author wait in a wiki as may."""

    def __init__(self) -> None:
        super().__init__(
            f"{OPEN_MAX:,} proposals of yours wait in this wiki. Withdraw some, or wait until they are decided."
        )


async def check_number(writer: Writer) -> None:
    if await writer.value(PROPOSALS["count_open"], **author_of(writer)) >= OPEN_MAX:
        raise TooManyProposals


async def row_of(writer: Writer, held: Held, operation: Operation, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a proposal.

    It is as sensitive as the strictest page that it would change or names by an id, before or after, and as what it
    says itself.
    """
    before, after = held.states or (None, None)
    page_id = held.page_id
    said, named = await run_in_thread(levels_and_ids, arguments)
    found = await find_pages(writer, {*held.page_ids, *named})
    levels = [*held.levels, *said, *(level for page in found.values() for level in levels_of_row(page))]
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
    terms = (held.scope.review and held.scope.review.terms) or usual_terms(operation)
    author = author_of(writer)
    asked = [operation.name, arguments, row["base_version"], *author.values()]
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
            "digest": sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).digest(),
            "expires_at": terms.expires_at,
            "usual": timedelta(days=DAYS[Significance(terms.significance)]),
        }
    )


def author_of(writer: Writer) -> dict[str, str]:
    return {"author_kind": writer.scope.actor.kind.value, "author_id": writer.scope.actor.id}


def levels_and_ids(arguments: Mapping[str, Any]) -> tuple[set[str], set[UUID]]:
    """Return the levels that arguments say anywhere, and what may be ids of pages in them."""
    return {*levels_in(arguments)}, {*ids_in(arguments)}


def ids_in(value: Any) -> Iterator[UUID]:
    if isinstance(value, str):
        if len(value) == ID_LENGTH and (id := as_id(value)):
            yield id
    elif isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from ids_in(one)


def usual_terms(operation: Operation) -> Terms:
    """Return the terms of a write that was not meant as a proposal: why is what it says of itself for the history."""
    given = operation.arguments
    if operation.name == "update_page":  # whose summary is that of the page
        return Terms(given.get("edit_summary") or "")
    drafted = getattr(given.get("draft"), "edit_summary", None)
    why = given.get("edit_summary") or given.get("summary") or drafted or ""
    return Terms(why, tuple(given.get("evidence") or ()))
