"""The definition of a tool: its name and its description for a model, what it takes and returns, and what it does."""

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
    """The arguments of a tool. An unknown one is refused, so that a misspelt one is not silently without effect."""

    model_config = ConfigDict(extra="forbid")


class KeyedInput(ToolInput):
    """The arguments of a tool of which two equal calls are not as good as one."""

    idempotency_key: str = Field("", max_length=IDEMPOTENCY_KEY_MAX, description="Any new id, to repeat a call safely.")


class ToolOutput(NamedTuple):
    """An answer: for programs, and as text for a prompt. `read` are the ids of the pages whose text it gives."""

    data: BaseModel
    text: str
    read: tuple[str, ...] = ()
    is_replayed: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. It `writes` data, `destroys` what was there, and `repeats` if two equal calls are as good as one."""

    name: str
    title: str
    about: str
    takes: type[ToolInput]
    gives: type[BaseModel]
    run: Callable[[Caller, Any], Awaitable[ToolOutput]]
    writes: bool = False
    destroys: bool = False
    repeats: bool = True

    def definition(self, *, with_output: bool = True) -> Listed:
        """Return the tool as a client is shown it, with the schema of its answer or without."""
        return Listed(
            name=self.name,
            title=self.title,
            description=self.about,
            input_schema=schema(self.takes, "validation"),
            output_schema=schema(self.gives, "serialization") if with_output else None,
            annotations=ToolAnnotations(
                read_only_hint=not self.writes,
                destructive_hint=self.destroys,
                idempotent_hint=self.repeats,
                open_world_hint=False,
            ),
        )


KEY = "cairn/idempotency_key"
"""Where a program gives the key of a call, in its `_meta`: any tool that writes takes one there."""


async def run_tool(tool: Tool, caller: Caller, arguments: dict[str, Any], meta: Mapping[str, Any]) -> ToolOutput:
    """Run a tool; one that writes only once for each idempotency key, which answers as it did before."""
    given = tool.takes.model_validate(arguments)
    if tool.writes:
        close_route()
    key = getattr(given, "idempotency_key", "") or meta.get(KEY, "")
    if not tool.writes or key == "":
        return await tool.run(caller, given)
    if not isinstance(key, str):
        raise BadInput(f"{KEY} in _meta is not a text.")
    asked = [tool.name, given.model_dump(mode="json", exclude={"idempotency_key"})]

    async def work(within: Database) -> bytes:
        told = await tool.run(caller.within(within), given)
        return orjson.dumps([told.data.model_dump(mode="json"), told.text, told.read])

    answer, replayed = await run_once(caller.database, Attempt(caller.scope, check_idempotency_key(key), asked), work)
    data, text, read = orjson.loads(answer)
    return ToolOutput(tool.gives.model_validate(data), text, tuple(read), replayed)


def schema(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
    """Return a JSON Schema without the words for Python readers: a model pays for each of them."""
    found: dict[str, Any] = without_titles(model.model_json_schema(mode=mode))
    return found


def without_titles(part: Any, named: bool = False) -> Any:
    """Drop the titles that only repeat names; `named` are properties, one of which may be called title."""
    if isinstance(part, list):
        return [without_titles(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {
        key: without_titles(value, named=key in ("properties", "$defs") and not named)
        for key, value in part.items()
        if named or key != "title"
    }
