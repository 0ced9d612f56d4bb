"""Answers and errors of providers are handled as their client libraries report them over HTTP."""

import logging
from collections.abc import Iterator
from typing import Any

import pydantic_ai.models
import pytest

from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.models.models import Models, Terms
from tests.compiler.models.providers import KEY, SECRET, Provider, serve_provider
from tests.compiler.scripted_compiler import compile_all, pages_by_title, retain_texts
from tests.wiki import Wiki

NAMES = {"openai": "openai-chat:cairn-test", "anthropic": "anthropic:cairn-test", "ollama": "ollama:cairn-test"}


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setattr(pydantic_ai.models, "ALLOW_MODEL_REQUESTS", True)
    fake = Provider(request.param)
    with serve_provider(fake) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("OLLAMA_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY"):
            monkeypatch.setenv(name, KEY)
        yield fake


async def compile_once(wiki: Wiki, name: str, timeout: float = 20.0) -> dict[str, Any]:
    """Compile a source with this model, and return the job after its first attempt."""
    planner, writer = ExtractivePlanner(), ExtractiveWriter()
    author_factory = Models(name, (), planner, writer, Terms(timeout=timeout))
    await retain_texts(wiki, "Momofuku is a restaurant.")
    return (await compile_all(wiki, Compiler(planner, writer, author_factory=author_factory)))[0]


async def test_an_answering_provider_makes_pages_and_its_usage_is_counted(wiki: Wiki, provider: Provider) -> None:
    job = await compile_once(wiki, NAMES[provider.name])
    assert job["status"] == "succeeded"
    assert "It is a restaurant. [^day-0]" in (await pages_by_title(wiki))["Momofuku"]["body_md"]
    usage = job["metrics"]["usage"]
    assert (usage["requests"], usage["input_tokens"], usage["output_tokens"]) == (2, 2_000, 200)
    headers, body = provider.requests[0]
    assert KEY in (headers.get("x-api-key"), (headers.get("authorization") or "").removeprefix("Bearer "))
    assert body["model"] == "cairn-test"
    assert 16_000 in (body.get("max_tokens"), body.get("max_completion_tokens"))


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_ollama_is_reached_by_the_openai_protocol(wiki: Wiki, provider: Provider) -> None:
    assert (await compile_once(wiki, NAMES["ollama"]))["status"] == "succeeded"
    assert provider.requests[0][1]["model"] == "cairn-test"


@pytest.mark.parametrize("behaviour", ["busy", "down", "overloaded"])
async def test_transient_errors_are_retried_within_the_attempt(wiki: Wiki, provider: Provider, behaviour: str) -> None:
    provider.behaviours = [behaviour, "well"]
    job = await compile_once(wiki, NAMES[provider.name])
    assert (job["status"], job["attempt"]) == ("succeeded", 1)
    assert len(provider.requests) == 3
    assert job["metrics"]["usage"]["requests"] == 2, "a failed request is not counted"


FOR_OPERATORS = {"unknown"}
"""Errors that no retry can fix."""


@pytest.mark.parametrize(
    ("behaviour", "message"),
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
async def test_lasting_errors_end_the_attempt_without_leaking_provider_messages(
    wiki: Wiki, provider: Provider, caplog: pytest.LogCaptureFixture, behaviour: str, message: str
) -> None:
    caplog.set_level(logging.DEBUG)
    provider.behaviours = [behaviour]
    job = await compile_once(wiki, NAMES[provider.name], timeout=0.4 if behaviour == "slow" else 20.0)
    expected = "failed" if behaviour in FOR_OPERATORS else "pending"
    assert (job["status"], job["attempt"]) == (expected, 1), "only transient errors are retried"
    assert message in job["error"]
    assert not await pages_by_title(wiki)
    everything = f"{job} {caplog.text}"
    assert KEY not in everything
    assert SECRET not in everything


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_the_error_says_that_sources_are_too_long_for_the_model(wiki: Wiki, provider: Provider) -> None:
    provider.behaviours = ["too long"]
    assert "reads less than it was shown" in (await compile_once(wiki, NAMES["openai"]))["error"]


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_the_error_of_a_server_without_the_responses_api_names_the_other_protocol(
    wiki: Wiki, provider: Provider
) -> None:
    provider.behaviours = ["unknown"]
    job = await compile_once(wiki, "openai:cairn-test")
    assert job["status"] == "failed"
    assert "A server other than OpenAI's may only know openai-chat:cairn-test." in job["error"]
