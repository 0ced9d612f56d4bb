"""What the fields of a mutation answer, as the selection shows it: attributes of Python's objects, and compiled reads.

The rules of completing values, of nulls and of errors are the specification's: see `Executor` of graphql-core. They are
decided here once for a plan, where graphql-core decides them for each value.
"""

from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import orjson
from graphql import (
    FieldNode,
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLOutputType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
    located_error,
)
from graphql.execution import Executor
from graphql.pyutils import gather_with_cancel, is_iterable

from .binds import Request
from .collect import Collector
from .compiler import Compiler, Mode
from .contract import attribute_of, lists_what_a_step_finds, mapping_of
from .errors import NotCompilable
from .mapping import Source
from .plan import Context, Plan

Nodes = list[FieldNode]
Place = tuple[str | int, ...]
"""The path in the answer, for errors."""


class Run(NamedTuple):
    """One execution: its errors in the order in which they happened."""

    context: Context
    request: Request
    errors: list[GraphQLError]


Show = Callable[[Any, Place, Run], Any]
"""A value that Python has as it is shown; it raises what is wrong with the whole of it."""


class Member(NamedTuple):
    """One key of an object."""

    key: str
    nodes: Nodes
    type: GraphQLOutputType
    label: str

    def failed(self, error: Exception, at: Place, run: Run) -> None:
        """Null in its place; where there may be none, an error of what holds it."""
        located = located_error(error, self.nodes, [*at, self.key])
        if is_non_null_type(self.type):
            raise located
        run.errors.append(located)

    def present(self, value: Any) -> Any:
        if value is None and is_non_null_type(self.type):
            raise no_null(self.label)
        return value


class Shown:
    """An object of one type under one selection: attributes, and what has to be asked of Postgres."""

    def __init__(self, type_: GraphQLObjectType, collector: Collector, nodes: Nodes) -> None:
        if type_.is_type_of is not None:
            raise NotCompilable(f"whether it is {type_.name}")
        self.attributes: list[tuple[Member, str, Show]] = []
        self.objects: list[tuple[Member, str, Shown]] = []
        self.later: list[tuple[Member, str, Plan | Shown]] = []
        self.blank: dict[str, Any] = {}
        for key, same in collector.below(type_, nodes).items():
            self.blank[key] = None
            if (name := same[0].name.value) == "__typename":
                self.blank[key] = type_.name
            else:
                field = type_.fields[name]
                self.add(Member(key, same, field.type, f"{type_.name}.{name}"), field, collector)

    @property
    def is_plain(self) -> bool:
        """Is all of it there at once?"""
        return not self.later

    def add(self, member: Member, field: GraphQLField, collector: Collector) -> None:
        if isinstance(source := mapping_of(field), Source):
            self.later.append((member, "", read_plan(field, source, collector, member.nodes)))
        elif (attribute := attribute_of(field)) is None:
            raise NotCompilable(member.label)
        elif not is_object_type(inner := get_nullable_type(field.type)):
            self.attributes.append((member, attribute, show(field.type, member, collector)))
        elif (shown := Shown(inner, collector, member.nodes)).is_plain:
            self.objects.append((member, attribute, shown))
        else:
            self.later.append((member, attribute, shown))

    def at_once(self, value: Any, at: Place, run: Run) -> dict[str, Any]:
        """All that is plain; null in the places of the rest."""
        found = self.blank.copy()
        for member, attribute, shown in self.attributes:
            try:
                found[member.key] = shown(getattr(value, attribute), (*at, member.key), run)
            except Exception as error:
                member.failed(error, at, run)
        for member, attribute, inner in self.objects:
            try:
                one = member.present(getattr(value, attribute))
                found[member.key] = None if one is None else inner.at_once(one, (*at, member.key), run)
            except Exception as error:
                member.failed(error, at, run)
        return found

    async def complete(self, value: Any, at: Place, run: Run) -> dict[str, Any]:
        """All of it: one read without a task of its own, several at the same time."""
        found = self.at_once(value, at, run)
        waiting: list[tuple[Member, Coroutine[Any, Any, Any]]] = []
        for member, attribute, one in self.later:
            if isinstance(one, Plan):
                waiting.append((member, read(member, one, value, at, run)))
            elif (inside := getattr(value, attribute)) is not None or is_non_null_type(member.type):
                waiting.append((member, look(member, one, inside, at, run)))
        if len(waiting) == 1:
            ((member, result),) = waiting
            found[member.key] = await result
        elif waiting:
            each = await gather_with_cancel(*(result for _, result in waiting))
            found.update(zip((member.key for member, _ in waiting), each, strict=True))
        return found


async def read(member: Member, plan: Plan, parent: Any, at: Place, run: Run) -> orjson.Fragment | None:
    try:
        data = member.present(await plan.run(run.context, run.request, parent))
        return None if data is None else orjson.Fragment(data)
    except Exception as error:
        return member.failed(error, at, run)


async def look(member: Member, inner: Shown, value: Any, at: Place, run: Run) -> dict[str, Any] | None:
    try:
        return await inner.complete(member.present(value), (*at, member.key), run)
    except Exception as error:
        return member.failed(error, at, run)


def read_plan(field: GraphQLField, source: Source, collector: Collector, nodes: Nodes) -> Plan:
    compiler = Compiler(collector, Mode.BYTES)
    nothing = b"[]" if lists_what_a_step_finds(field) else None
    return Plan(compiler, compiler.source(field, nodes, source), nothing)


def show(type_: GraphQLOutputType, member: Member, collector: Collector) -> Show:
    """Of anything but an object that stands by itself."""
    if is_non_null_type(type_):
        return required(show(type_.of_type, member, collector), member.label)
    if is_list_type(type_):
        return each(show(type_.of_type, member, collector), type_.of_type, member)
    if is_leaf_type(type_):
        return lambda value, at, run: None if value is None else Executor.complete_leaf_value(type_, value)
    if not is_object_type(named := get_named_type(type_)):
        raise NotCompilable(member.label)
    inner = Shown(named, collector, member.nodes)
    if not inner.is_plain:
        raise NotCompilable(f"reads in each of {member.label}")
    return lambda value, at, run: None if value is None else inner.at_once(value, at, run)


def required(shown: Show, label: str) -> Show:
    def complete(value: Any, at: Place, run: Run) -> Any:
        found = shown(value, at, run)
        if found is None:
            raise no_null(label)
        return found

    return complete


def each(shown: Show, item: GraphQLOutputType, member: Member) -> Show:
    def complete(value: Any, at: Place, run: Run) -> list[Any] | None:
        if value is None:
            return None
        if not is_iterable(value):
            raise GraphQLError(f"Expected Iterable, but did not find one for field '{member.label}'.")
        return [one(entry, (*at, place), run) for place, entry in enumerate(value)]

    def one(entry: Any, at: Place, run: Run) -> Any:
        try:
            return shown(entry, at, run)
        except Exception as error:
            located = located_error(error, member.nodes, list(at))
            if is_non_null_type(item):
                raise located from None
            run.errors.append(located)
            return None

    return complete


def no_null(label: str) -> TypeError:
    return TypeError(f"Cannot return null for non-nullable field {label}.")
