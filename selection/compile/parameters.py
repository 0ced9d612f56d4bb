"""The parameters of a statement: what is bound, and where each request's value comes from.

What a declaration writes itself (`status == "active"`) is code and is rendered into the SQL, so that partial
indexes are seen; what a client sends is only ever a Bound, which no compiler option can render.
"""

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from graphql import (
    GraphQLBoolean,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
)
from graphql.execution.values import VariableValues
from graphql.utilities import coerce_input_literal
from sqlalchemy import TextClause, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.types import TypeEngine

from ..declare.mapping import Choice
from ..errors import BadInput


class BoundParameter(BindParameter[Any]):
    """A parameter that is never rendered into the SQL."""

    __visit_name__ = "bound"
    inherit_cache = False
    derive: "Callable[[Callable[[Any], Any]], BoundParameter]"
    """Another parameter: what a function makes of this one's value in each request."""
    plan_for_value: "Callable[[], BoundParameter]"
    """The same one, and the best plan depends on its value: the statement is planned anew in each request."""
    fixed: Any = None
    """Its value, where every request has the same one: the document says it, or it is a default."""


@compiles(BoundParameter)
def render(bound: BoundParameter, compiler: Any, **options: Any) -> str:
    options.pop("literal_binds", None)
    rendered: str = compiler.visit_bindparam(bound, **options)
    return rendered


class Request(NamedTuple):
    """The values that one execution of a plan has."""

    variables: VariableValues
    scope: Any
    found: list[Any]
    """Of each step the rows."""


Getter = Callable[[Request], Any]


class Fixed:
    """A getter whose value is the same in every request: it can be had while the plan is made."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, request: Request) -> Any:
        return self.value


class StepParameter(NamedTuple):
    """A parameter of a step's own select: the step says what it is, and not the request."""

    name: str


SCOPE = "scope_"
NOBODY = UUID(int=0)
MAX_LIST_LENGTH = 1000
MAX_ID_LENGTH = 45  # characters: a UUID as a URN


def scope_value(name: str, type_: TypeEngine[Any]) -> BoundParameter:
    """Return an attribute of the caller's scope, as a parameter."""
    return BoundParameter(SCOPE + name, type_=type_)


def step_select(sql: str) -> TextClause:
    """Return the values of a step's own select: what the step says they are, but the tenant is the caller's."""
    statement = text(sql.replace(":tenant_id", f":{SCOPE}tenant_id"))
    compiled: Any = statement.compile()
    return statement.bindparams(*map(BoundParameter, compiled.params))


class Binds:
    """The parameters of one statement as it is built."""

    def __init__(self) -> None:
        self.getters: dict[str, Getter] = {}
        self.needs_custom_plan = False

    def add(self, getter: Getter, type_: TypeEngine[Any]) -> BoundParameter:
        name = f"v{len(self.getters)}"
        self.getters[name] = getter
        bound = BoundParameter(name, type_=type_)
        bound.derive = lambda make: self.add(map_getter(make, getter), type_)
        bound.plan_for_value = lambda: self.require_custom_plan(bound)
        bound.fixed = getter.value if isinstance(getter, Fixed) else None
        return bound

    def require_custom_plan(self, bound: BoundParameter) -> BoundParameter:
        self.needs_custom_plan = True
        return bound

    def getter(self, name: str) -> Getter | StepParameter:
        if name in self.getters:
            return self.getters[name]
        if not name.startswith(SCOPE):
            return StepParameter(name)
        return attrgetter(f"scope.{name.removeprefix(SCOPE)}")


def getter_of(type_: GraphQLInputType, node: ValueNode | None, value: Any) -> Getter:
    """Return the getter of an argument: of a variable, of a literal with variables in it, or of a literal."""
    match node:
        case VariableNode():
            name = node.name.value
            return lambda request: request.variables.coerced.get(name, value)
        case _ if node is not None and has_variables(node):
            return lambda request: coerce_input_literal(node, type_, request.variables)
        case _:
            return Fixed(value)


def has_variables(node: ValueNode) -> bool:
    inner = [*(getattr(node, "values", None) or ()), *(field.value for field in getattr(node, "fields", None) or ())]
    return isinstance(node, VariableNode) or any(map(has_variables, inner))


Reader = Callable[[Any], Any]


def map_getter(read: Reader | None, get: Getter) -> Getter:
    if read is None:
        return get
    if isinstance(get, Fixed):
        with suppress(BadInput):  # what is wrong with it is told by each request, in its turn
            return Fixed(read(get.value))
    return lambda request: read(get(request))


def parameter_reader(type_: GraphQLInputType) -> Reader | None:
    """Return the function that makes a coerced value a parameter that Postgres takes, if it needs one."""
    nullable = get_nullable_type(type_)
    if isinstance(nullable, GraphQLList):
        item = parameter_reader(nullable.of_type)
        return lambda values: [
            value if value is None or item is None else item(value) for value in check_length(values)
        ]
    return {"ID": identifier, "String": sendable}.get(get_named_type(type_).name)


def check_length(values: list[Any]) -> list[Any]:
    if len(values) > MAX_LIST_LENGTH:
        raise BadInput(f"A list in an argument holds {MAX_LIST_LENGTH} values at most.")
    return values


def identifier(text: str) -> UUID:
    """Read an id. A text that has not the form of one is the id of nothing: it answers as an unknown one."""
    return NOBODY if len(text) > MAX_ID_LENGTH else read_identifier(text)


@lru_cache(4096)
def read_identifier(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return NOBODY


def sendable(text: str) -> str:
    if "\x00" in text or not is_unicode(text):
        raise BadInput("A text cannot hold NUL or half a surrogate pair.")
    return text


def is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


ABSENT, PRESENT = "absent", "present"


def is_choice(type_: Any) -> bool:
    """Return whether the value itself is part of the shape."""
    return type_ is GraphQLBoolean or issubclass(getattr(type_, "wrapped_cls", object), Choice)


def is_plain(type_: GraphQLInputType) -> bool:
    """Return whether it is a scalar, an enum, or a list of them: one parameter."""
    nullable = get_nullable_type(type_)
    if isinstance(nullable, GraphQLList):
        return is_plain(nullable.of_type)
    return not isinstance(nullable, GraphQLInputObjectType) and not is_choice(nullable)


def shape(type_: GraphQLInputType, value: Any) -> Hashable:
    if value is None:
        return None
    if is_plain(type_):
        return PRESENT
    nullable = get_nullable_type(type_)
    if isinstance(nullable, GraphQLList):
        return tuple(shape(nullable.of_type, item) for item in value)
    if isinstance(nullable, GraphQLInputObjectType):
        return tuple((name, shape(field.type, value[name])) for name, field in nullable.fields.items() if name in value)
    chosen: Hashable = value
    return chosen
