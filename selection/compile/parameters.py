"""The parameters of a statement: what is bound, and where each request's value comes from.

What a declaration writes itself (`status == "active"`) is code and is rendered into the SQL, so that partial
indexes are seen; what a client sends is only ever a Bound, which no compiler option can render.
"""

from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import Any, NamedTuple

from graphql import (
    GraphQLBoolean,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    get_nullable_type,
)
from graphql.execution.values import VariableValues
from sqlalchemy import TextClause, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.types import TypeEngine

from ..declare.mapping import Choice


class BoundParameter(BindParameter[Any]):
    """A parameter that is never rendered into the SQL."""

    __visit_name__ = "bound"
    inherit_cache = False
    derive: "Callable[[Callable[[Any], Any]], BoundParameter]"
    """Another parameter: what a function makes of this one's value in each request."""
    decide: "Callable[[], BoundParameter]"
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


class OfStep(NamedTuple):
    """A parameter of a step's own select: the step says what it is, and not the request."""

    name: str


SCOPE = "scope_"


def scope_value(name: str, type_: TypeEngine[Any]) -> BoundParameter:
    """Return an attribute of the caller's scope, as a parameter."""
    return BoundParameter(SCOPE + name, type_=type_)


def own_values(sql: str) -> TextClause:
    """Return the values of a step's own select: what the step says they are, but the tenant is the caller's."""
    statement = text(sql.replace(":tenant_id", f":{SCOPE}tenant_id"))
    compiled: Any = statement.compile()
    return statement.bindparams(*map(BoundParameter, compiled.params))


class Binds:
    """The parameters of one statement as it is built."""

    def __init__(self) -> None:
        self.getters: dict[str, Getter] = {}
        self.decides = False

    def add(self, getter: Getter, type_: TypeEngine[Any]) -> BoundParameter:
        name = f"v{len(self.getters)}"
        self.getters[name] = getter
        bound = BoundParameter(name, type_=type_)
        bound.derive = lambda make: self.add(lambda request: make(getter(request)), type_)
        bound.decide = lambda: self.decided_by(bound)
        bound.fixed = getter.value if isinstance(getter, Fixed) else None
        return bound

    def decided_by(self, bound: BoundParameter) -> BoundParameter:
        self.decides = True
        return bound

    def getter(self, name: str) -> Getter | OfStep:
        if name in self.getters:
            return self.getters[name]
        if not name.startswith(SCOPE):
            return OfStep(name)
        return attrgetter(f"scope.{name.removeprefix(SCOPE)}")


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
