"""Writes as data: the functions whose writes can be proposed, and their arguments as JSON and back."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, wraps
from hashlib import sha256
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, get_type_hints

import orjson
from pydantic import TypeAdapter

from db.database import Connection, Database
from db.ids import new_id
from db.scope import Operation, Scope, Terms
from lib.threads import read_in_thread

from ..errors import BadInput, LimitExceeded
from ..subscriptions.changes import ChangeKind, announce_proposal
from ..transactions.db_errors import translated_db_errors
from ..validation import UNSET
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


async def encoded(operation: Operation) -> dict[str, Any]:
    """Return the arguments of an operation as JSON has them. Raises BadInput for what is too large to keep."""
    known = adapters(operation.name)
    arguments = {
        name: known[name].dump_python(value, mode="json", warnings=False) for name, value in operation.arguments.items()
    }
    size = await read_in_thread(0, lambda: len(orjson.dumps(arguments)))
    if size > ARGUMENTS_MAX:
        raise BadInput(f"A proposal has at most {ARGUMENTS_MAX:,} bytes; this has {size:,}. Propose parts of it.")
    return arguments


def decoded(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function again."""
    known = adapters(name)
    return {one: known[one].validate_python(value) for one, value in arguments.items()}


ARGUMENTS_MAX = 8_000_000  # bytes: a page of the longest text, in any letters


async def keep_proposal(database: Database, held: Held) -> ReviewRequired:
    """Keep what was held as a proposal, whole or not at all, and return the error that says so.

    The same operation of one author on the same version waits once, however often it is sent.
    """
    scope = held.scope
    assert scope.operation is not None, "whoever calls this has said what it writes"
    arguments = await encoded(scope.operation)
    with translated_db_errors():
        async with database.transaction() as connection:
            kept = Proposing(connection, scope)
            row = await row_of(kept, held, scope.operation, arguments)
            await kept.check_number()
            made = await kept.value("propose", **row)
            proposal_id = made or await kept.value("find_open", digest=row["digest"])
            if made is not None:
                announce_proposal(connection, scope.tenant_id, scope.owner_id, made, ChangeKind.CREATED)
    if proposal_id is None:
        return ReviewRequired("The same change was decided at this moment. Read the page again. Nothing was written.")
    return ReviewRequired(
        f"This waits for a reviewer as the proposal {proposal_id}. Nothing was written yet.",
        proposal_id,
        is_new=made is not None,
    )


class TooManyProposals(LimitExceeded):
    """The error of an author of whom as many proposals wait in a wiki as may."""

    def __init__(self) -> None:
        super().__init__(
            f"{OPEN_MAX:,} proposals of yours wait in this wiki. Withdraw some, or wait until they are decided."
        )


class Proposing:
    """A connection that keeps proposals of one scope."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self.connection, self.scope = connection, scope
        self.own = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
        self.author = {"author_kind": scope.actor.kind.value, "author_id": scope.actor.id}

    async def value(self, name: str, **values: Any) -> Any:
        return await self.connection.value(PROPOSALS[name], **self.own, **values)

    async def check_number(self) -> None:
        if await self.value("count_open", **self.author) >= OPEN_MAX:
            raise TooManyProposals


async def row_of(kept: Proposing, held: Held, operation: Operation, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a proposal."""
    before, after = held.states or (None, None)
    page_id, now = held.page_id, datetime.now().astimezone()
    row: dict[str, Any] = {"page_type": None, "title": None, "base_version": None}
    if after is not None and before is None:
        page_id, row = None, {"page_type": after.type, "title": after.title, "base_version": None}
    elif page_id is not None:
        found = await kept.connection.one(PROPOSALS["find_page"], **kept.own, page_id=page_id)
        if found is None:
            page_id = None
        else:
            version = before.version if before else found["version"]
            row = {"page_type": found["type"], "title": found["title"], "base_version": version}
    terms = (held.scope.review and held.scope.review.terms) or usual_terms(operation)
    asked = [operation.name, arguments, row["base_version"], *kept.author.values()]
    return (
        row
        | kept.author
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
            "digest": sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).digest(),
            "now": now,
            "expires_at": terms.expires_at or now + timedelta(days=DAYS[Significance(terms.significance)]),
        }
    )


def usual_terms(operation: Operation) -> Terms:
    """Return the terms of a write that was not meant as a proposal: why is what it says of itself for the history."""
    given = operation.arguments
    if operation.name == "update_page":  # whose summary is that of the page
        return Terms(given.get("edit_summary") or "")
    drafted = getattr(given.get("draft"), "edit_summary", None)
    why = given.get("edit_summary") or given.get("summary") or drafted or ""
    return Terms(why, tuple(given.get("evidence") or ()))
