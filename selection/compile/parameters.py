"""The parameters of a statement: what is bound, and where each request's value comes from.

What a declaration writes itself (`status == "active"`) is code and is rendered into the SQL, so that partial
indexes are seen; what a client sends is only ever a Bound, which no compiler option can render.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

from graphql.execution.values import VariableValues
from sqlalchemy import TextClause, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.types import TypeEngine


class Bound(BindParameter[Any]):
    """A parameter that stays one."""

    __visit_name__ = "bound"
    inherit_cache = False
    derive: "Callable[[Callable[[Any], Any]], Bound]"
    """Another parameter: what a function makes of this one's value in each request."""
    decide: "Callable[[], Bound]"
    """The same one, and the best plan depends on its value: the statement is planned anew in each request."""
    fixed: Any = None
    """Its value, where every request has the same one: the document says it, or it is a default."""


@compiles(Bound)
def render(bound: Bound, compiler: Any, **options: Any) -> str:
    options.pop("literal_binds", None)
    rendered: str = compiler.visit_bindparam(bound, **options)
    return rendered


class Request(NamedTuple):
    """What one execution of a plan knows."""

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


def scope_value(name: str, type_: TypeEngine[Any]) -> Bound:
    """An attribute of the caller's scope, as a parameter."""
    return Bound(SCOPE + name, type_=type_)


def own_values(sql: str) -> TextClause:
    """A step's own select. Its parameters are what the step says they are, but the tenant is the caller's."""
    statement = text(sql.replace(":tenant_id", f":{SCOPE}tenant_id"))
    compiled: Any = statement.compile()
    return statement.bindparams(*map(Bound, compiled.params))


class Binds:
    """The parameters of one statement as it is built."""

    def __init__(self) -> None:
        self.getters: dict[str, Getter] = {}
        self.decides = False

    def add(self, getter: Getter, type_: TypeEngine[Any]) -> Bound:
        name = f"v{len(self.getters)}"
        self.getters[name] = getter
        bound = Bound(name, type_=type_)
        bound.derive = lambda make: self.add(lambda request: make(getter(request)), type_)
        bound.decide = lambda: self.decided_by(bound)
        bound.fixed = getter.value if isinstance(getter, Fixed) else None
        return bound

    def decided_by(self, bound: Bound) -> Bound:
        self.decides = True
        return bound

    def getter(self, name: str) -> Getter | OfStep:
        if name in self.getters:
            return self.getters[name]
        if not name.startswith(SCOPE):
            return OfStep(name)
        return attrgetter(f"scope.{name.removeprefix(SCOPE)}")
