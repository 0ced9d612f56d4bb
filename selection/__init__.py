"""GraphQL selections compiled to one SQL statement. Start at mapping.py, then compiler.py."""

from .binds import own_values, scope_value
from .engine import Answer, Engine
from .limits import Limits
from .mapping import Access, Choice, Column, Computed, Expression, Known, Paging, Part, Relation, Source, Step, Within
from .mutation import Write
from .resolve import Resolvers
from .tenancy import in_tenant

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
    "Write",
    "in_tenant",
    "own_values",
    "scope_value",
]
