"""What providers do, well and badly, as their own libraries hear it: over HTTP, on this machine."""

import logging
from collections.abc import Iterator
from typing import Any

import pydantic_ai.models
import pytest

from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.models.models import Models, Terms
from tests.compiler.models.providers import KEY, SECRET, Provider, serving
from tests.compiler.story import compile_all, pages, retain
from tests.wiki import Wiki

NAMES = {"openai": "openai-chat:cairn-test", "anthropic": "anthropic:cairn-test", "ollama": "ollama:cairn-test"}


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setattr(pydantic_ai.models, "ALLOW_MODEL_REQUESTS", True)
    one = Provider(request.param)
    with serving(one) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("OLLAMA_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY"):
            monkeypatch.setenv(name, KEY)
        yield one


async def compiled(wiki: Wiki, name: str, timeout: float = 20.0) -> dict[str, Any]:
    """The job, after its first attempt."""
    planner, writer = ExtractivePlanner(), ExtractiveWriter()
    author_factory = Models(name, (), planner, writer, Terms(timeout=timeout))
    await retain(wiki, "Momofuku is a restaurant.")
    return (await compile_all(wiki, Compiler(planner, writer, author_factory=author_factory)))[0]


async def test_a_provider_that_answers_makes_pages_and_is_counted(wiki: Wiki, provider: Provider) -> None:
    job = await compiled(wiki, NAMES[provider.name])
    assert job["status"] == "succeeded"
    assert "It is a restaurant. [^day-0]" in (await pages(wiki))["Momofuku"]["body_md"]
    usage = job["metrics"]["usage"]
    assert (usage["requests"], usage["input_tokens"], usage["output_tokens"]) == (2, 2_000, 200)
    headers, body = provider.asked[0]
    assert KEY in (headers.get("x-api-key"), (headers.get("authorization") or "").removeprefix("Bearer "))
    assert body["model"] == "cairn-test"
    assert 16_000 in (body.get("max_tokens"), body.get("max_completion_tokens"))


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_a_server_of_ones_own_speaks_as_openai(wiki: Wiki, provider: Provider) -> None:
    assert (await compiled(wiki, NAMES["ollama"]))["status"] == "succeeded"
    assert provider.asked[0][1]["model"] == "cairn-test"


@pytest.mark.parametrize("manner", ["busy", "down", "overloaded"])
async def test_what_passes_is_asked_again_within_the_attempt(wiki: Wiki, provider: Provider, manner: str) -> None:
    provider.says = [manner, "well"]
    job = await compiled(wiki, NAMES[provider.name])
    assert (job["status"], job["attempt"]) == ("succeeded", 1)
    assert len(provider.asked) == 3
    assert job["metrics"]["usage"]["requests"] == 2, "what failed was no answer"


FOR_OPERATORS = {"unknown"}
"""Errors that no retry mends."""


@pytest.mark.parametrize(
    ("manner", "message"),
    [
        ("busy", "is asked too often: lower CAIRN_MODEL_REQUESTS, or wait."),
        ("down", "cannot be used now: the provider answered with status 500."),
        ("overloaded", "has too much to do: wait, or lower CAIRN_MODEL_REQUESTS."),
        ("unknown", "is not known to the provider: see how it writes the names of its models."),
        ("slow", "did not answer in time: raise CAIRN_MODEL_TIMEOUT, or wait."),
        ("broken", "cannot be reached: is there a way to the provider?"),
        ("noise", "cannot be used"),
        ("cut", "was cut off after 16,000 tokens: it says too much of too little, or thinks too long."),
        ("refused", "The provider of"),
        ("malformed", "gave no answer that has the form asked for, 3 times."),
    ],
)
async def test_what_stays_ends_the_attempt_and_is_told_without_what_the_provider_said(
    wiki: Wiki, provider: Provider, caplog: pytest.LogCaptureFixture, manner: str, message: str
) -> None:
    caplog.set_level(logging.DEBUG)
    provider.says = [manner]
    job = await compiled(wiki, NAMES[provider.name], timeout=0.4 if manner == "slow" else 20.0)
    expected = "failed" if manner in FOR_OPERATORS else "pending"
    assert (job["status"], job["attempt"]) == (expected, 1), "only what may pass is tried again"
    assert message in job["error"]
    assert not await pages(wiki)
    everything = f"{job} {caplog.text}"
    assert KEY not in everything
    assert SECRET not in everything


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_sources_that_are_too_long_for_a_model_are_said_to_be(wiki: Wiki, provider: Provider) -> None:
    provider.says = ["too long"]
    assert "reads less than it was shown" in (await compiled(wiki, NAMES["openai"]))["error"]
