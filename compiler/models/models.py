"""The models with which jobs of this process may be compiled."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from genai_prices import Usage as PricedUsage
from genai_prices import calc_price
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model

from db.database import Database
from db.scope import Scope
from resolvers.errors import Unavailable
from resolvers.jobs.queue import Job

from ..authors import Authors, ModelRefused
from ..metrics import Metrics
from ..planner import Planner, SectionWriter
from ..write.corrections import RuleJudge
from .authorship import Authorship
from .judge import ModelJudge
from .meter import Budget, Meter
from .planner import ModelPlanner
from .requests import Asker
from .usage import Price
from .writer import ModelWriter

RULES = "rules"  # names the rule-based planner and writer in place of a model
BATCH = 10  # sources that are planned and stored together


class Terms(NamedTuple):
    """The limits and prices of using models."""

    timeout: float = 120.0
    """Seconds for each request."""
    requests: int = 4
    """Requests that run in parallel."""
    budget: Budget = Budget()
    prices: Mapping[str, Price] = {}
    """The operator's prices, by the name of the model."""


TERMS = Terms()


class Models:
    """An `AuthorFactory`. Jobs that name no model use `default`, or the rules if that is None. Jobs may name
    `others`."""

    def __init__(
        self,
        default: str | None,
        others: Collection[str],
        planner: Planner,
        writer: SectionWriter,
        terms: Terms = TERMS,
        make: Callable[[str], Model] | None = None,
    ) -> None:
        """Create all models. Raises Unavailable for a model without library, key or required price.

        `planner` and `writer` are the rule-based ones. `make` creates a model by its name.
        """
        self.default, self.planner, self.writer, self.terms = default, planner, writer, terms
        self.names = sorted({default, *others} - {None, RULES}, key=str)
        self.by_name = {name: (make or make_model)(name) for name in self.names if name}
        self.semaphore = asyncio.Semaphore(terms.requests)
        if terms.budget.job_cost or terms.budget.day_cost:
            for name, model in self.by_name.items():
                check_price(name, model, terms.prices)

    def authors(self, database: Database, scope: Scope, job: Job, metrics: Callable[[], Metrics]) -> Authors:
        """Return the planner and writer that the job names. Raises ModelRefused for a model that is not offered."""
        name = job.options.get("modelId") or self.default or RULES
        if name == RULES:
            return Authors(self.planner, self.writer)
        if name not in self.by_name:
            raise ModelRefused(
                f"This service does not compile with {name!r:.100}. Give {' or '.join([*self.by_name, RULES])}."
            )
        meter = Meter(database, scope, name, self.terms.budget, metrics)
        asker = Asker(
            name,
            self.by_name[name],
            meter,
            semaphore=self.semaphore,
            timeout=self.terms.timeout,
            price=self.terms.prices.get(name),
        )
        writer = ModelWriter(asker, self.writer, Authorship(database, scope))
        return Authors(ModelPlanner(asker), writer, BATCH, meter.stop, ModelJudge(asker, RuleJudge()))


def make_model(name: str) -> Model:
    """Return the model with a name such as `openai:…`. Raises Unavailable if its library or key is missing."""
    try:
        return infer_model(name)
    except (UserError, ValueError) as error:
        raise Unavailable(f"The model {name} cannot be used: {error}") from None
    except ImportError as error:
        raise Unavailable(
            f"The model {name} cannot be used: {str(error).splitlines()[0]} "
            "For models of OpenAI and Anthropic: pip install 'cairn-wiki[models]'."
        ) from None


def check_price(name: str, model: Model, prices: Mapping[str, Price]) -> None:
    """Raise Unavailable if the model has no known price, which a budget in dollars requires."""
    if name in prices:
        return
    try:
        calc_price(PricedUsage(input_tokens=1, output_tokens=1), model.model_name, provider_id=model.system)
    except LookupError:
        raise Unavailable(
            f"A budget in dollars needs a price of {name}: set CAIRN_MODEL_PRICES={name}=IN/OUT, in dollars for a "
            "million tokens."
        ) from None
