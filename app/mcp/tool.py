"""The definition of a tool: its name and description, the models of its input and output, and its function."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
from mcp_types import Tool as Listed
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import JsonSchemaMode

from db.database import Database
from db.replicas.routing import close_route
from resolvers.errors import BadInput
from resolvers.idempotency import Attempt, run_once

from ..http.request import IDEMPOTENCY_KEY_MAX, check_idempotency_key
from .caller import Caller


class ToolInput(BaseModel):
    """The arguments of a tool. An unknown argument is refused, so that a misspelt argument is not silently ignored."""

    model_config = ConfigDict(extra="forbid")


class KeyedInput(ToolInput):
    """The arguments of a tool that is not idempotent."""

    idempotency_key: str = Field("", max_length=IDEMPOTENCY_KEY_MAX, description="Any new id, to repeat a call safely.")


class ToolOutput(NamedTuple):
    """The output of a tool: data for programs, and text for a prompt."""

    data: BaseModel
    text: str
    page_ids: tuple[str, ...] = ()
    """The ids of the pages whose text it has."""
    is_replayed: bool = False
    """Whether this is the stored output of an earlier call with the same idempotency key."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `writes`, `destroys` and `is_idempotent` are hints for clients, as MCP defines them."""

    name: str
    title: str
    description: str
    input_model: type[ToolInput]
    output_model: type[BaseModel]
    run: Callable[[Caller, Any], Awaitable[ToolOutput]]
    writes: bool = False
    destroys: bool = False
    is_idempotent: bool = True

    def definition(self, *, with_output: bool = True) -> Listed:
        """Return the definition of the tool for clients, with or without the schema of its output."""
        return Listed(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema(self.input_model, "validation"),
            output_schema=schema(self.output_model, "serialization") if with_output else None,
            annotations=ToolAnnotations(
                read_only_hint=not self.writes,
                destructive_hint=self.destroys,
                idempotent_hint=self.is_idempotent,
                open_world_hint=False,
            ),
        )


KEY = "cairn/idempotency_key"
"""The key of `_meta` for an idempotency key, which all tools that write accept."""


async def run_tool(tool: Tool, caller: Caller, arguments: dict[str, Any], meta: Mapping[str, Any]) -> ToolOutput:
    """Run a tool. A tool that writes runs once for each idempotency key, and then returns its stored output."""
    validated = tool.input_model.model_validate(arguments)
    if tool.writes:
        close_route()
    key = getattr(validated, "idempotency_key", "") or meta.get(KEY, "")
    if not tool.writes or key == "":
        return await tool.run(caller, validated)
    if not isinstance(key, str):
        raise BadInput(f"{KEY} in _meta is not a text.")
    request = [tool.name, validated.model_dump(mode="json", exclude={"idempotency_key"})]

    async def work(database: Database) -> bytes:
        output = await tool.run(caller.with_database(database), validated)
        return orjson.dumps([output.data.model_dump(mode="json"), output.text, output.page_ids])

    attempt = Attempt(caller.scope, check_idempotency_key(key), request)
    answer, replayed = await run_once(caller.database, attempt, work)
    data, text, page_ids = orjson.loads(answer)
    return ToolOutput(tool.output_model.model_validate(data), text, tuple(page_ids), replayed)


def schema(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
    """Return the JSON Schema of a model without titles, to save tokens."""
    result: dict[str, Any] = without_titles(model.model_json_schema(mode=mode))
    return result


def without_titles(part: Any, is_mapping: bool = False) -> Any:
    """Return a part of a JSON Schema without the titles that pydantic adds, which only repeat names.

    `is_mapping` is true for a mapping from names to schemas, in which a property may be called `title`.
    """
    if isinstance(part, list):
        return [without_titles(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: without_titles(value, is_mapping=key in ("properties", "$defs") and not is_mapping)
        for key, value in part.items()
        if is_mapping or key != "title"
    }
