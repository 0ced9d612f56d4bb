"""The parameters of a statement, and the getters that read their values from each request.

A constant in the code of a mapping (`status == "active"`) is rendered into the SQL, so that Postgres can use partial
indexes. A value from the client is always a BoundParameter, which no compiler option renders into the SQL.
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
    """derive(function) returns another parameter, whose value is the function's result for this one's value."""
    plan_for_value: "Callable[[], BoundParameter]"
    """Returns this parameter, and makes Postgres plan the statement anew for the values of each request.

    It is used where the best plan depends on the value.
    """
    fixed: Any = None
    """The value if it is the same in every request, because the document contains it or it is a default."""


@compiles(BoundParameter)
def render(bound: BoundParameter, compiler: Any, **options: Any) -> str:
    options.pop("literal_binds", None)
    rendered: str = compiler.visit_bindparam(bound, **options)
    return rendered


class Request(NamedTuple):
    """The values of one execution of a plan: variables, the caller's scope, and the rows of steps."""

    variables: VariableValues
    scope: Any
    found: list[Any]
    """The rows of each step, in the order of the plan's steps."""


Getter = Callable[[Request], Any]
"""A function that returns a value of a request."""


class Fixed:
    """A getter of a constant: its value is known while the plan is compiled."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, request: Request) -> Any:
        return self.value


class StepParameter(NamedTuple):
    """A named parameter of a step's select (InlineStep.rows). InlineStep.know gives its value, not the request."""

    name: str


SCOPE = "scope_"
"""The prefix of parameters that are attributes of the caller's scope."""
NOBODY = UUID(int=0)
"""An id that no row has."""
MAX_LIST_LENGTH = 1000
MAX_ID_LENGTH = 45  # characters of the longest form, a URN: urn:uuid:…


def scope_value(name: str, type_: TypeEngine[Any]) -> BoundParameter:
    """Return a parameter whose value is an attribute of the caller's scope."""
    return BoundParameter(SCOPE + name, type_=type_)


def step_select(sql: str) -> TextClause:
    """Return a select of an InlineStep. Its `know` gives the values of the parameters, except the caller's tenant."""
    statement = text(sql.replace(":tenant_id", f":{SCOPE}tenant_id"))
    compiled: Any = statement.compile()
    return statement.bindparams(*map(BoundParameter, compiled.params))


class Binds:
    """The parameters of a statement while it is compiled."""

    def __init__(self) -> None:
        self.getters: dict[str, Getter] = {}
        self.needs_custom_plan = False
        """Whether Postgres has to plan the statement for the values of each request."""

    def add(self, getter: Getter, type_: TypeEngine[Any]) -> BoundParameter:
        """Add a parameter and return it."""
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
        """Return the source of a parameter's value: a getter, or StepParameter if the step gives the value."""
        if name in self.getters:
            return self.getters[name]
        if not name.startswith(SCOPE):
            return StepParameter(name)
        return attrgetter(f"scope.{name.removeprefix(SCOPE)}")


def getter_of(type_: GraphQLInputType, node: ValueNode | None, value: Any) -> Getter:
    """Return a getter of an argument's value, which is a variable, a literal that contains variables, or a constant."""
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
"""A function that converts a value for Postgres. It may raise BadInput."""


def map_getter(read: Reader | None, get: Getter) -> Getter:
    """Return a getter of the converted value. A constant is converted only once."""
    if read is None:
        return get
    if isinstance(get, Fixed):
        # An invalid constant does not fail the compilation: the getter below raises BadInput in each request.
        with suppress(BadInput):
            return Fixed(read(get.value))
    return lambda request: read(get(request))


def parameter_reader(type_: GraphQLInputType) -> Reader | None:
    """Return the function that converts a coerced value of this type for Postgres, or None if none is needed."""
    nullable = get_nullable_type(type_)
    if isinstance(nullable, GraphQLList):
        item = parameter_reader(nullable.of_type)
        return lambda values: [
            value if value is None or item is None else item(value) for value in check_length(values)
        ]
    return {"ID": identifier, "String": check_text}.get(get_named_type(type_).name)


def check_length(values: list[Any]) -> list[Any]:
    if len(values) > MAX_LIST_LENGTH:
        raise BadInput(f"A list in an argument holds {MAX_LIST_LENGTH} values at most.")
    return values


def identifier(text: str) -> UUID:
    """Return an id as a UUID. A malformed id becomes NOBODY, so that it is answered like an unknown id."""
    return NOBODY if len(text) > MAX_ID_LENGTH else read_identifier(text)


@lru_cache(4096)
def read_identifier(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return NOBODY


def check_text(text: str) -> str:
    """Return the text if Postgres can store it, else raise BadInput."""
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
"""Shapes of a variable that is not given, and of one whose value is a parameter."""


def is_choice(type_: Any) -> bool:
    """Return whether values of the type, a bool or a Choice, are part of the shape: each has a plan of its own."""
    return type_ is GraphQLBoolean or issubclass(getattr(type_, "wrapped_cls", object), Choice)


def is_plain(type_: GraphQLInputType) -> bool:
    """Return whether a value of the type is one parameter: a scalar, an enum or a list of them, no Choice or bool."""
    nullable = get_nullable_type(type_)
    if isinstance(nullable, GraphQLList):
        return is_plain(nullable.of_type)
    return not isinstance(nullable, GraphQLInputObjectType) and not is_choice(nullable)


def shape(type_: GraphQLInputType, value: Any) -> Hashable:
    """Return the part of a value on which a compiled plan depends. Values of the same shape share a plan."""
    if value is None:
        return None
    if is_plain(type_):
        return PRESENT
    nullable = get_nullable_type(type_)
    if isinstance(nullable, GraphQLList):
        return tuple(shape(nullable.of_type, item) for item in value)
    if isinstance(nullable, GraphQLInputObjectType):
        return tuple((name, shape(field.type, value[name])) for name, field in nullable.fields.items() if name in value)
    choice: Hashable = value
    return choice
