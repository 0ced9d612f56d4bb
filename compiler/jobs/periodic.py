"""The periodic tasks of a worker, which it runs between two jobs when they are due."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from datetime import time as clock
from uuid import UUID

from db.database import Database
from resolvers.archives import retention
from resolvers.embeddings import vectors
from resolvers.embeddings.embedder import Embedder
from resolvers.knowledge.lint_reports import lint_all
from resolvers.pages.link_places import place_links
from resolvers.proposals.proposals import expire_proposals
from resolvers.sources.blob_files import sweep_files
from resolvers.sources.compile_requests import sweep_all
from resolvers.tenants.tenants import list_tenants
from resolvers.transactions.audit import OPERATORS_LOG
from resolvers.webhooks.webhooks import prune_deliveries

log = logging.getLogger(__name__)

RETENTION_INTERVAL = 3600.0  # seconds between two RetentionChecks
EXPIRY_INTERVAL = 60.0  # seconds between two searches for expired proposals
EMBEDDING_INTERVAL = 5.0  # seconds between two EmbeddingChecks


def now() -> datetime:
    return datetime.now(UTC)


class DailySweep:
    """Queues the sweep jobs and the due lint jobs of all wikis, once a day from the time `at` (UTC) on.

    All workers do the same. The database ensures that a wiki is swept once a day.
    """

    def __init__(self, at: clock | None, now: Callable[[], datetime] = now) -> None:
        self.at, self.now = at, now
        self.last: date | None = None
        """The last day on which this process has queued the jobs."""

    async def run_if_due(self, database: Database) -> None:
        """Queue the sweep jobs and the due lint jobs, if the time has come and this process has not done so today.

        If a wiki was too busy for that, all are tried again at the next call.
        """
        moment = self.now()
        if self.at is None or self.last == moment.date() or moment.time() < self.at:
            return
        if await sweep_all(database, moment.date()) and await lint_all(database):
            self.last = moment.date()


class EmbeddingCheck:
    """Queues jobs for the wikis with pages or passages that have no vector yet, every `every` seconds.

    It does nothing without an embedder.
    """

    def __init__(self, embedder: Embedder | None, every: float) -> None:
        self.embedder, self.every, self.next = embedder, every, 0.0

    async def run_if_due(self, database: Database) -> None:
        if self.embedder is None or time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.every
        await vectors.enqueue_embedding_jobs(database, self.embedder)


class RetentionCheck:
    """Deletes, every `every` seconds, the data whose retention period is over.

    A tenant without a period of its own keeps jobs, activity log and audit log for `keep_days` days (0: forever), and
    everything else forever. The check also deletes ended OAuth authorizations, old webhook deliveries and files that no
    row refers to, and stores the missing sections of links. A tenant for which that fails does not hold up the others.
    """

    def __init__(self, keep_days: int, every: float) -> None:
        self.default_days = dict.fromkeys(("activity", "audit", "jobs"), keep_days)
        self.every, self.next = every, 0.0

    async def run_if_due(self, database: Database) -> None:
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.every
        moment = await retention.find_moment(database)
        for tenant in await list_tenants(database):
            try:
                await self.prune(database, tenant.id, moment)
            except Exception as error:
                log.warning("The old data of the tenant %s are kept until the next check: %s", tenant.slug, error)
        await retention.prune(database, OPERATORS_LOG, {"audit": self.default_days["audit"]}, moment)

    async def prune(self, database: Database, tenant_id: UUID, moment: datetime) -> None:
        days = self.default_days | await retention.find_retention(database, tenant_id)
        await retention.prune(database, tenant_id, days, moment)
        await retention.prune_authorizations(database, tenant_id)
        await prune_deliveries(database, tenant_id, moment)
        await sweep_files(database, tenant_id)
        await place_links(database, tenant_id)


class ProposalExpiry:
    """Marks proposals as expired when their time is over, every EXPIRY_INTERVAL seconds."""

    def __init__(self) -> None:
        self.next = 0.0

    async def run_if_due(self, database: Database) -> None:
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + EXPIRY_INTERVAL
            await expire_proposals(database)
