"""The changes that a write announces, as ids and kinds. They are sent with its COMMIT, so never for a rollback."""

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
ANNOUNCED_MAX = 1000  # pages of one transaction that are announced one by one; more are announced as one RESYNC
IN_ONE = 100  # changes in one notification, of which Postgres accepts 8000 bytes


class Topic(StrEnum):
    """The subject of a change: pages, compile jobs, or proposals."""

    PAGES = "pages"
    JOBS = "jobs"
    PROPOSALS = "proposals"


class ChangeKind(StrEnum):
    """The kind of a change, in ascending order: of several changes of one page the highest kind is announced."""

    EVIDENCE = "evidence"
    UPDATED = "updated"
    MOVED = "moved"
    RENAMED = "renamed"
    ARCHIVED = "archived"
    RESTORED = "restored"
    CREATED = "created"
    DELETED = "deleted"
    RESYNC = "resync"


# ARCHIVED and RESTORED have the same weight, so that the later of the two is announced.
WEIGHTS = {kind: weight for weight, kind in enumerate(ChangeKind)} | {ChangeKind.RESTORED: 4}
PAGE_CHANGE_KINDS: Mapping[str, ChangeKind] = {
    "created": ChangeKind.CREATED,
    "renamed": ChangeKind.RENAMED,
    "moved": ChangeKind.MOVED,
    "archived": ChangeKind.ARCHIVED,
    "unarchived": ChangeKind.RESTORED,
    "deleted": ChangeKind.DELETED,
}


class ChangeEvent(NamedTuple):
    """A change in a wiki. A change without an id is about the wiki as a whole."""

    tenant_id: UUID
    owner_id: UUID
    topic: Topic
    kind: ChangeKind
    id: UUID | None
    version: int | None
    at: datetime


def merge_changes(earlier: ChangeEvent, later: ChangeEvent) -> ChangeEvent:
    """Merge two changes of the same page, job or proposal."""
    kind = later.kind if WEIGHTS[later.kind] >= WEIGHTS[earlier.kind] else earlier.kind
    version = earlier.version if later.version is None else later.version
    return later._replace(kind=kind, version=version)


class ChangeLog:
    """The changes of one transaction so far, with one change for each page."""

    def __init__(self, tenant_id: UUID, owner_id: UUID, at: datetime) -> None:
        self.tenant_id, self.owner_id, self.at = tenant_id, owner_id, at
        self.found: dict[UUID | None, ChangeEvent] = {}

    def add(self, kind: ChangeKind, page_id: UUID | None, version: int | None = None) -> None:
        change = ChangeEvent(self.tenant_id, self.owner_id, Topic.PAGES, kind, page_id, version, self.at)
        before = self.found.get(page_id)
        self.found[page_id] = merge_changes(before, change) if before else change

    def add_action(self, action: str, page_id: UUID | None, version: int | None) -> None:
        """Add a change by the name of its action in the activity log, such as `page.created`."""
        self.add(kind_of(action, page_id is not None), page_id, version)

    def all(self) -> list[ChangeEvent]:
        """Return the changes, or for more than ANNOUNCED_MAX pages one RESYNC, which asks subscribers to read the wiki
        again."""
        if len(self.found) > ANNOUNCED_MAX:
            return [ChangeEvent(self.tenant_id, self.owner_id, Topic.PAGES, ChangeKind.RESYNC, None, None, self.at)]
        return list(self.found.values())


@cache
def kind_of(action: str, is_of_page: bool) -> ChangeKind:
    """Return the kind of change of an action. The result is cached, because there are few actions."""
    noun, _, verb = action.partition(".")
    if noun in ("source", "mention") and not is_of_page:
        return ChangeKind.EVIDENCE
    return PAGE_CHANGE_KINDS.get(verb, ChangeKind.UPDATED) if noun in ("page", "wiki") else ChangeKind.UPDATED


def announce(connection: Connection, changes: Iterable[ChangeEvent]) -> None:
    """Notify every process of the changes, in order, when the transaction commits. They are sent with the COMMIT."""
    for text in payloads(changes):
        connection.run_with_commit(NOTIFY, payload=text)


def announce_job(
    connection: Connection, tenant_id: UUID, owner_id: UUID, job_id: UUID, kind: ChangeKind = ChangeKind.UPDATED
) -> None:
    """Announce that a compile job was created or has progressed, in the transaction that writes its row."""
    announce(connection, [ChangeEvent(tenant_id, owner_id, Topic.JOBS, kind, job_id, None, datetime.now(UTC))])


def announce_proposal(
    connection: Connection, tenant_id: UUID, owner_id: UUID, proposal_id: UUID, kind: ChangeKind = ChangeKind.UPDATED
) -> None:
    """Announce that a proposal was created or decided, in the transaction that writes its row."""
    at = datetime.now(UTC)
    announce(connection, [ChangeEvent(tenant_id, owner_id, Topic.PROPOSALS, kind, proposal_id, None, at)])


def payloads(changes: Iterable[ChangeEvent]) -> list[str]:
    """Return the changes as payloads of notifications. Changes with the same topic, wiki and time share a heading."""
    headed: dict[tuple[Any, ...], list[Any]] = {}
    for change in changes:
        heading = (change.topic, change.tenant_id, change.owner_id, change.at)
        headed.setdefault(heading, []).append([change.kind, change.id, change.version])
    return [
        orjson.dumps([*heading, listed[start : start + IN_ONE]], default=str).decode()  # ids that came from Postgres
        for heading, listed in headed.items()
        for start in range(0, len(listed), IN_ONE)
    ]


def read_payload(text: str) -> list[ChangeEvent]:
    """Return the changes in the payload of a notification. Raises ValueError for any other payload."""
    try:
        topic, tenant_id, owner_id, at, listed = orjson.loads(text)
        place = UUID(tenant_id), UUID(owner_id), Topic(topic)
        moment = datetime.fromisoformat(at)
        return [
            ChangeEvent(*place, ChangeKind(kind), UUID(id) if id else None, version, moment)
            for kind, id, version in listed
        ]
    except (TypeError, AttributeError) as error:
        raise ValueError("not a notification of changes") from error
