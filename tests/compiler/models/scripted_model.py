"""A language model whose answers are scripted.

An answer is a dictionary of the schema, any other text, an exception to raise, or a list of these, one for each
request."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.models.models import Models, Terms

SOURCE = re.compile(r"<<<source (s\d+) ([0-9a-f]+)>>>\n(.*?)\n<<<end of source \1 \2>>>", re.DOTALL)
Answer = Any
TOKENS = RequestUsage(input_tokens=100, output_tokens=10)


def empty_answer(prompt: str) -> Answer:
    return {}


def quote_sources(prompt: str) -> Answer:
    """Write a statement for each source: the beginning of its text."""
    texts = {handle: text.partition("\n\n")[2] for handle, _, text in SOURCE.findall(prompt)}
    return {"statements": [{"text": text[:60], "sources": [handle]} for handle, text in texts.items()]}


@dataclass
class ScriptedModel:
    """A model that answers a prompt with the result of `planning` or `writing`, and keeps the prompts."""

    planning: Callable[[str], Answer] = empty_answer
    writing: Callable[[str], Answer] = quote_sources
    usage: RequestUsage = field(default_factory=lambda: TOKENS)
    prompts: list[str] = field(default_factory=list)

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self.answer, model_name="oracle")

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        prompt = str(messages[0].parts[-1].content)  # type: ignore[union-attr]
        self.prompts.append(prompt)
        tool = info.output_tools[0]
        is_writing = "statements" in tool.parameters_json_schema["properties"]
        given = (self.writing if is_writing else self.planning)(prompt)
        if isinstance(given, list):
            given = given[min(len(messages) // 2, len(given) - 1)]
        if isinstance(given, Exception):
            raise given
        part = TextPart(given) if isinstance(given, str) else ToolCallPart(tool.name, json.dumps(given))
        return ModelResponse([part], usage=self.usage)

    def compiler(self, terms: Terms | None = None, **changes: Any) -> Compiler:
        """Return a compiler with this model as its default."""
        planner, writer = ExtractivePlanner(), ExtractiveWriter()
        models = Models("oracle", ["cheap"], planner, writer, terms or Terms(), make=lambda name: self.model)
        return Compiler(planner, writer, author_factory=models, **changes)


def page(title: str, *sources: str, type: str = "entity", **more: Any) -> dict[str, Any]:
    """Return a proposal of a page with one section."""
    return {"type": type, "title": title, "sections": [{"slug": "overview", "sources": list(sources)}], **more}
