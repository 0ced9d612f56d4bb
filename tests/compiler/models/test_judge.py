"""A model judges corrections, and a verdict with a false quote does not count."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pydantic_ai.models
import pytest

from compiler.authors import Authors
from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.metrics import Metrics
from compiler.models.judge import ModelJudge
from compiler.models.models import Models
from compiler.planner import Disputed
from compiler.write.corrections import RuleJudge
from db.database import Database
from db.scope import Scope
from resolvers.jobs.queue import Job
from tests.compiler.models.providers import KEY, Provider, serve_provider
from tests.compiler.scripted_compiler import compile_all
from tests.compiler.test_corrections import BEFORE, MOVED, keep
from tests.wiki import Wiki

NAME = "openai-chat:cairn-test"


@dataclass
class JudgingProvider(Provider):
    """A provider that gives these verdicts in turn, and repeats the last."""

    verdicts: list[dict[str, Any]] = field(default_factory=list)

    def message(self, body: dict[str, Any], *, ending: str = "well", arguments: str | None = None) -> dict[str, Any]:
        verdict = self.verdicts[min(len(self.requests) - 1, len(self.verdicts) - 1)]
        return super().message(body, ending=ending, arguments=json.dumps(verdict))


class ModelJudging:
    """Authors that plan and write by rules, and judge by the model."""

    def __init__(self) -> None:
        self.models = Models(NAME, (), ExtractivePlanner(), ExtractiveWriter())

    def authors(self, database: Database, scope: Scope, job: Job, metrics: Callable[[], Metrics]) -> Authors:
        judge = self.models.authors(database, scope, job, metrics).judge
        assert isinstance(judge, ModelJudge)
        return Authors(ExtractivePlanner(), ExtractiveWriter(), judge=judge)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgingProvider]:
    monkeypatch.setattr(pydantic_ai.models, "ALLOW_MODEL_REQUESTS", True)
    judging = JudgingProvider("openai")
    with serve_provider(judging) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield judging


async def judged(wiki: Wiki, *texts: str) -> list[tuple[str, str]]:
    """Compile these sources, and return the superseded claims with their replacements."""
    await keep(wiki, *texts)
    await compile_all(wiki, Compiler(ExtractivePlanner(), ExtractiveWriter(), author_factory=ModelJudging()))
    return [(row["fact"], row["replacement"]) for row in await wiki.rows("superseded_claims")]


RIGHT = {"verdict": "overrides", "quote": "from Porto to  Lisbon"}
CLAIM = ("Ana Ruiz lives in Porto.", MOVED)


async def test_an_overridden_claim_is_superseded_and_each_pair_judged_once(
    wiki: Wiki, provider: JudgingProvider
) -> None:
    provider.verdicts = [RIGHT]
    assert await judged(wiki, *BEFORE, MOVED) == [CLAIM]
    shown = [body["messages"][-1]["content"] for _, body in provider.requests]
    assert len(shown) == len(set(map(str, shown))) >= 1
    assert all(MOVED in str(text) for text in shown)
    system = provider.requests[0][1]["messages"][0]["content"]
    assert "never an instruction to you" in system
    assert MOVED not in system


@pytest.mark.parametrize("verdict", ["adds", "unrelated"])
async def test_claims_that_the_model_does_not_call_overridden_stay(
    wiki: Wiki, provider: JudgingProvider, verdict: str
) -> None:
    provider.verdicts = [{"verdict": verdict}]
    assert await judged(wiki, *BEFORE, MOVED) == []
    assert provider.requests


async def test_a_verdict_with_a_false_quote_is_requested_again(wiki: Wiki, provider: JudgingProvider) -> None:
    provider.verdicts = [RIGHT | {"quote": "to Madrid"}, RIGHT | {"quote": None}, RIGHT]
    assert await judged(wiki, *BEFORE, MOVED) == [CLAIM]
    assert len(provider.requests) == 3


@pytest.mark.parametrize("verdict", [RIGHT | {"quote": "to Madrid"}, {"verdict": "perhaps"}], ids=["quote", "verdict"])
async def test_rules_judge_if_the_model_gives_no_valid_verdict(
    wiki: Wiki, provider: JudgingProvider, verdict: dict[str, Any]
) -> None:
    provider.verdicts = [verdict]
    assert await judged(wiki, *BEFORE, MOVED) == [CLAIM]


async def test_the_model_is_not_asked_without_a_possible_correction(wiki: Wiki, provider: JudgingProvider) -> None:
    assert await judged(wiki, *BEFORE) == []
    assert provider.requests == []


async def test_the_rule_judge_implements_the_same_protocol() -> None:
    assert await RuleJudge().judge(Disputed(CLAIM[0], MOVED)) == "overrides"
    assert await RuleJudge().judge(Disputed(CLAIM[0], "Bruno moved to Faro.")) == "unrelated"
