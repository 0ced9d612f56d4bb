"""The usage of a model by a job, noted as it is used, and when it has used enough.

Notes are kept by tenant, owner, day and model beside the job's own metrics, so that the budget of a tenant holds for
all workers together, and whatever becomes of the job. It is looked at before each batch, each group of sources and each
section; requests that are under way are finished, so a budget may be passed by those.
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
    """The limits of a job, and of a tenant in a day (UTC): tokens, and US dollars where prices are known. 0: any."""

    job_tokens: int = 0
    job_cost: float = 0.0
    day_tokens: int = 0
    day_cost: float = 0.0


class Meter:
    """The usage of one model by one job. `metrics` are the job's at this moment."""

    def __init__(
        self, database: Database, scope: Scope, model: str, budget: Budget, metrics: Callable[[], Metrics]
    ) -> None:
        self.database, self.scope, self.model, self.budget, self.metrics = database, scope, model, budget, metrics

    async def add(self, used: Usage) -> None:
        """Note usage immediately, in the job and for the day."""
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
        """Add to the job's metrics alone."""
        self.metrics().use(numbers)

    async def stop(self) -> Stop | None:
        """Return why to stop if enough was used: of the day, then of the job."""
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
        """Return (tokens, US dollars) of the tenant today, all owners and models together, and when the day ends.

        The day is one of the clock of Postgres, which decides when a job that waits for the next day is due.
        """
        async with read_connection(self.database) as connection:
            row = await connection.one(MODEL_USAGE["find_usage_of_today"], tenant_id=self.scope.tenant_id)
        assert row is not None, "sums without groups are one row"
        return row["tokens"], row["cost"], row["midnight"]


def is_reached(used: float, most: float) -> bool:
    return bool(most) and used >= most
