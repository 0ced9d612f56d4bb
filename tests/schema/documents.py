"""Generates random valid documents with variables from the contract alone."""

import json
import random
from collections.abc import Callable
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLSchema,
    get_named_type,
    get_nullable_type,
    is_enum_type,
    is_interface_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
    is_required_argument,
    is_union_type,
)

from db.scope import Role, Scope
from tests.schema.arguments import SPELLINGS, Subject, Values
from tests.schema.world import World

ABSENT = object()
CHANGES = {"rateLimit", "wikiLint", "wikiKnowledgeMap", "wikiActivityLog", "wikiDiary"}
OF_GATEWAYS = {"_service"}
"""The field `_service` has its own tests."""
NEEDS_ADMIN = {"wikiCompileJobs"}
SEVERAL_TIMES = {"wikiPage": 3, "wikiPages": 3, "wikiSearchResults": 3, "node": 2, "_entities": 2}
INTROSPECTION = ["__schema { queryType { name } }", '__type(name: "WikiTag") { kind fields { name } }']


class Raw(str):
    """Document text, which is not quoted."""


class Documents:
    """Generates one document for one caller, and several sets of variables for it."""

    def __init__(self, schema: GraphQLSchema, world: World, scope: Scope, seed: int) -> None:
        self.rng, self.schema = random.Random(seed), schema
        self.values = Values(world, scope, self.rng)
        self.is_whole = seed % 4 > 0
        self.excluded = CHANGES | OF_GATEWAYS
        if scope.role is not Role.ADMIN and self.chance(0.9):
            self.excluded = self.excluded | NEEDS_ADMIN
        self.counter = 0
        self.declared: list[str] = []
        self.fragments: list[str] = []
        self.given: dict[str, Any] = {}
        self.subjects: list[Subject] = []
        self.redraws: dict[str, Callable[[], Any]] = {}

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def name(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    # -- the document and its variables

    def make(self) -> tuple[str, dict[str, Any], str | None]:
        """Return the text, the variables, and the operation's name if there are two operations."""
        query = self.schema.query_type
        assert query
        body = self.selections(query, self.rng.choice([2, 3, 4]), self.rng.randint(1, 3))
        if not self.is_whole and self.chance(0.1):
            body = f"{{ {self.rng.choice(INTROSPECTION)} {body[1:]}"
        variables = f"({', '.join(self.declared)})" if self.declared else ""
        other = "\nquery Other { __typename }" if self.chance(0.1) else ""
        text = f"query Q{variables} {body}\n" + "\n".join(self.fragments) + other
        return text, self.given, "Q" if other else None

    def again(self) -> dict[str, Any]:
        """Return other variables for the same document, so that a cached plan gets values that it was not built for."""
        for subject in self.subjects:
            subject.draw()
        drawn = {name: redraw() for name, redraw in self.redraws.items()}
        return {name: value for name, value in drawn.items() if value is not ABSENT}

    def declare(self, text: str, value: Any, redraw: Callable[[], Any], optional: bool = False) -> Raw:
        name = self.name("v")
        self.declared.append(f"${name}: {text}")
        if value is not ABSENT:
            self.given[name] = value
        self.redraws[name] = lambda: ABSENT if optional and self.chance(0.3) else redraw()
        return Raw(f"${name}")

    # -- selections

    def selections(self, type_: GraphQLNamedType, depth: int, count: int | None = None, apart: bool = False) -> str:
        """Generate a selection. With `apart` each field gets its own alias, as other types are selected beside this."""
        fields = getattr(type_, "fields", {})  # a union has none
        names = [name for name in fields if depth > 0 or is_leaf_type(get_named_type(fields[name].type))]
        names = [name for name in names if name not in self.excluded for _ in range(SEVERAL_TIMES.get(name, 1))]
        parts = []
        for name in self.rng.choices(names, k=count or self.rng.randint(1, 5)) if names else []:
            part = self.field(type_, name, depth, apart)
            parts += [part, part] if self.chance(0.1) else [part]
        if self.chance(0.15) or not parts:
            parts.append(self.rng.choice(["__typename", f"{self.name('t')}: __typename"]))
        if is_interface_type(type_) or is_union_type(type_):
            parts += self.variants(type_, depth)
        if is_object_type(type_) and type_.interfaces and self.chance(0.2):
            parts.append(f"... on Node{self.directive()} {{ id __typename }}")
        if len(parts) > 1 and self.chance(0.25):
            cut = self.rng.randrange(1, len(parts))
            parts[cut:] = [self.fragment(type_, parts[cut:])]
        self.rng.shuffle(parts)
        return "{ " + " ".join(parts) + " }"

    def variants(self, type_: Any, depth: int) -> list[str]:
        concrete = self.schema.get_possible_types(type_)
        chosen = self.rng.sample(concrete, self.rng.randint(1, 3))
        return [f"... on {one.name}{self.directive()} {self.selections(one, depth - 1, apart=True)}" for one in chosen]

    def fragment(self, type_: GraphQLNamedType, parts: list[str]) -> str:
        body = "{ " + " ".join(parts) + " }"
        kind = self.rng.choice(["bare", "typed", "named"])
        if kind == "named":
            name = self.name("F")
            self.fragments.append(f"fragment {name} on {type_.name} {body}")
            return f"...{name}{self.directive()}"
        return f"...{f' on {type_.name}' if kind == 'typed' else ''}{self.directive()} {body}"

    def directive(self) -> str:
        if self.chance(0.8):
            return ""
        value: Any = self.chance(0.5)
        text = str(value).lower()
        if self.chance(0.6):
            default = self.rng.choice(["", "", " = true", " = false"])
            text = self.declare(f"Boolean!{default}", value, lambda: self.chance(0.5), optional=bool(default))
        return f" @{self.rng.choice(['skip', 'include'])}(if: {text})"

    def field(self, type_: GraphQLNamedType, name: str, depth: int, apart: bool) -> str:
        field: GraphQLField = type_.fields[name]  # type: ignore[attr-defined]
        arguments = self.arguments(name, field)
        alias = f"{self.name('a')}: " if arguments or apart or self.chance(0.2) else ""
        inner = get_named_type(field.type)
        cost = 0 if inner.name.endswith(("Connection", "Edge", "PageInfo")) else 1
        below = "" if is_leaf_type(inner) else " " + self.selections(inner, depth - cost)
        return f"{alias}{name}{arguments}{self.directive()}{below}"

    # -- arguments

    def arguments(self, name: str, field: GraphQLField) -> str:
        subject = self.values.subject(name)
        self.subjects.append(subject)
        chosen = [key for key, one in field.args.items() if is_required_argument(one) or self.chance(self.share(key))]
        if "after" in chosen and "before" not in field.args and self.chance(0.95):
            chosen.remove("after")  # a search has its own cursors, which cannot be drawn
        if {"first", "last"} <= set(chosen) and self.chance(0.95):
            chosen.remove(self.rng.choice(["first", "last"]))
        is_paged = bool({"after", "before"} & set(chosen))
        texts = []
        for key in sorted(chosen, key=lambda key: key != "orderBy"):
            value = subject.value(key, field.args[key].type)
            subject.order = value if key == "orderBy" and value else subject.order
            fixed = key == "orderBy" and is_paged
            texts.append(f"{key}: {self.argument_text(subject, key, field.args[key], value, fixed)}")
        return f"({', '.join(texts)})" if texts else ""

    def share(self, argument: str) -> float:
        return {"tenantId": 0.1, "explain": 0.1, **dict.fromkeys(SPELLINGS, 0.08)}.get(argument, 0.35)

    def argument_text(self, subject: Subject, name: str, argument: Any, value: Any, fixed: bool) -> str:
        type_ = argument.type
        if self.chance(0.45):
            return self.variable(subject, name, argument, value, fixed)
        if isinstance(value, list) and value and self.chance(0.4):
            item = get_nullable_type(type_).of_type
            value = [self.declare(str(item), value[0], lambda: subject.value(name, item)), *value[1:]]
        elif isinstance(value, dict) and value and self.chance(0.6):
            key = self.rng.choice(list(value))
            inner = get_nullable_type(type_).fields[key].type
            given = self.declare(str(inner), value[key], lambda: subject.value(key, inner), optional=True)
            value = value | {key: given}
        elif isinstance(value, str) and value.isdecimal() and self.chance(0.5):
            return value
        return literal(type_, value)

    def variable(self, subject: Subject, name: str, argument: Any, value: Any, fixed: bool) -> str:
        """Declare a variable of the argument's type or of a stricter one, with or without a default, given or not."""
        type_ = argument.type
        may_lack = not is_required_argument(argument)
        default = f" = {literal(type_, value)}" if value is not None and self.chance(0.2) else ""
        lacks = bool(default) or (may_lack and self.chance(0.3))
        is_strict = value is not None and not default and not lacks and self.chance(0.5)
        stated = strict(type_) if is_strict else get_nullable_type(type_) if may_lack or default else type_
        drawn = strict(type_) if is_non_null_type(type_) or is_strict else type_
        redraw = (lambda: value) if fixed else (lambda: subject.value(name, drawn))
        given = ABSENT if lacks and self.chance(0.5) else value
        return self.declare(f"{stated}{default}", given, redraw, optional=lacks and not fixed)


def strict(type_: Any) -> Any:
    return type_ if is_non_null_type(type_) else GraphQLNonNull(type_)


def literal(type_: Any, value: Any) -> str:
    """Return the value as it is written in a document."""
    type_ = type_ and get_nullable_type(type_)
    if isinstance(value, Raw):
        return value
    if value is None:
        return "null"
    if isinstance(value, list):
        item = type_.of_type if is_list_type(type_) else type_
        return "[" + ", ".join(literal(item, one) for one in value) + "]"
    if isinstance(value, dict):
        fields = getattr(type_, "fields", {})  # a representation has none
        pairs = ((key, literal(fields[key].type if key in fields else None, one)) for key, one in value.items())
        return "{" + ", ".join(f"{key}: {text}" for key, text in pairs) + "}"
    return value if is_enum_type(type_) else json.dumps(value, ensure_ascii=False)
