"""Idempotency keys: a repeated request gets the answer of the first one and writes nothing.

The key, the write and the stored answer are committed in one transaction, so a crash cannot separate them. Until the
transaction ends, an advisory lock in Postgres holds the key.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from db.connection import Connection
from db.database import Database
from db.one_transaction import OneTransaction
from db.replicas.routing import record_commit
from db.scope import Scope
from db.sensitivity import restricted, unrestricted
from db.sql import statements
from observability.trace import error_count, forget_errors
from selection.execute.engine import Answer, is_unavailable

from .errors import CairnError, LimitExceeded
from .proposals.gate import ReviewRequired
from .tenants.tenants import list_tenants
from .transactions.db_errors import translated_db_errors
from .transactions.transaction import read_connection

KEYS = statements("access/idempotency")
KEPT_FOR = timedelta(hours=24)
ANSWER_MAX = 1_000_000  # bytes
PORTION = 1000  # rows
SERVER_ERRORS = {"INTERNAL_SERVER_ERROR", "TIMEOUT", "UNAVAILABLE"}  # codes of errors that the client did not cause


class InProgress(CairnError):
    """A request with the same key is still being processed."""

    code = "IDEMPOTENCY_IN_PROGRESS"


class KeyReused(CairnError):
    """The key was used for a different request."""

    code = "IDEMPOTENCY_KEY_REUSED"


class Answered(NamedTuple):
    """An answer, and whether it is the stored answer of an earlier request."""

    answer: Answer
    replayed: bool = False


class Attempt:
    """One attempt at a request with an idempotency key. Keys of different credentials are independent."""

    def __init__(self, scope: Scope, key: str, content: Any) -> None:
        """`content` is JSON of everything that a repetition of the request must have in common with it."""
        credential = [scope.role, scope.actor_kind, scope.actor_id, *map(str, scope.owners)]
        self.scope, self.tenant_id = scope, scope.tenant_id
        self.digest = hash_request([*credential, key])
        self.request = hash_request([str(scope.owner_id), content])
        self.found: bytes | None = None
        """The answer that another attempt stored before this one claimed the key."""

    async def look(self, database: Database) -> bytes | None:
        async with read_connection(database) as connection:
            return await self.find(connection)

    async def find(self, connection: Connection) -> bytes | None:
        """Return the stored answer of the key. Raises KeyReused if it is the answer to a different request."""
        row = await connection.one(KEYS["find_answer"], tenant_id=self.tenant_id, digest=self.digest, kept_for=KEPT_FOR)
        if row is None:
            return None
        if row["request"] != self.request:
            raise KeyReused("This Idempotency-Key was used for another request. Take a new key for each request.")
        answer: bytes = row["answer"]
        return answer

    async def claim(self, connection: Connection) -> None:
        """Lock the key until the transaction ends. Raises InProgress if it is locked, or another answer is stored."""
        lock = int.from_bytes(self.digest[:8], signed=True)
        if not await connection.value(KEYS["claim_key"], lock=lock):
            raise in_progress()
        self.found = await self.find(connection)
        if self.found is not None:
            raise in_progress()

    async def keep(self, connection: Connection, answer: bytes) -> None:
        """Store the answer. Raises InProgress if another attempt has stored its answer."""
        values = {"tenant_id": self.tenant_id, "digest": self.digest, "request": self.request, "answer": answer}
        if not await connection.run(KEYS["keep_answer"], **values, kept_for=KEPT_FOR):
            raise in_progress()


async def once(database: Database, attempt: Attempt, run: Callable[[Database], Awaitable[Answer]]) -> Answered:
    """Return the answer of `run`, or the stored answer of an earlier attempt.

    The answer is stored if `run` wrote something. If any part failed with one of the codes in SERVER_ERRORS, everything
    is rolled back.
    """
    if (known := await attempt.look(database)) is not None:
        return replay(known)
    async with OneTransaction(database, attempt.claim) as whole:
        errors_before = error_count()
        answer = await run(whole)
        if attempt.found is not None or whole.refused is not None:
            forget_errors(errors_before)
        if attempt.found is not None:
            return replay(attempt.found)
        if whole.refused is not None:
            raise whole.refused
        if whole.writes:
            return Answered(await store_answer(whole, attempt, answer))
    # Nothing was written: perhaps another attempt did the write meanwhile, and left nothing to change.
    known = await attempt.look(database)
    return Answered(answer) if known is None else replay(known)


def replay(answer: bytes) -> Answered:
    """Return a stored answer as a replay. Its write is committed, so later reads of the client must see it."""
    record_commit()
    return Answered(Answer(answer), replayed=True)


PROPOSAL_PREFIX = b"held "
"""The prefix of a stored answer whose write became a proposal. No JSON begins with it."""
NOT_COMMITTED = Answer(orjson.dumps({"errors": [{"extensions": {"code": "UNAVAILABLE"}}]}))
"""An answer with an error of SERVER_ERRORS, for which `store_answer` does not commit."""


async def run_once(
    database: Database, attempt: Attempt, work: Callable[[Database], Awaitable[bytes]]
) -> tuple[bytes, bool]:
    """Return the result of `work` or its stored result, and whether it is the stored one.

    If `work` raises, its transaction is rolled back and the error is raised here. ReviewRequired is stored as an answer
    instead, because the proposal is committed, and is raised again for each repetition.
    """
    failed: list[CairnError] = []

    async def run(within: Database) -> Answer:
        try:
            return Answer(await work(restricted(within, attempt.scope)))
        except ReviewRequired as error:
            return Answer(PROPOSAL_PREFIX + orjson.dumps([error.message, error.proposal_id and str(error.proposal_id)]))
        except CairnError as error:
            failed.append(error)
            return NOT_COMMITTED

    answer, replayed = await once(unrestricted(database), attempt, run)
    if answer.body.startswith(PROPOSAL_PREFIX):
        message, proposal_id = orjson.loads(answer.body[len(PROPOSAL_PREFIX) :])
        raise ReviewRequired(message, proposal_id and UUID(proposal_id))
    if failed and not replayed:
        raise failed[0]
    return answer.body, replayed


async def store_answer(whole: OneTransaction, attempt: Attempt, answer: Answer) -> Answer:
    """Store the answer, commit, and return the answer. Without a commit, return only the errors of the answer.

    Raises LimitExceeded for an answer of more than ANSWER_MAX bytes.
    """
    if len(answer.body) > ANSWER_MAX:
        raise LimitExceeded(
            f"A response to a request with an Idempotency-Key can have at most {ANSWER_MAX:,} bytes. "
            "Nothing was written: select less, or send it without the key."
        )
    errors = errors_of(answer.body)
    codes = {error.get("extensions", {}).get("code") for error in errors}
    if errors and (whole.is_broken or codes & SERVER_ERRORS):
        return Answer(orjson.dumps({"data": None, "errors": errors}), unavailable=all(map(is_unavailable, errors)))
    assert whole.inside is not None
    with translated_db_errors():
        await attempt.keep(whole.inside, answer.body)
        await whole.commit()
    return answer


def errors_of(body: bytes) -> list[dict[str, Any]]:
    errors: list[dict[str, Any]] = orjson.loads(body).get("errors", []) if b'"errors"' in body else []
    return errors


async def forget_answers(database: Database) -> int:
    """Delete expired answers of all tenants, in portions. Return how many were deleted."""
    deleted = 0
    for tenant in await list_tenants(database):
        while portion := await forget_portion(database, tenant.id):
            deleted += portion
    return deleted


async def forget_portion(database: Database, tenant_id: UUID) -> int:
    async with read_connection(database) as connection:
        return await connection.run(KEYS["forget_answers"], tenant_id=tenant_id, kept_for=KEPT_FOR, limit=PORTION)


def in_progress() -> InProgress:
    return InProgress("A request with this Idempotency-Key is at work. Send it again in a moment.")


def hash_request(value: Any) -> bytes:
    return sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()
