"""A question to a model, and its answer in the schema that was asked for: the one place that speaks to a provider.

The jobs of a process share its semaphore. A malformed answer is asked for again, with what is wrong with it, twice.
Whatever was used is noted, be there an answer or not.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelTimeoutError,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from resolvers.errors import CairnError, Unavailable

from ..authors import ModelRefused
from .meter import Meter
from .usage import Price, Usage

RETRIES = 2
ANSWER_MAX = 16_000  # tokens of one answer, what a model thinks before among them

Answer = TypeVar("Answer", bound=BaseModel)
Complaint = Callable[[Answer], str | None]


class Malformed(Unavailable):
    """The model was reached, and did not answer what it was asked for."""


class ModelQuestion(Generic[Answer]):
    """A question that is asked again and again about other texts: the instructions, and the schema of the answer."""

    def __init__(self, name: str, instructions: str, answer: type[Answer]) -> None:
        self.agent: Agent[Complaint[Answer], Answer] = Agent(
            name=name, instructions=instructions, output_type=answer, retries=RETRIES
        )

        @self.agent.output_validator
        def check(context: RunContext[Complaint[Answer]], given: Answer) -> Answer:
            if complaint := context.deps(given):
                raise ModelRetry(complaint)
            return given


class Asker:
    """A client of one model for one job."""

    def __init__(
        self,
        name: str,
        model: Model,
        meter: Meter,
        *,
        semaphore: asyncio.Semaphore,
        timeout: float,
        price: Price | None,
    ) -> None:
        """Set up for one job; `timeout` is in seconds for each request."""
        self.name, self.model, self.meter, self.semaphore, self.price = name, model, meter, semaphore, price
        self.settings = ModelSettings(request_timeout=timeout, max_tokens=ANSWER_MAX)

    async def ask(self, question: ModelQuestion[Answer], text: str, complaint: Complaint[Answer]) -> Answer:
        """Ask; `complaint` says what is wrong with an answer of the right form. Raises Malformed, Unavailable."""
        async with self.semaphore, self.meter_usage() as usage:
            result = await question.agent.run(
                text, deps=complaint, model=self.model, model_settings=self.settings, usage=usage
            )
        return result.output

    @asynccontextmanager
    async def meter_usage(self) -> AsyncIterator[RunUsage]:
        """Record in the end what is used in the block, and raise errors of the provider as errors of Cairn."""
        usage = RunUsage()
        try:
            yield usage
        except (AgentRunError, UserError) as error:
            raise self.translate_error(error) from None
        finally:
            if usage.requests:
                await asyncio.shield(self.meter.add(self.usage_of(usage)))

    def usage_of(self, usage: RunUsage) -> Usage:
        cost = None if usage.cost is None else float(usage.cost)
        return Usage(usage.requests, usage.input_tokens, usage.output_tokens, cost).with_price(self.price)

    def translate_error(self, error: Exception) -> CairnError:
        """Return an error without what the provider says: that may hold parts of sources, or of a key."""
        if isinstance(error, ContentFilterError):
            return Malformed(f"The provider of {self.name} refused to answer about these sources.")
        if isinstance(error, OutputTokenLimitExceeded):
            return Malformed(
                f"An answer of {self.name} was cut off after {ANSWER_MAX:,} tokens: it says too much of too little, or "
                "thinks too long."
            )
        if isinstance(error, UnexpectedModelBehavior):
            return Malformed(f"{self.name} gave no answer that has the form asked for, {RETRIES + 1} times.")
        message = f"{self.name} {what_went_wrong(error)}"
        return ModelRefused(message) if isinstance(error, FOR_OPERATORS) else Unavailable(message)


FOR_OPERATORS = (ModelAuthenticationError, ModelQuotaExceededError, ModelNotFoundError)
"""Errors that no retry fixes: somebody has to change a setting or an account first."""


def what_went_wrong(error: Exception) -> str:
    match error:
        case ModelAuthenticationError():
            return "refuses the key: set the provider's own variable, such as OPENAI_API_KEY or ANTHROPIC_API_KEY."
        case ModelQuotaExceededError():
            return "has no credit left: see to the account at the provider."
        case ModelRateLimitError():
            return "is asked too often: lower CAIRN_MODEL_REQUESTS, or wait."
        case ModelNotFoundError():
            return "is not known to the provider: see how it writes the names of its models."
        case ModelOverloadedError():
            return "has too much to do: wait, or lower CAIRN_MODEL_REQUESTS."
        case ModelContextWindowExceededError():
            return "reads less than it was shown: choose a model with a longer context."
        case ModelRequestTimeout() | ModelTimeoutError():
            return "did not answer in time: raise CAIRN_MODEL_TIMEOUT, or wait."
        case ModelHTTPError():
            return f"cannot be used now: the provider answered with status {error.status_code}."
        case ModelConnectionError():
            return "cannot be reached: is there a way to the provider?"
        case ModelAPIError():
            return "cannot be used now: the provider failed."
        case _:
            return f"cannot be used: {type(error).__name__}."
