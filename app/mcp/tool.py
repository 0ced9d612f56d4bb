"""The definition of a tool: its name and its description for a model, what it takes and returns, and what it does."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from mcp_types import Tool as Listed
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import JsonSchemaMode

from .caller import Caller


class Given(BaseModel):
    """The arguments of a tool. An unknown one is refused, so that a misspelt one is not silently without effect."""

    model_config = ConfigDict(extra="forbid")


class Told(NamedTuple):
    """An answer: for programs, and as text for a prompt. `read` are the ids of the pages whose text it gives."""

    data: BaseModel
    text: str
    read: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. It `writes` data, `destroys` what was there, and `repeats` if two equal calls are as good as one."""

    name: str
    title: str
    about: str
    takes: type[Given]
    gives: type[BaseModel]
    run: Callable[[Caller, Any], Awaitable[Told]]
    writes: bool = False
    destroys: bool = False
    repeats: bool = True

    def listed(self) -> Listed:
        return Listed(
            name=self.name,
            title=self.title,
            description=self.about,
            input_schema=schema(self.takes, "validation"),
            output_schema=schema(self.gives, "serialization"),
            annotations=ToolAnnotations(
                read_only_hint=not self.writes,
                destructive_hint=self.destroys,
                idempotent_hint=self.repeats,
                open_world_hint=False,
            ),
        )


def schema(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
    """Return a JSON Schema without the words for Python readers: a model pays for each of them."""
    found: dict[str, Any] = plain(model.model_json_schema(mode=mode))
    return found


def plain(part: Any, named: bool = False) -> Any:
    """Drop the titles that only repeat names; `named` are properties, one of which may be called title."""
    if isinstance(part, list):
        return [plain(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {
        key: plain(value, named=key in ("properties", "$defs") and not named)
        for key, value in part.items()
        if named or key != "title"
    }
