"""Whether trusted documents can be executed by this version of Cairn."""

from collections.abc import Iterable, Iterator

from schema.root import GRAPHQL
from selection import Limits
from selection.operation import Invalid, parsed

from .folder import Fault, Trusted


def refusals(documents: Iterable[Trusted], limits: Limits) -> Iterator[Fault]:
    """What is wrong with them by the schema and by the limits."""
    for one in documents:
        try:
            parsed(GRAPHQL, one.text, limits)
        except Invalid as invalid:
            yield from (Fault(one.file, one.id, error.message) for error in invalid.errors)
