"""Metering the usage of a model by a job, and stopping the job when a budget is used up.

Usage is recorded in the job's metrics, and also by tenant, owner, day and model, so that the daily budget of a tenant
holds for all workers together, even if a job fails. Budgets are checked before each batch, each further group of
sources, each section and each correction. Running requests are finished, so they may exceed a budget.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from db.database import Database
from db.scope import Scope
from db.sql import statements
from resolvers.transactions.transaction import read_connection

from ..authors import Stop
from ..metrics import Metrics
from .usage import Usage

MODEL_USAGE = statements("sources/model_usage")


class Budget(NamedTuple):
    """The limits of a job and of a tenant per day (UTC), in tokens, and in US dollars where prices are known.

    0 means no limit.
    """

    job_tokens: int = 0
    job_cost: float = 0.0
    day_tokens: int = 0
    day_cost: float = 0.0


class Meter:
    """Records the usage of one model by one job. `metrics` returns the present metrics of the job."""

    def __init__(
        self, database: Database, scope: Scope, model: str, budget: Budget, metrics: Callable[[], Metrics]
    ) -> None:
        self.database, self.scope, self.model, self.budget, self.metrics = database, scope, model, budget, metrics

    async def add(self, used: Usage) -> None:
        """Record usage immediately, in the metrics of the job and in the database for the day."""
        self.count(used.metrics)
        values: dict[str, Any] = {**used._asdict(), "cost": used.cost or 0.0}
        async with read_connection(self.database) as connection:
            await connection.run(
                MODEL_USAGE["add_usage"],
                tenant_id=self.scope.tenant_id,
                owner_id=self.scope.owner_id,
                model=self.model,
                **values,
            )

    def count(self, numbers: Mapping[str, float]) -> None:
        """Add numbers to the usage in the job's metrics only."""
        self.metrics().use(numbers)

    async def stop(self) -> Stop | None:
        """Return why the job must stop, if the budget of the day or of the job is used up, or None."""
        budget = self.budget
        if budget.day_tokens or budget.day_cost:
            tokens, cost, midnight = await self.of_today()
            if is_reached(tokens, budget.day_tokens) or is_reached(cost, budget.day_cost):
                return Stop(
                    "What the tenant may use of models in a day is used up. It goes on tomorrow (UTC).", midnight
                )
        used = self.metrics().usage
        tokens = used.get("input_tokens", 0) + used.get("output_tokens", 0)
        if is_reached(tokens, budget.job_tokens) or is_reached(used.get("cost", 0), budget.job_cost):
            return Stop("What a job may use of models is used up. Another one goes on.")
        return None

    async def of_today(self) -> tuple[float, float, datetime]:
        """Return (tokens, US dollars, end of the day) for all usage of the tenant today.

        The day follows the clock of Postgres, which also decides when a job that waits for the next day is due.
        """
        async with read_connection(self.database) as connection:
            row = await connection.one(MODEL_USAGE["find_usage_of_today"], tenant_id=self.scope.tenant_id)
        assert row is not None, "sums without groups are one row"
        return row["tokens"], row["cost"], row["midnight"]


def is_reached(used: float, limit: float) -> bool:
    return bool(limit) and used >= limit
