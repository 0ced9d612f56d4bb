"""Changes that a write announces, ids and a kind, in its own transaction: others hear of what was committed only."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from db.connection import Connection
from db.sql import statements

NOTIFY = statements("webhooks/changes")["notify"]
MOST = 1000  # pages of one transaction that are told apart
IN_ONE = 100  # changes in one notification: Postgres takes 8000 bytes


class Topic(StrEnum):
    """A topic of changes."""

    PAGES = "pages"
    JOBS = "jobs"
    PROPOSALS = "proposals"


class ChangeKind(StrEnum):
    """The kind of a change, from the least to the most: where several things happened, the most is told."""

    EVIDENCE = "evidence"
    UPDATED = "updated"
    MOVED = "moved"
    RENAMED = "renamed"
    ARCHIVED = "archived"
    RESTORED = "restored"
    CREATED = "created"
    DELETED = "deleted"
    RESYNC = "resync"


WEIGHTS = {kind: weight for weight, kind in enumerate(ChangeKind)} | {ChangeKind.RESTORED: 4}  # the later of the two
OF_PAGES: Mapping[str, ChangeKind] = {
    "created": ChangeKind.CREATED,
    "renamed": ChangeKind.RENAMED,
    "moved": ChangeKind.MOVED,
    "archived": ChangeKind.ARCHIVED,
    "unarchived": ChangeKind.RESTORED,
    "deleted": ChangeKind.DELETED,
}


class ChangeEvent(NamedTuple):
    """Something that happened in a wiki. Without an id it happened to the wiki as a whole."""

    tenant_id: UUID
    owner_id: UUID
    topic: Topic
    kind: ChangeKind
    id: UUID | None
    version: int | None
    at: datetime


def merge_changes(earlier: ChangeEvent, later: ChangeEvent) -> ChangeEvent:
    """Return two changes of one thing as one."""
    kind = later.kind if WEIGHTS[later.kind] >= WEIGHTS[earlier.kind] else earlier.kind
    version = earlier.version if later.version is None else later.version
    return later._replace(kind=kind, version=version)


class ChangeLog:
    """The changes of one transaction so far, each page once."""

    def __init__(self, tenant_id: UUID, owner_id: UUID, at: datetime) -> None:
        self.tenant_id, self.owner_id, self.at = tenant_id, owner_id, at
        self.found: dict[UUID | None, ChangeEvent] = {}

    def add(self, kind: ChangeKind, page_id: UUID | None, version: int | None = None) -> None:
        change = ChangeEvent(self.tenant_id, self.owner_id, Topic.PAGES, kind, page_id, version, self.at)
        before = self.found.get(page_id)
        self.found[page_id] = merge_changes(before, change) if before else change

    def add_action(self, action: str, page_id: UUID | None, version: int | None) -> None:
        """Add a change by the name under which it is logged: `page.created`."""
        self.add(kind_of(action, page_id is not None), page_id, version)

    def all(self) -> list[ChangeEvent]:
        """Return the changes. More than anybody would follow one by one are told as one: read the wiki anew."""
        if len(self.found) > MOST:
            return [ChangeEvent(self.tenant_id, self.owner_id, Topic.PAGES, ChangeKind.RESYNC, None, None, self.at)]
        return list(self.found.values())


@cache
def kind_of(action: str, is_of_page: bool) -> ChangeKind:
    """Return the kind of an action, cached because actions are few."""
    noun, _, verb = action.partition(".")
    if noun in ("source", "mention") and not is_of_page:
        return ChangeKind.EVIDENCE
    return OF_PAGES.get(verb, ChangeKind.UPDATED) if noun in ("page", "wiki") else ChangeKind.UPDATED


def announce(connection: Connection, changes: Iterable[ChangeEvent]) -> None:
    """Tell every process, in order, once the transaction commits: it goes along with the COMMIT."""
    for text in payloads(changes):
        connection.finally_run(NOTIFY, payload=text)


def announce_job(
    connection: Connection, tenant_id: UUID, owner_id: UUID, job_id: UUID, kind: ChangeKind = ChangeKind.UPDATED
) -> None:
    """Announce that a compile job was made or came further, in the transaction that writes its row."""
    announce(connection, [ChangeEvent(tenant_id, owner_id, Topic.JOBS, kind, job_id, None, datetime.now(UTC))])


def announce_proposal(
    connection: Connection, tenant_id: UUID, owner_id: UUID, proposal_id: UUID, kind: ChangeKind = ChangeKind.UPDATED
) -> None:
    """Announce that a proposal was made or decided, in the transaction that writes its row."""
    at = datetime.now(UTC)
    announce(connection, [ChangeEvent(tenant_id, owner_id, Topic.PROPOSALS, kind, proposal_id, None, at)])


def payloads(changes: Iterable[ChangeEvent]) -> list[str]:
    """Return the changes as notifications carry them: one heading for those that have it in common."""
    headed: dict[tuple[Any, ...], list[Any]] = {}
    for change in changes:
        heading = (change.topic, change.tenant_id, change.owner_id, change.at)
        headed.setdefault(heading, []).append([change.kind, change.id, change.version])
    return [
        orjson.dumps([*heading, told[start : start + IN_ONE]], default=str).decode()  # ids that came from Postgres
        for heading, told in headed.items()
        for start in range(0, len(told), IN_ONE)
    ]


def read_payload(text: str) -> list[ChangeEvent]:
    """Return the changes of a notification. Raises ValueError when it is not one of changes."""
    try:
        topic, tenant_id, owner_id, at, told = orjson.loads(text)
        place = UUID(tenant_id), UUID(owner_id), Topic(topic)
        moment = datetime.fromisoformat(at)
        return [
            ChangeEvent(*place, ChangeKind(kind), UUID(id) if id else None, version, moment)
            for kind, id, version in told
        ]
    except (TypeError, AttributeError) as error:
        raise ValueError("not a notification of changes") from error
