"""The extent of what a client sends as variables, measured before anything reads what they say."""

from typing import Any, NamedTuple

from graphql import GraphQLError

from .document import Limits

AT_ONCE_VALUES, AT_ONCE_TEXT = 1000, 20_000
"""So many values, and characters, are coerced in a few milliseconds."""
FEW = 20


class Extent(NamedTuple):
    """The size of variables: each object, list and scalar is a value; names of fields count as text."""

    values: int
    text: int

    @property
    def is_large(self) -> bool:
        return self.values > AT_ONCE_VALUES or self.text > AT_ONCE_TEXT


def extent(variables: dict[str, Any], limits: Limits) -> Extent:
    """Return how much there is, or raise a GraphQLError: it looks no further than the limits go, whatever is beyond."""
    near = near_extent(variables) if len(variables) <= limits.variable_values else None
    if near is not None and near.values <= limits.variable_values and limits.variable_depth > 1:
        return near
    found = text = 0
    level: list[Any] = [variables]
    for _ in range(limits.variable_depth):
        found += sum(map(len, level))
        if found > limits.variable_values:
            raise GraphQLError(f"The variables hold more than {limits.variable_values} values.")
        inside = [value for inner in level for value in contents(inner)]
        text += sum(len(value) for value in inside if type(value) is str)
        text += sum(len(name) for inner in level if type(inner) is dict for name in inner)
        level = [value for value in inside if type(value) is dict or type(value) is list]
        if not level:
            return Extent(found, text)
    raise GraphQLError(f"The variables are nested more than {limits.variable_depth} levels deep.")


def near_extent(variables: dict[str, Any]) -> Extent | None:
    """Return the extent where no variable holds more than a few scalars, as in most requests; None where one does."""
    values = text = 0
    for name, value in variables.items():
        kind = type(value)
        if kind is dict:
            if len(value) > FEW:
                return None
            for inner, one in value.items():
                if type(one) is dict or type(one) is list:
                    return None
                values += 1
                text += len(inner) + (len(one) if type(one) is str else 0)
        elif kind is list:
            return None
        elif kind is str:
            text += len(value)
        values += 1
        text += len(name)
    return Extent(values, text)


def contents(inner: Any) -> Any:
    return inner.values() if type(inner) is dict else inner
