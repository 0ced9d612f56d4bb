"""The compiler that turns a GraphQL selection into one SQL statement.

- declare/: how a field, an argument or a value of the GraphQL schema maps to SQL. Start at declare/mapping.py.
- compile/: an operation becomes a SQL statement and its parameters. Start at compile/compiler.py.
- execute/: operations are parsed, planned, cached and run. Start at execute/engine.py.
- limits.py: the bounds of a document and its variables, and the cost of a plan.

The exported names are imported lazily, on first access. Code that needs only a light module of this package, such as
the connection pool, then does not import graphql-core and SQLAlchemy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compile.parameters import scope_value, step_select
    from .compile.tenancy import in_tenant
    from .declare.mapping import (
        Access,
        Choice,
        Column,
        Computed,
        ConnectionPart,
        Expression,
        InlineStep,
        Paging,
        Relation,
        RequestFacts,
        Source,
        Step,
    )
    from .execute.engine import Answer, Engine
    from .execute.resolve import Resolvers
    from .limits import Limits

HOMES = {
    **dict.fromkeys(("step_select", "scope_value"), "compile.parameters"),
    **dict.fromkeys(("Answer", "Engine"), "execute.engine"),
    "Limits": "limits",
    **dict.fromkeys(
        (
            "Access", "Choice", "Column", "Computed", "ConnectionPart", "Expression", "InlineStep", "Paging",
            "Relation", "RequestFacts", "Source", "Step",
        ),
        "declare.mapping",
    ),
    "Resolvers": "execute.resolve",
    "in_tenant": "compile.tenancy",
}  # fmt: skip

__all__ = [
    "Access",
    "Answer",
    "Choice",
    "Column",
    "Computed",
    "ConnectionPart",
    "Engine",
    "Expression",
    "InlineStep",
    "Limits",
    "Paging",
    "Relation",
    "RequestFacts",
    "Resolvers",
    "Source",
    "Step",
    "in_tenant",
    "scope_value",
    "step_select",
]


def __getattr__(name: str) -> Any:
    """Import an exported name from the module that defines it."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    globals()[name] = value
    return value
