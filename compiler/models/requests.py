"""Requests to a model, whose answers have a schema. This is the only module that calls a provider.

All jobs of a process share a semaphore, which limits parallel requests. After a malformed answer, the model is asked
again up to RETRIES times, and told what is wrong. Usage is recorded even if a request fails.
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
RESPONSES, CHAT = "openai:", "openai-chat:"  # two protocols of OpenAI; most other servers speak only the second
ANSWER_MAX = 16_000  # tokens of one answer, including those of the model's reasoning

Answer = TypeVar("Answer", bound=BaseModel)
Complaint = Callable[[Answer], str | None]


class Malformed(Unavailable):
    """Raised if the model was reached, but did not return a valid answer."""


class ModelQuestion(Generic[Answer]):
    """A kind of request: its instructions and the schema of its answer. It is used for many different texts."""

    def __init__(self, name: str, instructions: str, answer: type[Answer]) -> None:
        self.agent: Agent[Complaint[Answer], Answer] = Agent(
            name=name, instructions=instructions, output_type=answer, retries=RETRIES
        )

        @self.agent.output_validator
        def check(context: RunContext[Complaint[Answer]], value: Answer) -> Answer:
            if complaint := context.deps(value):
                raise ModelRetry(complaint)
            return value


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
        """Set up for one job. `timeout` is the longest time in seconds that each request may take."""
        self.name, self.model, self.meter, self.semaphore, self.price = name, model, meter, semaphore, price
        self.settings = ModelSettings(request_timeout=timeout, max_tokens=ANSWER_MAX)

    async def ask(self, question: ModelQuestion[Answer], text: str, complaint: Complaint[Answer]) -> Answer:
        """Send a request and return its valid answer.

        `complaint` returns what is wrong with an answer that fits the schema, or None. Raises Malformed, Unavailable
        and ModelRefused.
        """
        async with self.semaphore, self.meter_usage() as usage:
            result = await question.agent.run(
                text, deps=complaint, model=self.model, model_settings=self.settings, usage=usage
            )
        return result.output

    @asynccontextmanager
    async def meter_usage(self) -> AsyncIterator[RunUsage]:
        """Record the usage of the block at its end, and translate errors of the provider into errors of Cairn."""
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
        """Return an error without the provider's message, which may contain parts of sources or of a key."""
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
        if isinstance(error, ModelNotFoundError) and self.name.startswith(RESPONSES):
            message += f" A server other than OpenAI's may only know {CHAT}{self.name.removeprefix(RESPONSES)}."
        return ModelRefused(message) if isinstance(error, FOR_OPERATORS) else Unavailable(message)


FOR_OPERATORS = (ModelAuthenticationError, ModelQuotaExceededError, ModelNotFoundError)
"""Errors that a retry does not fix: an operator must first change a setting or an account."""


def what_went_wrong(error: Exception) -> str:
    """Return the second half of an error message, with what an operator can do."""
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
