"""GraphQL selections compiled to one SQL statement. Start at mapping.py, then compiler.py.

What is exported here is imported when it is first asked for: whoever needs one light module of this package, as the
pool of connections does, is not made to import graphql-core and SQLAlchemy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compile.parameters import own_values, scope_value
    from .compile.tenancy import in_tenant
    from .declare.mapping import (
        Access,
        Choice,
        Column,
        Computed,
        Expression,
        Known,
        Paging,
        Part,
        Relation,
        Source,
        Step,
        Within,
    )
    from .execute.engine import Answer, Engine
    from .execute.resolve import Resolvers
    from .limits.document import Limits

HOMES = {
    **dict.fromkeys(("own_values", "scope_value"), "binds"),
    **dict.fromkeys(("Answer", "Engine"), "engine"),
    "Limits": "limits",
    **dict.fromkeys(
        (
            "Access", "Choice", "Column", "Computed", "Expression", "Known", "Paging", "Part", "Relation", "Source",
            "Step", "Within",
        ),
        "mapping",
    ),
    "Resolvers": "resolve",
    "in_tenant": "tenancy",
}  # fmt: skip

__all__ = [
    "Access",
    "Answer",
    "Choice",
    "Column",
    "Computed",
    "Engine",
    "Expression",
    "Known",
    "Limits",
    "Paging",
    "Part",
    "Relation",
    "Resolvers",
    "Source",
    "Step",
    "Within",
    "in_tenant",
    "own_values",
    "scope_value",
]


def __getattr__(name: str) -> Any:
    """An exported name, from the module where it lives."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    globals()[name] = value
    return value
