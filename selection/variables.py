"""How much a client sends as variables, measured before anything reads what they say."""

from typing import Any, NamedTuple

from graphql import GraphQLError

from .limits import Limits

AT_ONCE_VALUES, AT_ONCE_TEXT = 1000, 20_000
"""So many values, and characters, are coerced in a few milliseconds."""


class Extent(NamedTuple):
    """Each object, list and scalar is a value; names of fields count as text."""

    values: int
    text: int

    @property
    def is_large(self) -> bool:
        return self.values > AT_ONCE_VALUES or self.text > AT_ONCE_TEXT


def extent(variables: dict[str, Any], limits: Limits) -> Extent:
    """How much there is, or a GraphQLError: it looks no further than the limits go, whatever is beyond them."""
    if len(variables) <= limits.variable_values and (flat := flat_text(variables)) is not None:
        return Extent(len(variables), flat)
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


def flat_text(variables: dict[str, Any]) -> int | None:
    """How much text there is where nothing is nested, as in most requests; None where something is."""
    text = 0
    for name, value in variables.items():
        text += len(name)
        if type(value) is str:
            text += len(value)
        elif type(value) is dict or type(value) is list:
            return None
    return text


def contents(inner: Any) -> Any:
    return inner.values() if type(inner) is dict else inner
