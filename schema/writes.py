"""The methods of Mutation, called directly: Strawberry looks each type of an argument up in each request, and wraps the
call in what none of them has (extensions, permissions). Here it is decided once how the arguments are converted.
"""

from collections.abc import Awaitable, Callable
from dataclasses import MISSING
from typing import Any

import strawberry
from graphql import GraphQLField
from strawberry import Some
from strawberry.scalars import is_scalar
from strawberry.schema.config import StrawberryConfig
from strawberry.types.arguments import convert_argument
from strawberry.types.base import (
    StrawberryList,
    StrawberryMaybe,
    StrawberryOptional,
    has_object_definition,
)
from strawberry.types.enum import StrawberryEnumDefinition, has_enum_definition
from strawberry.types.field import StrawberryField
from strawberry.types.lazy_type import LazyType

from selection import Write
from selection.contract import METADATA, definition

Convert = Callable[[Any], Any]


class Informed:
    """All that a method of Mutation may know of its request; to make Strawberry's Info of each call takes longer."""

    __slots__ = ("context",)

    def __init__(self, context: Any) -> None:
        self.context = context


class Conversions:
    """How coerced arguments become what methods take, by type: what Strawberry's `convert_argument` would make."""

    def __init__(self, schema: strawberry.Schema) -> None:
        converter = schema.schema_converter
        self.config: StrawberryConfig = converter.config
        self.scalars: Any = converter.scalar_registry

    def of(self, type_: Any) -> Convert | None:
        """Nothing where the value stays as it is."""
        if isinstance(type_, StrawberryMaybe):
            return self.of_maybe(type_)
        if isinstance(type_, StrawberryOptional):
            return nullable(self.of(type_.of_type))
        if isinstance(type_, LazyType):
            return self.of(type_.resolve_type())
        if isinstance(type_, StrawberryList):
            item = self.of(type_.of_type)
            # A default is the same list in every request.
            return list if item is None else lambda values: [item(value) for value in values]
        if isinstance(type_, StrawberryEnumDefinition) or has_enum_definition(type_) or is_scalar(type_, self.scalars):
            return None
        if has_object_definition(type_) and type_.__strawberry_definition__.from_input is None:
            return self.of_object(type_)
        return lambda value: convert_argument(value, type_, self.scalars, self.config)

    def of_maybe(self, type_: StrawberryMaybe) -> Convert:
        """Whether it was given is told apart from null, where it may be null."""
        if not isinstance(type_.of_type, StrawberryOptional):
            return lambda value: convert_argument(value, type_, self.scalars, self.config)
        inner = self.of(type_.of_type)
        return Some if inner is None else lambda value: Some(inner(value))

    def of_object(self, type_: Any) -> Convert:
        fields = type_.__strawberry_definition__.fields
        names = {self.config.name_converter.from_field(one): one.python_name for one in fields}
        converts = {self.config.name_converter.from_field(one): self.of(one.resolve_type()) for one in fields}
        absent = {
            one.python_name: None for one in fields if one.default_value is MISSING and one.default_factory is MISSING
        }

        def convert(given: dict[str, Any]) -> Any:
            values = absent.copy()
            for name, value in given.items():
                one = converts[name]
                values[names[name]] = value if one is None else one(value)
            return type_(**values)

        return convert


def nullable(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def install(schema: strawberry.Schema) -> None:
    """On each field of Mutation that is a method."""
    mutation, conversions = schema._schema.mutation_type, Conversions(schema)
    assert mutation is not None
    for field in mutation.fields.values():
        if is_method(definition(field)):
            field.resolve = Write(calling(field, conversions))


def is_method(field: StrawberryField) -> bool:
    """With `self` and `info`, and without anything that Strawberry would have to do around it."""
    method = field.base_resolver
    if method is None or METADATA in field.metadata or field.extensions:
        return False
    return field.is_async and method.self_parameter is not None and method.info_parameter is not None


def calling(field: GraphQLField, conversions: Conversions) -> Callable[[Any, dict[str, Any]], Awaitable[Any]]:
    method: Any = definition(field).base_resolver
    call = method.wrapped_func
    converts = {name: conversions.of(definition(one).type) for name, one in field.args.items()}
    names = {name: definition(one).python_name for name, one in field.args.items()}

    def write(context: Any, arguments: dict[str, Any]) -> Awaitable[Any]:
        values = {}
        for name, value in arguments.items():
            convert = converts[name]
            values[names[name]] = value if convert is None else convert(value)
        done: Awaitable[Any] = call(None, info=Informed(context), **values)
        return done

    return write
